//! The namespaces that are declared where the encoder is, and their prefixes.

use bsoap_xml::{NamespaceId, XML_NAMESPACE};
use smallvec::SmallVec;

use crate::expanded::XSI;
use crate::plan::Plan;

use crate::plan::program::{Program, declare};

/// The declarations in scope, and the Plan they are made for.
#[derive(Debug)]
pub(super) struct Scope<'p> {
    plan: &'p Plan,
    program: &'p Program,
    declared: Declared,
}

/// The declarations in scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    bindings: SmallVec<[ScopeBinding; 4]>,
    /// For each open element that may declare namespaces: the number of declarations before it.
    marks: SmallVec<[usize; 4]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ScopeBinding {
    /// A namespace of the vocabulary, with the prefix of the Plan.
    Known(NamespaceId),
    /// Any other namespace.
    Other(Box<Other>),
}

/// A namespace with a numbered prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Other {
    number: u32,
    prefix: String,
    uri: String,
}

impl Declared {
    /// Bytes held on the heap.
    pub(super) fn memory(&self) -> usize {
        let texts = self.bindings.iter().map(|binding| match binding {
            ScopeBinding::Known(_) => 0,
            ScopeBinding::Other(other) => {
                size_of::<Other>() + other.prefix.capacity() + other.uri.capacity()
            }
        });
        let bindings = self.bindings.capacity() * usize::from(self.bindings.spilled());
        let marks = self.marks.capacity() * usize::from(self.marks.spilled());
        bindings * size_of::<ScopeBinding>() + marks * size_of::<usize>() + texts.sum::<usize>()
    }
}

impl<'p> Scope<'p> {
    pub(super) fn new(plan: &'p Plan, program: &'p Program) -> Self {
        Self {
            plan,
            program,
            declared: Declared::default(),
        }
    }

    pub(super) fn declared(&self) -> &Declared {
        &self.declared
    }

    pub(super) fn restore(&mut self, declared: Declared) {
        self.declared = declared;
    }

    pub(super) fn into_declared(self) -> Declared {
        self.declared
    }

    /// Begins a start tag that may declare namespaces.
    #[inline]
    pub(super) fn enter(&mut self) {
        self.declared.marks.push(self.declared.bindings.len());
    }

    /// Ends the element of the last such start tag.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.declared
            .bindings
            .truncate(self.declared.marks.pop().unwrap_or(0));
    }

    /// Declares a namespace of the vocabulary in the start tag being written, if it is not in scope.
    pub(super) fn declare(&mut self, id: NamespaceId, out: &mut Vec<u8>) {
        if let Some(declaration) = self.declaration(id) {
            out.extend_from_slice(declaration);
        }
    }

    /// As [`declare`](Self::declare), but returns the text instead of writing it; `None` if the namespace is in scope.
    pub(super) fn declaration(&mut self, id: NamespaceId) -> Option<&'p [u8]> {
        let mut bindings = self.declared.bindings.iter();
        if bindings.any(|binding| matches!(binding, ScopeBinding::Known(known) if *known == id)) {
            return None;
        }
        self.declared.bindings.push(ScopeBinding::Known(id));
        Some(&self.program.declarations[id.0 as usize])
    }

    /// Makes sure that a namespace has a prefix, by a declaration in the start tag being written if needed.
    pub(super) fn bind(&mut self, uri: &str, out: &mut Vec<u8>) {
        if self.prefix(uri).is_some() {
            return;
        }
        if let Some(id) = self.known(uri) {
            return self.declare(id, out);
        }
        // Each new prefix has a higher number than those before, so no number in use is tried again.
        let last = self
            .declared
            .bindings
            .iter()
            .rev()
            .find_map(|binding| match binding {
                ScopeBinding::Other(other) => Some(other.number),
                ScopeBinding::Known(_) => None,
            });
        let is_free = |prefix: &String| {
            !self.plan.prefixes.contains(prefix) && *prefix != self.program.xsi_prefix
        };
        let (number, prefix) = (last.unwrap_or(0) + 1..)
            .map(|number| (number, format!("q{number}")))
            .find(|(_, prefix)| is_free(prefix))
            .expect("there are more numbers than prefixes");
        declare(&prefix, uri, out);
        self.declared
            .bindings
            .push(ScopeBinding::Other(Box::new(Other {
                number,
                prefix,
                uri: uri.to_owned(),
            })));
    }

    /// The prefix of a namespace here (empty for no namespace); `None` if it has none.
    pub(super) fn prefix(&self, uri: &str) -> Option<&str> {
        if uri.is_empty() {
            return Some(""); // no default namespace is ever declared
        }
        if uri == XML_NAMESPACE {
            return Some("xml");
        }
        if let Some(id) = self.known(uri) {
            let bound = self
                .declared
                .bindings
                .iter()
                .any(|binding| matches!(binding, ScopeBinding::Known(known) if *known == id));
            return bound.then(|| self.known_prefix(id));
        }
        self.declared
            .bindings
            .iter()
            .find_map(|binding| match binding {
                ScopeBinding::Other(other) if other.uri == uri => Some(other.prefix.as_str()),
                _ => None,
            })
    }

    /// The prefix that a namespace of the vocabulary has where it is declared.
    pub(super) fn known_prefix(&self, id: NamespaceId) -> &'p str {
        match id == self.program.xsi {
            true => &self.program.xsi_prefix,
            false => self.plan.prefix(id),
        }
    }

    fn known(&self, uri: &str) -> Option<NamespaceId> {
        if uri == XSI {
            Some(self.program.xsi)
        } else {
            self.plan.vocabulary.namespace_id(uri)
        }
    }
}
