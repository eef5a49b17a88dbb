//! A loader that maps URLs to files and folders.

use std::path::PathBuf;

use super::{LoadError, Loader, Source};

/// Maps the URLs that begin with a prefix to files in a folder, and single URLs to files. The longest prefix decides.
///
/// The documents keep their URLs as locations, so their relative references are URLs too, and are mapped in the same way.
///
/// ```
/// use bsoap_schema::{Loader, MappedLoader};
///
/// # let folder = std::env::temp_dir().join(format!("bsoap-mapped-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::fs::write(folder.join("a.xsd"), "<schema/>")?;
/// let mut mapped = MappedLoader::default();
/// mapped.add("http://shop.example/types/", &folder);
/// assert_eq!(mapped.load("http://shop.example/types/a.xsd")?.bytes, b"<schema/>");
/// assert!(mapped.load("http://shop.example/types/../b.xsd").is_err());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MappedLoader {
    entries: Vec<(String, PathBuf)>,
}

impl MappedLoader {
    /// Maps a URL to a file, or all URLs that begin with it to the files in a folder and below.
    pub fn add(&mut self, prefix: impl Into<String>, path: impl Into<PathBuf>) {
        self.entries.push((prefix.into(), path.into()));
    }

    /// The file that a location is read from. `None` if no prefix fits.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use bsoap_schema::MappedLoader;
    ///
    /// let mut mapped = MappedLoader::default();
    /// mapped.add("http://shop.example/types", "xsd");
    /// let file = mapped.file_of("http://shop.example/types/a.xsd");
    /// assert_eq!(file.as_deref(), Some(Path::new("xsd/a.xsd")));
    /// ```
    pub fn file_of(&self, location: &str) -> Option<PathBuf> {
        let fitting = self.entries.iter().filter_map(|(prefix, path)| {
            let rest = location.strip_prefix(prefix.as_str())?;
            Some((prefix.len(), rest_of(prefix, rest)?, path))
        });
        let (_, rest, path) = fitting.max_by_key(|(length, ..)| *length)?;
        Some(match rest {
            "" => path.clone(),
            rest => path.join(rest),
        })
    }
}

/// The path below a folder that follows a prefix. `None` if the prefix ends within a name, or the path could leave the folder.
fn rest_of<'l>(prefix: &str, rest: &'l str) -> Option<&'l str> {
    let below = match rest {
        "" => return Some(rest),
        _ if prefix.ends_with('/') => rest,
        _ => rest.strip_prefix('/')?,
    };
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':']);
    below.split('/').all(is_name).then_some(below)
}

impl Loader for MappedLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let path = self.file_of(location).ok_or(LoadError::NotHere)?;
        let failed = |error: std::io::Error| {
            LoadError::Failed(format!("it is mapped to {}: {error}", path.display()))
        };
        Ok(Source {
            location: location.to_owned(),
            bytes: std::fs::read(&path).map_err(failed)?,
        })
    }

    /// The file that a namespace is mapped to as if it were a URL.
    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        let is_mapped = |(prefix, _): &(String, PathBuf)| prefix == namespace;
        self.entries.iter().find(|entry| is_mapped(entry))?;
        self.load(namespace).ok()
    }
}
