//! Where the suites are: the folder `BSOAP_CORPUS`, or `../shared/corpus` beside the workspace.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of a suite; says so aloud and is `None` if it is not there.
pub fn folder(suite: &str) -> Option<PathBuf> {
    let folder = root().join(suite);
    if folder.is_dir() {
        return Some(folder);
    }
    say(&format!(
        "the corpus folder {} is missing: {suite} is NOT tested (set BSOAP_CORPUS)",
        folder.display()
    ));
    None
}

/// The folder of all suites, there or not.
pub fn root() -> PathBuf {
    match std::env::var_os("BSOAP_CORPUS") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"),
    }
}

/// Prints a line that is seen although the tests pass: the test harness swallows what `eprintln!` prints.
pub fn say(line: &str) {
    // If standard output is gone, that cannot be reported either.
    let _ = writeln!(std::io::stderr(), "{line}");
}
