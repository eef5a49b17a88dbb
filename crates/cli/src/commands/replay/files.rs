//! The files of the command line: files, all messages in a folder, or all that match a pattern.

use std::path::{Component, Path, PathBuf};

use crate::error::Failure;

/// The files, in order.
pub(super) fn expand(named: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for name in named {
        let path = Path::new(name);
        let found = if path.is_dir() {
            messages_in(path)?
        } else if !path.exists() && name.contains(['*', '?']) {
            matching(path)?
        } else {
            vec![path.to_owned()]
        };
        if found.is_empty() {
            return Err(Failure::input(format!(
                "{name} matches no message: expected a file, a folder with *.xml files, or a pattern"
            )));
        }
        all.extend(found);
    }
    Ok(all)
}

/// The `*.xml` files in a folder and its subfolders, sorted by path. Links to folders are not followed.
fn messages_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            // A link to a folder may lead back to it.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "xml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The files whose path matches, part by part, by name.
fn matching(pattern: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        let is_pattern = matches!(part, Component::Normal(_)) && name.contains(['*', '?']);
        let mut next = Vec::new();
        for folder in found {
            if !is_pattern {
                next.push(folder.join(part));
                continue;
            }
            let here = Path::new(".");
            let listed = match folder.as_os_str().is_empty() {
                true => here,
                false => &folder,
            };
            if !listed.is_dir() {
                continue;
            }
            let names = entries(listed)?.into_iter().filter_map(|path| {
                let name = path.file_name()?.to_owned();
                Some(name).filter(|it| {
                    matches(&part.as_os_str().to_string_lossy(), &it.to_string_lossy())
                })
            });
            next.extend(names.map(|name| folder.join(name)));
        }
        found = next;
    }
    found.retain(|path| path.is_file());
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::input(format!("cannot read folder {}", folder.display())).because(error)
    };
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}

/// Whether a name matches a glob, in which `*` matches anything and `?` one character.
fn matches(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    // Where to go on after the last star, should what follows it not match here.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match (glob.get(g), star) {
            (Some('*'), _) => {
                star = Some((g, n));
                g += 1;
            }
            (Some(&c), _) if c == '?' || c == name[n] => (g, n) = (g + 1, n + 1),
            (_, Some((at, from))) => {
                star = Some((at, from + 1));
                (g, n) = (at + 1, from + 1);
            }
            _ => return false,
        }
    }
    glob[g..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_give_messages_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("b")).unwrap();
        for name in ["b/2-request.xml", "b/1-response.xml", "a.xml", "notes.txt"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let found = |pattern: &str| {
            let all = expand(&[format!("{}{pattern}", root.display())])?;
            Ok::<_, Failure>(
                all.iter()
                    .map(|path| path.strip_prefix(root).unwrap().display().to_string())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            found("").unwrap(),
            ["a.xml", "b/1-response.xml", "b/2-request.xml"]
        );
        assert_eq!(
            found("/*/*-re*.xml").unwrap(),
            ["b/1-response.xml", "b/2-request.xml"]
        );
        assert_eq!(found("/?.xml").unwrap(), ["a.xml"]);
        // A missing file is reported when it is read.
        assert_eq!(found("/none.xml").unwrap(), ["none.xml"]);
        assert!(found("/*.json").is_err());
    }

    #[test]
    fn globs_match_as_in_a_shell() {
        for (glob, name) in [
            ("*", "dhard/1"),
            ("a-*", "a-100"),
            ("*-1", "a-1"),
            ("*-1*0", "a-1000"),
            ("?-1", "a-1"),
            ("a**b", "ab"),
        ] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [("a", "a-1"), ("*-1", "a-100"), ("?a", "a"), ("", "x")] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }
}
