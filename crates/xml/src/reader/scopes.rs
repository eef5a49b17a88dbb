//! Namespace bindings in scope, each set of them with a number.
//!
//! A scope is a parent and the declarations added to it. The same declarations under the same parent give the same
//! [`ScopeId`], also in the next document of a stream, so that a tag read before can be recognised by its bytes and its scope
//! alone. Scopes are only ever added; when there are many, all are forgotten at the start of a document, and their ids are
//! not used again.

use crate::names::{NamespaceId, Vocabulary, XML_NAMESPACE};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// A set of namespace bindings in a [`Scopes`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, Ord, PartialOrd, Debug, Default)]
pub struct ScopeId(pub u32);

impl ScopeId {
    /// What is bound outside the root element: `xml`, and no default namespace.
    pub const ROOT: ScopeId = ScopeId(0);
}

/// A namespace name of a [`Scopes`]: equal ids, equal URIs.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Ord, PartialOrd, Debug, Default)]
pub(crate) struct UriId(u32);

impl UriId {
    /// No namespace.
    pub(crate) const NONE: UriId = UriId(0);
    const XML: UriId = UriId(1);
}

/// What a prefix is bound to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Namespace<'a> {
    /// The namespace name; empty for no namespace.
    pub uri: &'a str,
    /// Its id in the vocabulary, if that knows it.
    pub id: Option<NamespaceId>,
}

/// The namespace bindings met in a stream of documents. It serves one [`Vocabulary`].
///
/// ```
/// use bsoap_xml::{ScopeId, Scopes, Vocabulary};
///
/// let vocabulary = Vocabulary::default();
/// let mut scopes = Scopes::new();
/// let outer = scopes.enter(&vocabulary, ScopeId::ROOT, &[("s", "urn:a"), ("", "urn:b")]);
/// let inner = scopes.enter(&vocabulary, outer, &[("s", "urn:c")]);
/// assert_eq!(scopes.resolve(inner, "s").unwrap().uri, "urn:c");
/// assert_eq!(scopes.resolve(inner, "").unwrap().uri, "urn:b");
/// assert_eq!(scopes.resolve(inner, "t"), None);
/// assert_eq!(scopes.enter(&vocabulary, ScopeId::ROOT, &[("s", "urn:a"), ("", "urn:b")]), outer);
/// ```
#[derive(Clone, Debug)]
pub struct Scopes {
    /// The id of `scopes[1]` is `base + 1`; that of `scopes[0]` is always `ScopeId::ROOT`.
    base: u32,
    scopes: Vec<Scope>,
    bindings: Vec<Binding>,
    prefixes: String,
    uris: Vec<Uri>,
    /// Bytes of `uris`.
    uri_length: usize,
    uri_ids: HashMap<Box<str>, UriId>,
    /// Hash of parent and declarations → the newest scope with that hash.
    children: HashMap<u64, u32>,
    hasher: RandomState,
    cap: usize,
}

#[derive(Clone, Debug)]
struct Scope {
    parent: u32,
    /// Its own bindings: `bindings[first..end]`.
    first: u32,
    end: u32,
    /// Bindings from here up to the root.
    in_scope: u32,
    /// The child entered last: in most streams the one entered next.
    last_child: u32,
    /// The next older scope with the same hash.
    older: u32,
}

#[derive(Clone, Debug)]
struct Binding {
    /// What the prefix is known by.
    key: u64,
    start: u32,
    length: u32,
    uri: UriId,
}

#[derive(Clone, Debug)]
struct Uri {
    text: Box<str>,
    id: Option<NamespaceId>,
}

const NONE: u32 = u32::MAX;

impl Default for Scopes {
    fn default() -> Self {
        Scopes::new()
    }
}

impl Scopes {
    /// With the root scope alone.
    pub fn new() -> Self {
        let mut scopes = Scopes {
            base: 0,
            scopes: Vec::new(),
            bindings: Vec::new(),
            prefixes: String::new(),
            uris: Vec::new(),
            uri_length: 0,
            uri_ids: HashMap::new(),
            children: HashMap::new(),
            hasher: RandomState::new(),
            cap: 1 << 16,
        };
        scopes.lay_root();
        scopes
    }

