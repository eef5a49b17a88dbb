//! Loads documents: a [`Loader`] returns the bytes at a location.
//!
//! [`FileLoader`] reads files, [`WellKnown`] has the schemas that many documents import, [`MemoryLoader`] has documents in
//! memory, [`CatalogueLoader`] and [`MappedLoader`] map locations to files, and [`Chain`] tries several loaders in order. None uses the network. A loader for HTTP is in the crate `bsoap`.

use std::borrow::Cow;
use std::fmt;

use iri_string::resolve::FixedBaseResolver;
use iri_string::types::{IriReferenceStr, IriStr};

mod catalogue;
mod chain;
mod file;
mod mapped;
mod memory;
mod wellknown;

pub use catalogue::CatalogueLoader;
pub use chain::Chain;
pub use file::FileLoader;
pub use mapped::MappedLoader;
pub use memory::MemoryLoader;
pub use wellknown::WellKnown;

/// Returns the document at a location.
///
/// ```
/// use bsoap_schema::{Loader, MemoryLoader};
///
/// let mut loader = MemoryLoader::default();
/// loader.add("mem:/a.xsd", "<schema/>");
/// assert_eq!(loader.load("mem:/a.xsd").unwrap().bytes, b"<schema/>");
/// assert!(loader.load("mem:/b.xsd").is_err());
/// ```
pub trait Loader {
    /// The document at a location: a path or a URL, already resolved against the location of the
    /// document that refers to it.
    ///
    /// # Errors
    /// [`LoadError::NotHere`] if the location is not one of this loader's, so that the next loader is tried.
    fn load(&self, location: &str) -> Result<Source, LoadError>;

    /// The schema document for a namespace that was imported, or only used, without a location.
    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        let _ = namespace;
        None
    }
}

// Exhaustive: loaders of users build it.
/// A document as a loader returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it was found, after redirects: the base of its relative references.
    pub location: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Why a loader returned no document.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// Not a location for this loader.
    NotHere,
    /// A location for this loader, but there is no document, or it may not be loaded.
    Failed(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere => {
                f.write_str("it is not known here, and fetching from the network is off (`Fetch::Anything`, `--fetch`)")
            }
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for LoadError {}

impl<L: Loader + ?Sized> Loader for &L {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        (**self).load(location)
    }
    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        (**self).load_namespace(namespace)
    }
}

impl<L: Loader + ?Sized> Loader for Box<L> {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        (**self).load(location)
    }
    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        (**self).load_namespace(namespace)
    }
}

/// Resolves a relative location in a document at `base`. Either may be a path or a URL.
///
/// ```
/// use bsoap_schema::resolve_location;
///
/// assert_eq!(resolve_location("dir/service.wsdl", "types/a.xsd"), "dir/types/a.xsd");
/// assert_eq!(resolve_location("dir/service.wsdl", "../a.xsd"), "a.xsd");
/// assert_eq!(resolve_location("http://host/x/s.wsdl", "../a.xsd"), "http://host/a.xsd");
/// assert_eq!(resolve_location("dir/service.wsdl", "http://host/a.xsd"), "http://host/a.xsd");
/// ```
pub fn resolve_location(base: &str, location: &str) -> String {
    let location = location.trim();
    if scheme_of(location).is_some() {
        return location.to_owned();
    }
    let location = location.replace('\\', "/");
    if scheme_of(base).is_some() {
        return join(base, &location).unwrap_or(location);
    }
    let folder = match base.rfind(['/', '\\']) {
        _ if location.starts_with('/') => "",
        Some(end) => &base[..=end],
        None => "",
    };
    normalize_path(&format!("{folder}{location}"))
}

/// Resolves a reference against a URL. `None` if one of them has characters that no URL has. Documents often contain spaces
/// in their references.
fn join(base: &str, reference: &str) -> Option<String> {
    let (base, reference) = (base.replace(' ', "%20"), reference.replace(' ', "%20"));
    let base = IriStr::new(&base).ok()?;
    let reference = IriReferenceStr::new(&reference).ok()?;
    let joined = FixedBaseResolver::new(base.to_absolute()).resolve(reference);
    Some(joined.to_string())
}

