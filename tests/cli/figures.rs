//! `report --charts`: charts as files, as links in a Markdown report, and as images with `--png`.

use crate::support::{Output, Ruler, Scratch, Tool, run_alongside};
use std::collections::BTreeSet;
use std::path::Path;

/// One short run and its file.
fn run(scratch: &Scratch) -> String {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "1ms"]);
    let file = scratch.path("run.plim");
    let run = Tool::run(&[&ruler.url("/"), "-c", "4", "-d", "3s", "--quiet", "--out", &file]);
    assert!([0, 3].contains(&run.code), "{}", run.stderr);
    file
}

#[track_caller]
fn report(args: &[&str]) -> Output {
    let output = Tool::run(&[&["report"], args].concat());
    assert!([0, 3, 99].contains(&output.code), "{}", output.stderr);
    output
}

/// Names of the files in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("the tool made the folder");
    entries.map(|entry| entry.expect("it is readable").file_name().to_string_lossy().into_owned()).collect()
}

/// Targets of the pictures of a text in Markdown.
fn links(markdown: &str) -> Vec<String> {
    let of = |line: &str| {
        let (_, target) = line.strip_prefix("![")?.strip_suffix(')')?.rsplit_once("](")?;
        Some(target.to_owned())
    };
    markdown.lines().filter_map(of).collect()
}

#[test]
fn a_report_in_markdown_links_each_picture_that_was_drawn_from_where_it_is_read() {
    let scratch = Scratch::new();
    run(&scratch);
    // From within the folder, as people do who put both into a repository.
    let mut command = std::process::Command::new(crate::support::BINARY);
    command.current_dir(scratch.folder()).args(["report", "run.plim", "--markdown", "--charts", "pictures"]);
    let said = Tool::of(command).start().wait();
    assert!([0, 3].contains(&said.code), "{}", said.stderr);
    let drawn = names(&scratch.folder().join("pictures"));
    for name in ["timeline.svg", "spectrum.svg", "heat.svg", "distribution.svg"] {
        assert!(drawn.contains(name), "{name}: {drawn:?}");
    }
    let linked: BTreeSet<String> = links(&said.stdout).into_iter().collect();
    let expected: BTreeSet<String> = drawn.iter().map(|name| format!("pictures/{name}")).collect();
    assert_eq!(linked, expected);
    for name in &drawn {
        let svg =
            std::fs::read_to_string(scratch.folder().join("pictures").join(name)).expect("a file of text");
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains(&*scratch.folder().to_string_lossy()), "{name}");
    }
}

#[test]
fn other_forms_are_not_touched_by_their_pictures() {
    let scratch = Scratch::new();
    let file = run(&scratch);
    for (at, form) in [&["--json"][..], &["--csv"], &[]].into_iter().enumerate() {
        let plain = report(&[&[file.as_str()], form].concat());
        let folder = scratch.path(&format!("pictures-{at}"));
        let drawn = report(&[&[file.as_str(), "--charts", &folder], form].concat());
        assert_eq!(plain.stdout, drawn.stdout, "{form:?}");
        assert!(!names(Path::new(&folder)).is_empty());
    }
}

#[test]
fn a_picture_that_is_there_already_is_never_overwritten() {
    let scratch = Scratch::new();
    let file = run(&scratch);
    let folder = scratch.path("pictures");
    std::fs::create_dir(&folder).expect("the scratch folder is writable");
    let kept = Path::new(&folder).join("spectrum.svg");
    std::fs::write(&kept, "mine").expect("the scratch folder is writable");
    let said = Tool::run(&["report", &file, "--charts", &folder]).expect_code(1);
    assert!(
        said.stderr.contains("spectrum.svg") && said.stderr.contains("name another directory"),
        "{}",
        said.stderr
    );
    assert_eq!(std::fs::read_to_string(&kept).expect("it is still there"), "mine");
}

/// Width and height as the file itself says them: of PNG in the header chunk, of SVG in the first tag.
fn png_size(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "the signature of PNG");
    assert_eq!(&bytes[12..16], b"IHDR");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

fn svg_size(svg: &str) -> (f64, f64) {
    let tag = &svg[..svg.find('>').expect("a tag")];
    let of = |name: &str| -> f64 {
        let from = tag.find(&format!(" {name}=\"")).expect("a size") + name.len() + 3;
        tag[from..].split('"').next().expect("a value").parse().expect("a number")
    };
    (of("width"), of("height"))
}

#[test]
fn an_image_has_twice_the_size_of_its_chart() {
    let scratch = Scratch::new();
    let file = run(&scratch);
    let folder = scratch.path("pictures");
    let said = report(&[&file, "--markdown", "--charts", &folder, "--png"]);
    assert!(links(&said.stdout).iter().all(|link| link.ends_with(".svg")), "{}", said.stdout);
    let drawn = names(Path::new(&folder));
    let stems =
        |end: &str| -> BTreeSet<&str> { drawn.iter().filter_map(|name| name.strip_suffix(end)).collect() };
    assert_eq!(stems(".svg"), stems(".png"));
    for stem in stems(".svg") {
        let at = |end: &str| Path::new(&folder).join(format!("{stem}{end}"));
        let image = std::fs::read(at(".png")).expect("an image");
        let (width, height) = svg_size(&std::fs::read_to_string(at(".svg")).expect("a picture"));
        assert_eq!(png_size(&image), ((2.0 * width).ceil() as u32, (2.0 * height).ceil() as u32), "{stem}");
        // An image of a single color would be far smaller.
        assert!(image.len() > 5_000, "{stem}: {} bytes", image.len());
    }
}

#[test]
fn images_without_pictures_are_a_mistake_of_use() {
    let scratch = Scratch::new();
    let said = Tool::run(&["report", &scratch.path("run.plim"), "--png"]).expect_code(2);
    assert!(said.stderr.contains("U047") && said.stderr.contains("--charts"), "{}", said.stderr);
}
