//! Which namespaces are declared where the encoder is, and under which prefix.

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
    /// How many there were where the elements begin that are open and may declare some.
    marks: SmallVec<[usize; 4]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ScopeBinding {
    /// A namespace of the vocabulary, under the Plan's prefix.
    Known(NamespaceId),
    /// Any other.
    Other(Box<Other>),
}

/// A namespace under a prefix made of a number.
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

    /// A start tag begins that may declare namespaces.
    #[inline]
    pub(super) fn enter(&mut self) {
        self.declared.marks.push(self.declared.bindings.len());
    }

    /// Its element has ended.
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

    /// The same, but returns what is to be written.
    pub(super) fn declaration(&mut self, id: NamespaceId) -> Option<&'p [u8]> {
        let mut bindings = self.declared.bindings.iter();
        if bindings.any(|binding| matches!(binding, ScopeBinding::Known(known) if *known == id)) {
            return None;
        }
        self.declared.bindings.push(ScopeBinding::Known(id));
        Some(&self.program.declarations[id.0 as usize])
    }

    /// Sees to it, in the start tag being written, that a namespace has a prefix.
    pub(super) fn bind(&mut self, uri: &str, out: &mut Vec<u8>) {
        if self.prefix(uri).is_some() {
            return;
        }
        if let Some(id) = self.known(uri) {
            return self.declare(id, out);
        }
        // Numbers rise from binding to binding, so none that is taken here is met again.
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

    /// The prefix a namespace has here (the empty one for no namespace), if it has one.
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
            let prefix = if id == self.program.xsi {
                &self.program.xsi_prefix
            } else {
                self.plan.prefix(id)
            };
            return bound.then_some(prefix);
        }
        self.declared
            .bindings
            .iter()
            .find_map(|binding| match binding {
                ScopeBinding::Other(other) if other.uri == uri => Some(other.prefix.as_str()),
                _ => None,
            })
    }

    fn known(&self, uri: &str) -> Option<NamespaceId> {
        if uri == XSI {
            Some(self.program.xsi)
        } else {
            self.plan.vocabulary.namespace_id(uri)
        }
    }
}