    fn lay_root(&mut self) {
        self.scopes.push(Scope {
            parent: NONE,
            first: 0,
            end: 1,
            in_scope: 0,
            last_child: NONE,
            older: NONE,
        });
        self.uris.push(Uri {
            text: "".into(),
            id: Some(NamespaceId::NONE),
        });
        self.uris.push(Uri {
            text: XML_NAMESPACE.into(),
            id: Some(NamespaceId::XML),
        });
        self.uri_ids.insert("".into(), UriId::NONE);
        self.uri_ids.insert(XML_NAMESPACE.into(), UriId::XML);
        self.bindings.push(Binding {
            key: key("xml"),
            start: 0,
            length: 3,
            uri: UriId::XML,
        });
        self.prefixes.push_str("xml");
    }

    /// Forgets all scopes if there are too many. Only between documents, and the reader does it there: ids of before are
    /// not known afterwards, and reading on from a state that holds one is an error.
    pub fn renew_if_full(&mut self) {
        if self.scopes.len() + self.bindings.len() + (self.prefixes.len() + self.uri_length) / 16
            < self.cap
        {
            return;
        }
        let base = self.base.wrapping_add(self.scopes.len() as u32 - 1);
        *self = Scopes {
            base,
            cap: self.cap,
            ..Scopes::new()
        };
    }

    /// Forgets all scopes and keeps their memory. As behind [`renew_if_full`](Self::renew_if_full), ids of before are not
    /// known afterwards and not used again.
    ///
    /// ```
    /// use bsoap_xml::{ScopeId, Scopes, Vocabulary};
    ///
    /// let mut scopes = Scopes::new();
    /// let before = scopes.enter(&Vocabulary::default(), ScopeId::ROOT, [("s", "urn:a")]);
    /// scopes.forget();
    /// assert!(!scopes.contains(before));
    /// assert_ne!(scopes.enter(&Vocabulary::default(), ScopeId::ROOT, [("s", "urn:a")]), before);
    /// ```
    pub fn forget(&mut self) {
        self.base = self.base.wrapping_add(self.scopes.len() as u32 - 1);
        self.scopes.clear();
        self.bindings.clear();
        self.prefixes.clear();
        self.uris.clear();
        self.uri_length = 0;
        self.uri_ids.clear();
        self.children.clear();
        self.lay_root();
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.scopes.capacity() * size_of::<Scope>()
            + self.bindings.capacity() * size_of::<Binding>()
            + self.prefixes.capacity()
            + self.uris.capacity() * size_of::<Uri>()
            // Each name is there as a text and as a key.
            + self.uri_length * 2
            + self.uri_ids.capacity() * size_of::<(Box<str>, UriId)>()
            + self.children.capacity() * size_of::<(u64, u32)>()
    }

    /// Whether an id is of this set and has not been forgotten.
    pub fn contains(&self, scope: ScopeId) -> bool {
        self.index(scope).is_some()
    }

    /// The scope of these declarations (prefix, URI) inside another. They are taken as they are: whether Namespaces in XML
    /// allows them has been checked before. A parent that is not known counts as the root.
    pub fn enter<D>(&mut self, vocabulary: &Vocabulary, parent: ScopeId, declarations: D) -> ScopeId
    where
        D: IntoIterator<Item: Declared> + Clone,
    {
        let parent = self.index(parent).unwrap_or(0);
        let last = self.scopes[parent].last_child;
        if last != NONE && self.declares(last as usize, declarations.clone()) {
            return self.id(last as usize);
        }
        let hash = self.hash(parent, declarations.clone());
        let mut next = self.children.get(&hash).copied().unwrap_or(NONE);
        while next != NONE {
            let scope = &self.scopes[next as usize];
            if scope.parent as usize == parent && self.declares(next as usize, declarations.clone())
            {
                self.scopes[parent].last_child = next;
                return self.id(next as usize);
            }
            next = scope.older;
        }
        self.add(vocabulary, parent, hash, declarations)
    }