/// A location without user and password, for messages.
///
/// ```
/// use bsoap_schema::without_credentials;
///
/// assert_eq!(without_credentials("http://jo:secret@host/x@y.wsdl"), "http://host/x@y.wsdl");
/// assert_eq!(without_credentials("dir/x@y.wsdl"), "dir/x@y.wsdl");
/// ```
pub fn without_credentials(location: &str) -> Cow<'_, str> {
    let start = location.find("//").map_or(0, |slashes| slashes + 2);
    let authority = &location[start..];
    let authority = &authority[..authority.find(['/', '?', '#']).unwrap_or(authority.len())];
    match authority.rfind('@') {
        // Without `//`, this may be a path; a colon makes that unlikely.
        Some(at) if start > 0 || authority[..at].contains(':') => Cow::Owned(format!(
            "{}{}",
            &location[..start],
            &location[start + at + 1..]
        )),
        _ => Cow::Borrowed(location),
    }
}

/// The scheme of a URL. A single letter is the drive of a path.
pub(crate) fn scheme_of(location: &str) -> Option<&str> {
    let (scheme, _) = location.split_once(':')?;
    let valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(valid))
    .then_some(scheme)
}

/// Whether a document at `base` may refer to `location`. Documents from the network must not refer to local files.
pub(crate) fn may_refer(base: &str, location: &str) -> bool {
    let is_local = |location: &str| {
        scheme_of(location).is_none_or(|scheme| scheme.eq_ignore_ascii_case("file"))
    };
    let is_remote =
        scheme_of(base).is_some_and(|scheme| scheme.to_ascii_lowercase().starts_with("http"));
    !(is_remote && is_local(location))
}

/// Removes `.` and `x/..` from a path, so that each document has one location.
fn normalize_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts
                .last()
                .is_some_and(|last| !last.is_empty() && *last != "..") =>
            {
                parts.pop();
            }
            "" if parts.len() > 1 && parts.last() != Some(&"") => {}
            part => parts.push(part),
        }
    }
    match parts.as_slice() {
        [] => ".".to_owned(),
        parts => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_locations_are_resolved_against_the_document_that_writes_them() {
        for (base, location, resolved) in [
            ("a.wsdl", "b.xsd", "b.xsd"),
            ("/x/y/a.wsdl", "./b.xsd", "/x/y/b.xsd"),
            ("/x/y/a.wsdl", "../z/b.xsd", "/x/z/b.xsd"),
            ("../y/a.wsdl", "../b.xsd", "../b.xsd"),
            ("/x/a.wsdl", "/b.xsd", "/b.xsd"),
            ("", ".", "."),
            ("x/a.wsdl", "..\\b.xsd", "b.xsd"),
            ("file:///x/a.wsdl", "b.xsd", "file:///x/b.xsd"),
            ("http://h/s?wsdl", "?xsd=1", "http://h/s?xsd=1"),
            (
                "http://h/s?wsdl",
                "my types\\a.xsd",
                "http://h/my%20types/a.xsd",
            ),
            ("http://h/x/s", "../../../a.xsd#b", "http://h/a.xsd#b"),
            ("http://h", "a.xsd", "http://h/a.xsd"),
            ("C:/x/a.wsdl", "b.xsd", "C:/x/b.xsd"),
        ] {
            assert_eq!(
                resolve_location(base, location),
                resolved,
                "{base} + {location}"
            );
        }
    }

    #[test]
    fn a_remote_document_cannot_name_a_local_file() {
        assert!(!may_refer("http://host/a.wsdl", "file:///etc/passwd"));
        assert!(!may_refer("https://host/a.wsdl", "/etc/passwd"));
        assert!(may_refer("https://host/a.wsdl", "https://host/b.xsd"));
        assert!(may_refer("/home/a.wsdl", "file:///home/b.xsd"));
    }
}
