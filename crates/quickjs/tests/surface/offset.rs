//! The offsets that the tests at the first use find are those of the source which this crate is built from.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Returns the folder of the sources of QuickJS, from cargo.
fn sources() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo");
    let text = String::from_utf8(output.stdout).expect("JSON");
    let manifest = text
        .split("\"manifest_path\":\"")
        .filter_map(|rest| rest.split_once('"'))
        .map(|(path, _)| path)
        .find(|path| path.contains("rquickjs-sys-"))
        .unwrap_or_else(|| {
            panic!("cargo knows no rquickjs-sys: {}", String::from_utf8_lossy(&output.stderr))
        });
    PathBuf::from(manifest).with_file_name("quickjs")
}

/// Lets the C compiler check the offset of a field, with the options that QuickJS itself is compiled with.
fn check(field: &str, offset: usize) -> Output {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("offset-{field}-{offset}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("offset.c");
    let text = format!(
        "#include \"{}\"\n_Static_assert(offsetof(JSRuntime, {field}) == {offset}, \"wrong offset\");\n",
        sources().join("quickjs.c").display()
    );
    std::fs::write(&file, text).expect("a file");
    let options = std::env::var("CFLAGS").unwrap_or_default();
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-fsyntax-only", "-w", "-D_GNU_SOURCE"])
        .args(options.split_whitespace())
        .arg(&file)
        .output()
        .expect("the C compiler")
}

fn offsets() -> [(&'static str, usize); 2] {
    let frame = plimsoll_quickjs::frame_offset().expect("the offset of the frame");
    let queue = plimsoll_quickjs::queue_offset().expect("the offset of the queue");
    [("current_stack_frame", frame), ("job_list", queue)]
}

#[test]
fn the_offsets_are_those_of_the_source() {
    for (field, offset) in offsets() {
        let output = check(field, offset);
        assert!(output.status.success(), "{field}, {offset}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn other_offsets_are_not_those_of_the_source() {
    for (field, offset) in offsets() {
        let output = check(field, offset + size_of::<usize>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("wrong offset"), "{field}: {errors}");
    }
}
