//! The names in documents: each namespace and each local name is kept once, however often documents mention it.
//!
//! A prefix of one character may be that of a namespace of megabytes, and each look-up hashes the whole namespace. So long
//! look-ups are counted, and the readers of names charge them to the budget of loading.

use std::sync::Arc;

use foldhash::HashSet;

use crate::ExpandedName;
use crate::work::{CHARACTERS_PER_UNIT, STEPS_PER_UNIT};

/// A text of at most this many bytes is looked up at no charge: namespaces are shorter.
const FREE_BYTES: usize = 1024;

/// Interned strings.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: HashSet<Arc<str>>,
    /// The bytes of the long texts that were looked up since this was asked for.
    searched: usize,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Arc<str> {
        if text.len() > FREE_BYTES {
            self.searched = self.searched.saturating_add(text.len());
        }
        match self.all.get(text) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = text.into();
                self.all.insert(new.clone());
                new
            }
        }
    }

    /// The work of the look-ups since the last call.
    pub(crate) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.searched) / CHARACTERS_PER_UNIT
    }

    pub(crate) fn expanded(&mut self, namespace: &str, local: &str) -> ExpandedName {
        ExpandedName {
            namespace: self.intern(namespace),
            local: self.intern(local),
        }
    }
}

/// The units of work of [`declared_namespace`](crate::name::declared_namespace). Parsing the document has charged one look-up
/// for each attribute, so this is for further names in the same attribute.
pub(crate) fn work_of_lookup(node: roxmltree::Node<'_, '_>) -> usize {
    node.namespaces().len() / STEPS_PER_UNIT
}
