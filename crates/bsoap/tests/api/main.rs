//! The public API is the one that `api.txt` beside this file lists: a change of it is seen in the diff of a commit.

use std::collections::HashSet;
use std::path::Path;

mod sources;

use sources::Sources;

const CRATES: [&str; 7] = [
    "codec",
    "datatypes",
    "differential",
    "http",
    "protocol",
    "schema",
    "xml",
];

#[test]
fn the_public_api_is_the_recorded_one() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Sources::default();
    sources.add("bsoap", own);
    for name in CRATES {
        sources.add(&format!("bsoap_{name}"), &own.join("..").join(name));
    }
    let found = sources.public_items("bsoap");
    let file = own.join("tests/api/api.txt");
    if std::env::var_os("BSOAP_RENEW").is_some() {
        std::fs::write(&file, &found).expect("the file can be written");
    }
    let recorded = std::fs::read_to_string(&file).expect("the recorded API is there");
    if found != recorded {
        let changes = [
            changed(&recorded, &found, '-'),
            changed(&found, &recorded, '+'),
        ]
        .concat();
        panic!(
            "the public API has changed; if that is meant, `make api` renews tests/api/api.txt\n{changes}"
        );
    }
}

/// The lines of one text that the other does not have.
fn changed(text: &str, other: &str, sign: char) -> String {
    let known: HashSet<&str> = other.lines().collect();
    let lines = text.lines().filter(|line| !known.contains(line));
    lines.map(|line| format!("{sign} {line}\n")).collect()
}
