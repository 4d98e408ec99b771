//! Examples of the banned patterns: for each pattern texts that it catches, and similar texts that pass.

use super::{BANNED, Tree, hits};

/// One row for each row of `BANNED`, in the same order: texts with the pattern, and near misses.
const EXAMPLES: &[(&[&str], &[&str])] = &[
    (
        &["`x` is no port", "these are no errors", "it was no Answer"],
        &["there is no port", "it is no longer open", "they are no better", "no port is free"],
    ),
    (
        &[
            "mend the plan",
            "it obeyed the key",
            "the CPU gave out",
            "for want of memory",
            "the service stood still",
            "a standstill of 2 s",
            "what stands in the head",
            "it stood for a name",
        ],
        &[
            "fix the plan",
            "a recommended value",
            "an obedient key",
            "the stall",
            "a stand-in",
            "it stands out",
        ],
    ),
    (
        &["the value behind it", "behind a name", "a file beside it"],
        &["behind a proxy", "behind the load balancer", "the value after it", "besides"],
    ),
    (
        &[
            "the user is told",
            "cannot be told apart",
            "it tells of errors",
            "hold the result against the plan",
        ],
        &["a message that tells you", "it holds. Tests against the log", "held by a lock"],
    ),
    (
        &[
            "whoever reads it",
            "whatever it is",
            "nobody reads",
            "somebody else",
            "we send",
            "closed by us",
            "Our own",
        ],
        &["any reader", "whenever", "however", "10 us", "by user", "an hour", "week"],
    ),
    (
        &[
            "so many requests",
            "for so long",
            "in turns",
            "one after the other",
            "the load goes on",
            "from 8 on",
            "from 40 ms on",
            "under way",
            "on the average",
            "begin anew",
            "sent again",
            "in silence",
            "without a word",
            "100% kept up with",
            "known only as a bound",
        ],
        &[
            "so many that it fails",
            "as long as",
            "in turn",
            "one after another",
            "it goes to the server",
            "from 8 on up",
            "from 8 to 16",
            "on average",
            "sent twice",
            "known as a bound",
        ],
    ),
    (
        &["a folder of its own", "files of your own", "it is to be read", "not to be had"],
        &["its own folder", "it is too big", "it must be read", "to become"],
    ),
    (&["# What it does", "say(\"What follows\")"], &["# What is new?", "what follows", "say(\"What now?\")"]),
    (
        &["99 % of requests", "1 times", "1 errors", "5 per cent"],
        &["99% of requests", "1 time", "11 times", "5 percent", "a share in %"],
    ),
    (
        &[
            "out of descriptors",
            "a descriptor",
            "a time-out",
            "the set-up",
            "a heat-map",
            "the colour",
            "Behaviours",
            "a licence",
            "learnt",
            "centred",
        ],
        &["file descriptors", "a file descriptor", "a timeout", "set up", "the color", "behavior", "learned"],
    ),
];

/// Returns the rows of `BANNED` that match a line of a document.
fn rows(text: &str) -> Vec<usize> {
    let found = hits(&Tree::of(&[("docs/a.md", text)])).unwrap();
    let row = |instead: &str| BANNED.iter().position(|row| row.1 == instead).unwrap();
    found.iter().map(|hit| row(hit.instead)).collect()
}

#[test]
fn every_pattern_catches_its_examples_and_passes_near_misses() {
    assert_eq!(EXAMPLES.len(), BANNED.len(), "each pattern needs examples");
    for (number, (caught, near_misses)) in EXAMPLES.iter().enumerate() {
        for text in *caught {
            assert_eq!(rows(text), [number], "`{text}`");
        }
        for text in *near_misses {
            assert!(rows(text).is_empty(), "`{text}`");
        }
    }
}
