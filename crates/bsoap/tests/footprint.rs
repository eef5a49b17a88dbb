//! The number of crates that a user of bsoap depends on. (`make footprint` has the size and the build time.)

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

/// The most crates that are not ours, with default features.
const MOST: usize = 84;

#[test]
fn a_user_depends_on_few_crates() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .args(["tree", "--package", "bsoap", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let output = match tree {
        Ok(output) if output.status.success() => output,
        other => {
            // Tests that pass print nothing by `eprintln!`.
            let skipped = "cargo tree does not run here, dependencies are NOT counted";
            let _ = writeln!(std::io::stderr(), "{skipped}: {other:?}");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let of_others = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("bsoap"))
        .map(|line| {
            line.trim_end_matches(" (*)")
                .trim_end_matches(" (proc-macro)")
        });
    let crates: BTreeSet<&str> = of_others.collect();
    assert!(
        crates.len() <= MOST,
        "{} crates, at most {MOST}: {crates:#?}",
        crates.len()
    );
}