    fn hash<D: IntoIterator<Item: Declared>>(&self, parent: usize, declarations: D) -> u64 {
        let mut hash = parent as u64;
        for declared in declarations {
            hash = self
                .hasher
                .hash_one((hash, declared.prefix(), declared.uri()));
        }
        hash
    }

    /// Whether a scope's own declarations are these, in this order.
    fn declares<D: IntoIterator<Item: Declared>>(&self, index: usize, declarations: D) -> bool {
        let mut own = self.own(index).iter();
        for declared in declarations {
            match own.next() {
                Some(binding)
                    if self.prefix(binding) == declared.prefix()
                        && self.uri(binding.uri) == declared.uri() => {}
                _ => return false,
            }
        }
        own.next().is_none()
    }

    #[cold]
    fn add<D>(
        &mut self,
        vocabulary: &Vocabulary,
        parent: usize,
        hash: u64,
        declarations: D,
    ) -> ScopeId
    where
        D: IntoIterator<Item: Declared>,
    {
        let first = self.bindings.len() as u32;
        for declared in declarations {
            let uri = self.intern(vocabulary, declared.uri());
            let prefix = declared.prefix();
            let start = self.prefixes.len() as u32;
            self.prefixes.push_str(prefix);
            self.bindings.push(Binding {
                key: key(prefix),
                start,
                length: prefix.len() as u32,
                uri,
            });
        }
        let end = self.bindings.len() as u32;
        let index = self.scopes.len() as u32;
        let older = self.children.insert(hash, index).unwrap_or(NONE);
        let in_scope = self.scopes[parent].in_scope + end - first;
        self.scopes[parent].last_child = index;
        self.scopes.push(Scope {
            parent: parent as u32,
            first,
            end,
            in_scope,
            last_child: NONE,
            older,
        });
        self.id(index as usize)
    }

    fn intern(&mut self, vocabulary: &Vocabulary, uri: &str) -> UriId {
        if let Some(&id) = self.uri_ids.get(uri) {
            return id;
        }
        let id = UriId(self.uris.len() as u32);
        self.uris.push(Uri {
            text: uri.into(),
            id: vocabulary.namespace_id(uri),
        });
        self.uri_ids.insert(uri.into(), id);
        self.uri_length += uri.len();
        id
    }

    /// Whether the same prefixes are bound to the same namespaces in both scopes, however they were declared.
    ///
    /// ```
    /// use bsoap_xml::{ScopeId, Scopes, Vocabulary};
    ///
    /// let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
    /// let one = scopes.enter(&vocabulary, ScopeId::ROOT, [("s", "urn:a"), ("t", "urn:b")]);
    /// let other = scopes.enter(&vocabulary, ScopeId::ROOT, [("t", "urn:b"), ("s", "urn:a")]);
    /// assert!(one != other && scopes.bind_the_same(one, other));
    /// assert!(!scopes.bind_the_same(one, ScopeId::ROOT));
    /// ```
    pub fn bind_the_same(&self, one: ScopeId, other: ScopeId) -> bool {
        let bindings = |scope| {
            let mut bindings: Vec<_> = self.bindings(scope).collect();
            bindings.sort_unstable();
            bindings
        };
        one == other
            || self.contains(one) && self.contains(other) && bindings(one) == bindings(other)
    }

