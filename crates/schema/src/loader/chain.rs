//! A loader that tries several loaders.

use std::fmt;

use super::{LoadError, Loader, Source};

/// Tries its loaders in order until one has the document.
#[derive(Default)]
pub struct Chain<'a> {
    loaders: Vec<Box<dyn Loader + 'a>>,
}

impl<'a> Chain<'a> {
    /// A chain without loaders.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a loader to the end of the chain.
    #[must_use]
    pub fn then(mut self, loader: impl Loader + 'a) -> Self {
        self.loaders.push(Box::new(loader));
        self
    }
}

impl Loader for Chain<'_> {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        let mut failure = LoadError::NotHere;
        for loader in &self.loaders {
            match loader.load(location) {
                Ok(source) => return Ok(source),
                Err(LoadError::NotHere) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        self.loaders
            .iter()
            .find_map(|loader| loader.load_namespace(namespace))
    }
}

impl fmt::Debug for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain of {}", self.loaders.len())
    }
}
