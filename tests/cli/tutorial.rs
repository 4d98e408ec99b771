//! The tutorial works as it is written: a reader who types its commands and saves its files gets its exit codes.

use super::{Block, blocks, read, root};
use crate::support::{BINARY, Ruler, Scratch, Tool, alongside_first};
use std::process::Command;

const PAGE: &str = "docs/tutorial/first-load-test.md";

/// What a reader has at a step.
#[derive(Default)]
struct Reader {
    folder: Scratch,
    service: Option<Ruler>,
    commands: usize,
}

impl Reader {
    /// Types a command line; returns what it printed, and its exit code. Runs are shorter than in the text.
    fn type_in(&mut self, line: &str) -> Option<(String, i32)> {
        let words = super::words(line);
        let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        self.commands += 1;
        if let ["test-server", "--listen", _, flags @ ..] = &rest[..] {
            // One service at a time: the port of the text is free again.
            self.service = None;
            self.service = Some(Ruler::start(flags));
            return None;
        }
        let service = self.service.as_ref().expect("the service runs before the load");
        let address = service.address().to_string();
        let mut words: Vec<String> =
            rest.iter().map(|word| word.replace("127.0.0.1:8080", &address)).collect();
        let is_load = words[0] == "run" || words[0].starts_with("http");
        let file = std::fs::read_to_string(self.folder.folder().join("shop.yaml")).unwrap_or_default();
        if is_load {
            // Few iterations may be interrupted at the end, so one with pauses cannot be as short.
            let short = if file.contains("think:") { "6s" } else { "2s" };
            if let Some(at) = words.iter().position(|word| word == "-d") {
                words.drain(at..at + 2);
            }
            words.extend(["-d".to_owned(), short.to_owned(), "--json".to_owned()]);
            if words[0] == "run" && !words.contains(&"--target".to_owned()) {
                words.extend(["--target".to_owned(), format!("http://{address}")]);
            }
        }
        let mut command = Command::new(BINARY);
        command.args(&words).current_dir(self.folder.folder());
        let output = Tool::of(command).start().wait();
        Some((format!("{}{}", output.stdout, output.stderr), output.code))
    }

    /// Saves a file, or types the commands of a block and compares what they print with the text.
    fn follow(&mut self, block: &Block) {
        match block.language.as_str() {
            "yaml" => drop(self.folder.file("shop.yaml", &block.text)),
            "csv" => {
                let data = self.folder.folder().join("data");
                std::fs::create_dir_all(data).expect("the folder for temporary files is writable");
                self.folder.file("data/users.csv", &block.text);
            }
            "console" => self.type_block(block),
            _ => {}
        }
    }

    fn type_block(&mut self, block: &Block) {
        let mut lines = block.text.lines().peekable();
        let mut last = None;
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else {
                let printed = last.as_ref().map_or("", |(printed, _): &(String, i32)| printed.as_str());
                let is_printed = self.service.is_some() && (last.is_none() || printed.contains(line));
                assert!(is_printed, "{PAGE}:{}: `{line}` is not printed:\n{printed}", block.line);
                continue;
            };
            if command == "echo $?" {
                let wanted = lines.next().and_then(|code| code.parse().ok());
                let (printed, code) = last.as_ref().expect("a command precedes its exit code");
                assert_eq!(Some(*code), wanted, "{PAGE}:{}:\n{printed}", block.line);
                continue;
            }
            last = self.type_in(command);
            let is_stated = lines.peek() == Some(&"$ echo $?");
            if let (Some((printed, code)), false) = (&last, is_stated) {
                assert_eq!(*code, 0, "{PAGE}:{}: {command}\n{printed}", block.line);
            }
        }
    }
}

#[test]
fn a_reader_of_the_tutorial_gets_its_results() {
    alongside_first(|| {
        let mut reader = Reader::default();
        for block in blocks(&read(PAGE)) {
            reader.follow(&block);
        }
        assert!(reader.commands >= 10, "{} commands", reader.commands);
    });
}

#[test]
fn the_tutorial_ends_with_the_example_of_a_whole_test() {
    let files: Vec<Block> = super::blocks_in(&read(PAGE), "yaml");
    let example =
        std::fs::read_to_string(root().join("examples/whole-api.yaml")).expect("the checkout is whole");
    assert_eq!(files.last().map(|file| file.text.as_str()), Some(example.as_str()));
}
