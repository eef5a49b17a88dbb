//! The names a program knows: namespaces, local names, expanded names, each with a small number.

use crate::name_table::NameTable;
use foldhash::{HashMap, HashMapExt as _};

/// The namespace that the prefix `xml` is bound to.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace that the prefix `xmlns` is bound to.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// An expanded name of a [`Vocabulary`]: its place in the order they were added.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Ord, PartialOrd, Debug)]
pub struct NameId(pub u32);

/// A name of the vocabulary or none, in four bytes: an `Option<NameId>` is written in two halves and read as a whole, for
/// which the machine has to wait.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known(u32);

impl Known {
    pub(crate) const NONE: Known = Known(u32::MAX);

    #[inline]
    pub(crate) fn new(name: Option<NameId>) -> Self {
        name.map_or(Known::NONE, |name| Known(name.0))
    }

    #[inline]
    pub(crate) fn id(self) -> Option<NameId> {
        (self != Known::NONE).then_some(NameId(self.0))
    }
}

impl Default for Known {
    fn default() -> Self {
        Known::NONE
    }
}

/// A namespace of a [`Vocabulary`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, Ord, PartialOrd, Debug)]
pub struct NamespaceId(pub u32);

impl NamespaceId {
    /// No namespace.
    pub const NONE: NamespaceId = NamespaceId(0);
    /// [`XML_NAMESPACE`], which every vocabulary knows.
    pub const XML: NamespaceId = NamespaceId(1);
}

/// A local name of a [`Vocabulary`], in any of the namespaces that have it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Ord, PartialOrd, Debug)]
pub struct LocalId(pub u32);

/// The names of a schema or program. Immutable; shared between readers.
///
/// ```
/// use bsoap_xml::{VocabularyBuilder, NamespaceId};
///
/// let mut builder = VocabularyBuilder::default();
/// let body = builder.name("http://schemas.xmlsoap.org/soap/envelope/", "Body");
/// let vocabulary = builder.build();
/// assert_eq!(vocabulary.lookup("http://schemas.xmlsoap.org/soap/envelope/", "Body"), Some(body));
/// assert_eq!(vocabulary.lookup("", "Body"), None);
/// assert_eq!(vocabulary.local(body), "Body");
/// ```
#[derive(Clone, Debug)]
pub struct Vocabulary {
    namespaces: Vec<String>,
    namespace_ids: HashMap<String, NamespaceId>,
    locals: NameTable,
    /// By [`LocalId`]: the first of its names; the others follow by [`InternedName::next`].
    first_names: Vec<u32>,
    names: Vec<InternedName>,
}

#[derive(Clone, Debug)]
struct InternedName {
    namespace: NamespaceId,
    /// The next name with the same local name.
    next: u32,
    local: String,
}

const END: u32 = u32::MAX;

impl Default for Vocabulary {
    fn default() -> Self {
        VocabularyBuilder::default().build()
    }
}

impl Vocabulary {
    /// The local name that `bytes` begin with: its length, up to the first delimiter of a tag, and its id if known.
    #[inline]
    pub fn scan(&self, bytes: &[u8]) -> (usize, Option<LocalId>) {
        let (length, id) = self.locals.scan(bytes);
        (length, id.map(LocalId))
    }

    /// The expanded name of a local name in a namespace.
    #[inline]
    pub fn name_id(&self, namespace: NamespaceId, local: LocalId) -> Option<NameId> {
        let mut id = *self.first_names.get(local.0 as usize)?;
        while let Some(name) = self.names.get(id as usize) {
            if name.namespace == namespace {
                return Some(NameId(id));
            }
            id = name.next;
        }
        None
    }

    /// The id of an expanded name.
    pub fn lookup(&self, namespace: &str, local: &str) -> Option<NameId> {
        self.name_id(
            self.namespace_id(namespace)?,
            LocalId(self.locals.get(local.as_bytes())?),
        )
    }

    /// The local part of a name of this vocabulary.
    pub fn local(&self, name: NameId) -> &str {
        &self.names[name.0 as usize].local
    }

    /// The namespace of a name of this vocabulary.
    pub fn namespace(&self, name: NameId) -> &str {
        &self.namespaces[self.namespace_of(name).0 as usize]
    }

    /// The namespace's id of a name of this vocabulary.
    pub fn namespace_of(&self, name: NameId) -> NamespaceId {
        self.names[name.0 as usize].namespace
    }