    /// What a prefix is bound to in a scope; the empty prefix is the default namespace, and always bound.
    pub fn resolve(&self, scope: ScopeId, prefix: &str) -> Option<Namespace<'_>> {
        self.resolve_uri(scope, prefix)
            .map(|uri| self.namespace(uri))
    }

    /// The bindings in a scope: prefix and namespace name, the innermost of each prefix, hidden ones left out; without
    /// `xml`, and without a default namespace that is none. They are what a subtree needs as a document of its own.
    pub fn bindings(&self, scope: ScopeId) -> impl Iterator<Item = (&str, &str)> {
        let chain = self
            .chain(scope)
            .flat_map(|index| self.own(index))
            .filter(|binding| binding.uri != UriId::XML);
        let mut seen: Vec<&str> = Vec::new();
        chain.filter_map(move |binding| {
            let prefix = self.prefix(binding);
            if seen.contains(&prefix) {
                return None;
            }
            seen.push(prefix);
            (binding.uri != UriId::NONE).then(|| (prefix, self.uri(binding.uri)))
        })
    }

    /// The declarations that a scope adds to its parent: prefix and namespace name.
    pub fn declarations(&self, scope: ScopeId) -> impl Iterator<Item = (&str, &str)> {
        let index = self.index(scope).filter(|&index| index != 0);
        let own = index.map_or(&[][..], |index| self.own(index));
        own.iter()
            .map(|binding| (self.prefix(binding), self.uri(binding.uri)))
    }

    /// How many bindings are in scope, hidden ones among them.
    pub fn in_scope(&self, scope: ScopeId) -> usize {
        self.index(scope)
            .map_or(0, |index| self.scopes[index].in_scope as usize)
    }

    #[inline]
    pub(crate) fn resolve_uri(&self, scope: ScopeId, prefix: &str) -> Option<UriId> {
        let wanted = key(prefix);
        let mut index = self.index(scope)?;
        loop {
            let scope = &self.scopes[index];
            for binding in &self.bindings[scope.first as usize..scope.end as usize] {
                // Below eight bytes the key is the whole name.
                if binding.key == wanted && (prefix.len() < 8 || self.prefix(binding) == prefix) {
                    return Some(binding.uri);
                }
            }
            if scope.parent == NONE {
                return prefix.is_empty().then_some(UriId::NONE);
            }
            index = scope.parent as usize;
        }
    }

    pub(crate) fn uri(&self, uri: UriId) -> &str {
        &self.uris[uri.0 as usize].text
    }

    #[inline]
    pub(crate) fn uri_namespace(&self, uri: UriId) -> Option<NamespaceId> {
        self.uris[uri.0 as usize].id
    }

    fn namespace(&self, uri: UriId) -> Namespace<'_> {
        Namespace {
            uri: self.uri(uri),
            id: self.uri_namespace(uri),
        }
    }

    fn chain(&self, scope: ScopeId) -> impl Iterator<Item = usize> {
        let next = |&index: &usize| {
            Some(self.scopes[index].parent)
                .filter(|&parent| parent != NONE)
                .map(|parent| parent as usize)
        };
        std::iter::successors(self.index(scope), next)
    }

    fn own(&self, index: usize) -> &[Binding] {
        let scope = &self.scopes[index];
        &self.bindings[scope.first as usize..scope.end as usize]
    }

    fn prefix(&self, binding: &Binding) -> &str {
        &self.prefixes[binding.start as usize..(binding.start + binding.length) as usize]
    }

    fn id(&self, index: usize) -> ScopeId {
        ScopeId(self.base.wrapping_add(index as u32))
    }

    #[inline]
    fn index(&self, scope: ScopeId) -> Option<usize> {
        if scope == ScopeId::ROOT {
            return Some(0);
        }
        let index = scope.0.wrapping_sub(self.base) as usize;
        (index != 0 && index < self.scopes.len()).then_some(index)
    }
}

/// The first eight bytes of a prefix as a number; of a shorter one, its bytes and in the highest place its length, which no
/// byte of a name is as low as. (What is looked for need not be a name: without, `p` and zero were `p`.)
#[inline]
fn key(prefix: &str) -> u64 {
    let bytes = prefix.as_bytes();
    match bytes.first_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => {
            let add = |key, &byte: &u8| key << 8 | u64::from(byte);
            bytes.iter().rev().fold(0, add) | (bytes.len() as u64) << 56
        }
    }
}

