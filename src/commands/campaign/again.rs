//! The command line of a load, for other processes that work on a part of it.

use crate::flags::load::LoadFlags;

/// The command line with which another process reads the same experiment.
#[derive(Debug, Clone)]
pub struct Again {
    words: Vec<String>,
    is_part: bool,
    /// Whether the words name a file, which may have several combinations.
    is_file: bool,
}

impl Again {
    /// Returns `plimsoll run FILE [--part NAME]` with the flags of this command.
    pub fn new(file: &str, part: Option<&str>, flags: &LoadFlags) -> Again {
        let mut words = vec!["run".to_owned(), file.to_owned()];
        words.extend(part.map(|part| format!("--part={part}")));
        words.extend(flags.words());
        Again { words, is_part: part.is_some(), is_file: true }
    }

    /// Returns the command line of a load without a file of combinations: `words`, then the flags of this command.
    pub fn plain(mut words: Vec<String>, flags: &LoadFlags) -> Again {
        words.extend(flags.words());
        Again { words, is_part: false, is_file: false }
    }

    /// Returns a command line of another tool.
    pub fn of_tool(words: Vec<String>) -> Again {
        Again { words, is_part: false, is_file: false }
    }

    /// Returns the words after the program's name.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the same command line with one more word.
    pub fn with(&self, word: Option<String>) -> Again {
        let mut again = self.clone();
        again.words.extend(word);
        again
    }

    /// Returns true if `--single-run` selects one of several combinations.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Returns true if the file has several experiments and this is one of them.
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}
