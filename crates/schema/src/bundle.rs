//! A WSDL with all documents it refers to, to be embedded in a program.

use crate::loader::{Loader as _, scheme_of};
use crate::{Definitions, LoadOptions, MemoryLoader, WellKnown, load};

impl Definitions {
    /// The location and the text of each document: the WSDL itself, then all that it refers to, except the schemas that
    /// [`WellKnown`] has. The locations of files are relative to a folder that contains all of them, if the documents refer
    /// to one another in this way. [`Loader`](crate::Loader)s that have these documents load the same WSDL again.
    ///
    /// ```
    /// use bsoap_schema::{Definitions, MemoryLoader};
    ///
    /// let mut loader = MemoryLoader::default();
    /// let wsdl = include_str!("../tests/testdata/calculator.wsdl");
    /// loader.add("/home/jo/calculator.wsdl", wsdl);
    /// let definitions = Definitions::load("/home/jo/calculator.wsdl", &loader)?;
    /// assert_eq!(definitions.bundle(), [("calculator.wsdl".to_owned(), wsdl.to_owned())]);
    /// # Ok::<(), bsoap_schema::Error>(())
    /// ```
    pub fn bundle(&self) -> Vec<(String, String)> {
        let documents = self.documents.by_location();
        let documents = documents.into_iter();
        let whole: Vec<(String, String)> = documents
            .filter(|(location, _)| !is_well_known(location))
            .map(|(location, document)| (location.to_owned(), document.text().to_owned()))
            .collect();
        let folder = common_folder(&whole);
        let relative = whole.iter().map(|(location, text)| {
            let inside = match scheme_of(location) {
                None => location.get(folder..).unwrap_or(location),
                Some(_) => location,
            };
            (inside.to_owned(), text.clone())
        });
        let relative: Vec<(String, String)> = relative.collect();
        if self.is_whole(&relative) {
            relative
        } else {
            whole
        }
    }

    /// Whether these documents are enough, and are found under these locations.
    fn is_whole(&self, bundle: &[(String, String)]) -> bool {
        let mut memory = MemoryLoader::default();
        for (location, text) in bundle {
            memory.add_text(location.as_str(), text);
        }
        let Some((first, _)) = bundle.first() else {
            return false;
        };
        let loader = crate::Chain::new().then(memory).then(WellKnown);
        let loaded = load(first, &loader, &LoadOptions::default());
        loaded.is_ok_and(|loaded| loaded.documents().len() == self.documents().len())
    }
}

/// Whether [`WellKnown`] has this document, which it calls by its namespace.
fn is_well_known(location: &str) -> bool {
    WellKnown.load(location).is_ok() || WellKnown.load_namespace(location).is_some()
}

/// The length of the path of the deepest folder that all files are in.
fn common_folder(documents: &[(String, String)]) -> usize {
    let paths = documents.iter().map(|(location, _)| location.as_str());
    let mut paths = paths.filter(|location| scheme_of(location).is_none());
    let Some(first) = paths.next() else {
        return 0;
    };
    let common = paths.fold(first, |common, path| {
        let same = common.bytes().zip(path.bytes()).take_while(|(a, b)| a == b);
        let same = same.count();
        common.get(..same).unwrap_or_default()
    });
    common.rfind('/').map_or(0, |slash| slash + 1)
}