    /// The id of a namespace, if any name or the builder's user mentioned it.
    pub fn namespace_id(&self, uri: &str) -> Option<NamespaceId> {
        self.namespace_ids.get(uri).copied()
    }

    /// The namespaces, by id.
    pub fn namespaces(&self) -> impl ExactSizeIterator<Item = (NamespaceId, &str)> {
        self.namespaces
            .iter()
            .enumerate()
            .map(|(id, uri)| (NamespaceId(id as u32), uri.as_str()))
    }

    /// How many expanded names there are; their ids are `0..len`.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Collects the names of a [`Vocabulary`].
#[derive(Clone, Debug)]
pub struct VocabularyBuilder {
    namespaces: Vec<String>,
    namespace_ids: HashMap<String, NamespaceId>,
    names: Vec<InternedName>,
    name_ids: HashMap<(NamespaceId, String), NameId>,
}

impl Default for VocabularyBuilder {
    fn default() -> Self {
        let mut builder = VocabularyBuilder {
            namespaces: Vec::new(),
            namespace_ids: HashMap::new(),
            names: Vec::new(),
            name_ids: HashMap::new(),
        };
        builder.namespace("");
        builder.namespace(XML_NAMESPACE);
        builder
    }
}

impl VocabularyBuilder {
    /// The id of a namespace, added if it is new.
    pub fn namespace(&mut self, uri: &str) -> NamespaceId {
        if let Some(&id) = self.namespace_ids.get(uri) {
            return id;
        }
        let id = NamespaceId(self.namespaces.len() as u32);
        self.namespaces.push(uri.to_owned());
        self.namespace_ids.insert(uri.to_owned(), id);
        id
    }

    /// The id of an expanded name, added if it is new. A local name that is not an NCName gets an id too, but no document
    /// can contain it.
    pub fn name(&mut self, namespace: &str, local: &str) -> NameId {
        let namespace = self.namespace(namespace);
        let next = NameId(self.names.len() as u32);
        let id = *self
            .name_ids
            .entry((namespace, local.to_owned()))
            .or_insert(next);
        if id == next {
            self.names.push(InternedName {
                namespace,
                next: END,
                local: local.to_owned(),
            });
        }
        id
    }

    /// The finished vocabulary.
    pub fn build(self) -> Vocabulary {
        let VocabularyBuilder {
            namespaces,
            namespace_ids,
            mut names,
            ..
        } = self;
        let mut locals: HashMap<String, u32> = HashMap::new();
        let mut first_names: Vec<u32> = Vec::new();
        for id in (0..names.len()).rev() {
            let local = &names[id].local;
            // The reader takes a name found in the table for a valid one without looking again.
            if !crate::chars::is_ncname(local) {
                continue;
            }
            match locals.get(local) {
                Some(&at) => {
                    let first = &mut first_names[at as usize];
                    names[id].next = std::mem::replace(first, id as u32);
                }
                None => {
                    locals.insert(local.clone(), first_names.len() as u32);
                    first_names.push(id as u32);
                }
            }
        }
        let locals = locals.iter().map(|(local, id)| (local.as_str(), *id));
        Vocabulary {
            namespaces,
            namespace_ids,
            locals: NameTable::new(locals),
            first_names,
            names,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_name_may_be_in_several_namespaces() {
        let mut builder = VocabularyBuilder::default();
        let a = builder.name("urn:a", "id");
        let b = builder.name("urn:b", "id");
        let none = builder.name("", "id");
        assert_eq!(builder.name("urn:b", "id"), b);
        let vocabulary = builder.build();
        assert_eq!(vocabulary.len(), 3);
        assert_eq!(vocabulary.lookup("urn:a", "id"), Some(a));
        assert_eq!(vocabulary.lookup("urn:b", "id"), Some(b));
        assert_eq!(vocabulary.lookup("", "id"), Some(none));
        assert_eq!(vocabulary.lookup("urn:c", "id"), None);
        assert_eq!(vocabulary.namespace(b), "urn:b");
        assert_eq!(vocabulary.namespace_of(none), NamespaceId::NONE);
    }

    #[test]
    fn what_is_no_name_is_never_found() {
        let mut builder = VocabularyBuilder::default();
        let odd = builder.name("", "a$b");
        let vocabulary = builder.build();
        assert_eq!(vocabulary.local(odd), "a$b");
        assert_eq!(vocabulary.lookup("", "a$b"), None);
    }
}
