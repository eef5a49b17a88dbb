//! A loader for documents in memory.

use std::collections::HashMap;

use super::{LoadError, Loader, Source};

/// Returns documents from memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    documents: HashMap<String, Vec<u8>>,
}

impl MemoryLoader {
    /// Adds the document at a location.
    pub fn add(&mut self, location: impl Into<String>, document: impl Into<Vec<u8>>) -> &mut Self {
        self.documents.insert(location.into(), document.into());
        self
    }

    /// Adds a document as text, whose XML declaration may state the encoding that it had before.
    pub fn add_text(&mut self, location: impl Into<String>, text: &str) -> &mut Self {
        // A byte order mark overrides the declaration.
        let text = text.trim_start_matches('\u{feff}');
        self.add(location, [b"\xEF\xBB\xBF", text.as_bytes()].concat())
    }
}

impl Loader for MemoryLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let bytes = self.documents.get(location).ok_or(LoadError::NotHere)?;
        Ok(Source {
            location: location.to_owned(),
            bytes: bytes.clone(),
        })
    }
}
