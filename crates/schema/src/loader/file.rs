//! Files: paths and `file:` URLs.

use std::path::PathBuf;

use super::{LoadError, Loader, Source, scheme_of};

/// Reads documents from files.
#[derive(Clone, Debug, Default)]
pub struct FileLoader {
    /// Files longer than this are refused.
    limit: Option<u64>,
}

impl FileLoader {
    /// A loader for all files the process may read.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses files longer than this many bytes.
    #[must_use]
    pub fn with_limit(self, bytes: u64) -> Self {
        Self { limit: Some(bytes) }
    }
}

impl Loader for FileLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let path = path_of(location)?;
        let failed = |error: std::io::Error| LoadError::Failed(error.to_string());
        let length = std::fs::metadata(&path).map_err(failed)?.len();
        if self.limit.is_some_and(|limit| length > limit) {
            return Err(LoadError::Failed(format!(
                "{length} bytes are more than allowed"
            )));
        }
        let bytes = std::fs::read(&path).map_err(failed)?;
        Ok(Source {
            location: location.to_owned(),
            bytes,
        })
    }
}

fn path_of(location: &str) -> Result<PathBuf, LoadError> {
    match scheme_of(location) {
        None => Ok(PathBuf::from(location)),
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => url::Url::parse(location)
            .ok()
            .and_then(|url| url.to_file_path().ok())
            .ok_or_else(|| LoadError::Failed("not the location of a file".to_owned())),
        Some(_) => Err(LoadError::NotHere),
    }
}
