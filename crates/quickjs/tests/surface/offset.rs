//! The offset that the probe finds is that of the source which this crate is built from.

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

/// Lets the C compiler check the offset of the word, with the options that QuickJS itself is compiled with.
fn check(offset: usize) -> Output {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("offset-{offset}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("offset.c");
    let text = format!(
        "#include \"{}\"\n_Static_assert(offsetof(JSRuntime, current_stack_frame) == {offset}, \"wrong offset\");\n",
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

#[test]
fn the_offset_is_that_of_the_source() {
    let offset = plimsoll_quickjs::frame_offset().expect("an offset");
    let output = check(offset);
    assert!(output.status.success(), "{offset}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn another_offset_is_not_that_of_the_source() {
    let output = check(plimsoll_quickjs::frame_offset().expect("an offset") + size_of::<usize>());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("wrong offset"), "{errors}");
}
