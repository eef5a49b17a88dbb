//! A loader that maps locations to files.

use std::collections::HashMap;
use std::path::PathBuf;

use super::{LoadError, Loader, Source};

/// Maps locations to files, as an XML catalogue does.
#[derive(Clone, Debug, Default)]
pub struct CatalogueLoader {
    files: HashMap<String, PathBuf>,
}

impl CatalogueLoader {
    /// A catalogue of these locations and files.
    pub fn new(entries: impl IntoIterator<Item = (String, PathBuf)>) -> Self {
        Self {
            files: entries.into_iter().collect(),
        }
    }
}

impl Loader for CatalogueLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let path = self.files.get(location).ok_or(LoadError::NotHere)?;
        let bytes = std::fs::read(path).map_err(|error| LoadError::Failed(error.to_string()))?;
        Ok(Source {
            location: location.to_owned(),
            bytes,
        })
    }

    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        self.load(namespace).ok()
    }
}