/// A declaration: anything that has a prefix and a namespace name.
pub trait Declared {
    /// The prefix; empty for the default namespace.
    fn prefix(&self) -> &str;
    /// The namespace name; empty to undeclare the default namespace.
    fn uri(&self) -> &str;
}

impl<P: AsRef<str>, U: AsRef<str>> Declared for (P, U) {
    fn prefix(&self) -> &str {
        self.0.as_ref()
    }

    fn uri(&self) -> &str {
        self.1.as_ref()
    }
}

impl<D: Declared> Declared for &D {
    fn prefix(&self) -> &str {
        (**self).prefix()
    }

    fn uri(&self) -> &str {
        (**self).uri()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_binding_of_each_prefix_is_listed() {
        let vocabulary = Vocabulary::default();
        let mut scopes = Scopes::new();
        let outer = scopes.enter(
            &vocabulary,
            ScopeId::ROOT,
            [("a", "urn:1"), ("", "urn:d"), ("averylongprefix", "urn:l")],
        );
        let inner = scopes.enter(&vocabulary, outer, [("a", "urn:2"), ("", "")]);
        let bindings: Vec<_> = scopes.bindings(inner).collect();
        assert_eq!(bindings, [("a", "urn:2"), ("averylongprefix", "urn:l")]);
        assert_eq!(
            scopes.declarations(inner).collect::<Vec<_>>(),
            [("a", "urn:2"), ("", "")]
        );
        assert_eq!(scopes.in_scope(inner), 5);
        assert_eq!(
            scopes.resolve(inner, "").unwrap().id,
            Some(NamespaceId::NONE)
        );
        assert_eq!(
            scopes.resolve(inner, "averylongprefix").unwrap().uri,
            "urn:l"
        );
        assert_eq!(scopes.resolve(inner, "averylongprefiy"), None);
        // The first eight bytes of a longer one.
        assert_eq!(scopes.resolve(inner, "averylon"), None);
        assert_eq!(
            scopes.resolve(ScopeId::ROOT, "xml").unwrap().id,
            Some(NamespaceId::XML)
        );
    }

    #[test]
    fn an_id_is_never_used_again() {
        let vocabulary = Vocabulary::default();
        let mut scopes = Scopes {
            cap: 8,
            ..Scopes::new()
        };
        let mut ids = std::collections::HashSet::new();
        for round in 0..50 {
            scopes.renew_if_full();
            let id = scopes.enter(&vocabulary, ScopeId::ROOT, [("p", format!("urn:{round}"))]);
            assert!(ids.insert(id), "{id:?}");
            assert_eq!(scopes.resolve(id, "p").unwrap().uri, format!("urn:{round}"));
        }
        assert!(!scopes.contains(ScopeId(1)));
        assert_eq!(scopes.resolve(ScopeId(1), "p"), None);
    }

    #[test]
    fn long_namespace_names_are_forgotten_as_many_are() {
        let vocabulary = Vocabulary::default();
        let mut scopes = Scopes::new();
        let enter = |scopes: &mut Scopes, round| {
            scopes.renew_if_full();
            let uri = format!("{round}{}", "u".repeat(1 << 20));
            scopes.enter(&vocabulary, ScopeId::ROOT, [("p", uri)])
        };
        let first = enter(&mut scopes, 1);
        let second = enter(&mut scopes, 2);
        assert!(scopes.contains(second) && !scopes.contains(first));
    }

    #[test]
    fn children_of_one_parent_are_distinct() {
        let vocabulary = Vocabulary::default();
        let mut scopes = Scopes::new();
        let ids: Vec<_> = (0..20)
            .map(|i| scopes.enter(&vocabulary, ScopeId::ROOT, [("p", format!("urn:{i}"))]))
            .collect();
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(
                scopes.enter(&vocabulary, ScopeId::ROOT, [("p", format!("urn:{i}"))]),
                id
            );
        }
    }
}
