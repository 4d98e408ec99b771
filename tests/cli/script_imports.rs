//! Modules that scripts import from addresses (`--allow-remote`): fixed by a lock file, and kept in a cache.

use crate::support::peers::{Node, Pki};
use crate::support::{Output, Ruler, Scratch, Tool};
use std::path::Path;

/// A server of modules, and a script that imports from it.
struct Setting {
    pki: Pki,
    scratch: Scratch,
    modules: Node,
    target: Ruler,
}

impl Setting {
    fn new(lib: &str) -> Setting {
        let (pki, scratch) = (Pki::new("DNS:localhost,IP:127.0.0.1"), Scratch::new());
        std::fs::create_dir(scratch.path("served")).expect("a folder");
        scratch.file("served/lib.js", lib);
        scratch.file("served/part.js", "export const page = '/from-part';\n");
        let (certificate, key) = pki.server();
        let words = [certificate.display().to_string(), key.display().to_string(), scratch.path("served")];
        let modules = Node::start_with("modules.mjs", &[&words[0], &words[1], &words[2]]);
        Setting { pki, scratch, modules, target: Ruler::start(&[]) }
    }

    /// Writes the script; `path` is that of the module that it imports.
    fn script(&self, path: &str) -> String {
        let text = format!(
            "import http from 'k6/http';\nimport {{ page }} from 'https://localhost:{}{path}';\n\
             export default () => {{ http.get('{}' + page); }};\n",
            self.modules.address().port(),
            self.target.url("").trim_end_matches('/')
        );
        self.scratch.file("load.js", &text)
    }

    fn run(&self, file: &str, more: &[&str]) -> Output {
        let ca = self.pki.ca_file().display().to_string();
        let words = [&["run", file, "-n", "1", "-c", "1", "--ca", &ca][..], more].concat();
        Tool::new(&words).env("XDG_STATE_HOME", &self.scratch.path("state")).start().wait()
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.scratch.path("plimsoll.lock")).expect("a lock file")
    }
}

const LIB: &str = "export { page } from './part.js';\n";

#[test]
fn a_module_is_fetched_once_and_fixed_by_its_hash() {
    let setting = Setting::new(LIB);
    let file = setting.script("/moved/lib.js");
    let refused = setting.run(&file, &[]).expect_code(2);
    assert!(refused.stderr.contains("plimsoll downloads no code"), "{}", refused.stderr);
    assert!(refused.stderr.contains("load.js:2:"), "{}", refused.stderr);
    assert!(!Path::new(&setting.scratch.path("plimsoll.lock")).exists());
    setting.run(&file, &["--allow-remote"]).expect_code(0);
    assert_eq!(setting.target.requests(), 1);
    let port = setting.modules.address().port();
    let lock = setting.lock();
    // SHA-256 of the two modules, as `sha256sum` prints it.
    assert_eq!(
        lock,
        format!(
            "# plimsoll.lock 1: the SHA-256 of each module that the scripts of this folder import\n\
             d20ec851828dbf44f8b0bc449304f702d4264c40366da25ea5f634fe38f79ea5 https://localhost:{port}/moved/lib.js\n\
             a6a54f43ba3c4cf2be79f32311bdf28b456d04ee230f7006030c81ca73d18fda https://localhost:{port}/moved/part.js\n"
        )
    );
    // The address changes: the cache has the module that is locked.
    setting.scratch.file("served/lib.js", "export const page = '/other';\n");
    setting.run(&file, &["--allow-remote"]).expect_code(0);
    assert_eq!((setting.target.requests(), setting.lock()), (2, lock));
    // Without the cache, the change is noticed, and nothing is sent.
    std::fs::remove_dir_all(setting.scratch.path("state/plimsoll/modules")).expect("a cache");
    let refused = setting.run(&file, &["--allow-remote"]).expect_code(2);
    assert!(refused.stderr.contains("has changed: its SHA-256 is `"), "{}", refused.stderr);
    assert!(refused.stderr.contains("remove its line from `plimsoll.lock`"), "{}", refused.stderr);
    assert_eq!(setting.target.requests(), 2);
}

#[test]
fn what_cannot_be_fetched_is_named_with_the_line_of_its_import() {
    let setting = Setting::new(LIB);
    let gone = setting.run(&setting.script("/gone.js"), &["--allow-remote"]).expect_code(2);
    assert!(gone.stderr.contains("the server responded with status 404"), "{}", gone.stderr);
    assert!(gone.stderr.contains("load.js:2:"), "{}", gone.stderr);
    let file = setting.script("/lib.js");
    let plain =
        std::fs::read_to_string(&file).expect("a script").replace("https://localhost", "http://localhost");
    let plain = setting.run(&setting.scratch.file("plain.js", &plain), &["--allow-remote"]).expect_code(2);
    assert!(plain.stderr.contains("over `https://` only"), "{}", plain.stderr);
    setting.scratch.file("plimsoll.lock", "{}");
    let invalid = setting.run(&file, &["--allow-remote"]).expect_code(2);
    assert!(invalid.stderr.contains("is not a lock file of this version"), "{}", invalid.stderr);
    assert_eq!(setting.target.requests(), 0);
}

#[test]
fn only_scripts_import_modules() {
    let output = Tool::run(&["http://127.0.0.1:1/", "--allow-remote"]).expect_code(2);
    assert!(output.stderr.contains("only scripts import modules"), "{}", output.stderr);
}
