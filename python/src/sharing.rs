//! What is shared in the objects of an rpc/encoded message.
//!
//! An object that is met again is a reference to where it was met first. Which objects need an id is known only then, so values with
//! shared objects are taken twice: first to find those, then to name them.

use std::collections::{HashMap, HashSet};

use bsoap::{SoapVersion, Value};
use pyo3::prelude::*;

/// The objects of an encoded message that are met more than once.
pub(crate) struct Sharing<'py> {
    version: SoapVersion,
    /// What the ids begin with.
    prefix: String,
    /// The addresses of those that are parts of the message as a whole, which no reference can stand for: the others refer to them.
    roots: HashSet<usize>,
    /// Those that have been met, by their addresses, which are theirs as long as they are kept here.
    met: HashMap<usize, Bound<'py, PyAny>>,
    /// Those of the first walk: no other object gets one of their addresses.
    kept: HashMap<usize, Bound<'py, PyAny>>,
    /// What was made of objects that can be asked only once, such as iterators, by their addresses.
    plain: HashMap<usize, (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// The same of paths and files.
    attached: HashMap<usize, (Bound<'py, PyAny>, Value)>,
    /// The ids of those that have been met again; empty until all are known.
    ids: HashMap<usize, String>,
    /// The ids that the program gives itself.
    given: HashSet<String>,
}

/// Whether an object has been met before.
pub(crate) enum Met {
    /// It has not. If it is met again, it has an id, unless the program has given it one.
    First {
        id: Option<String>,
    },
    Again {
        reference: Value,
    },
}

/// The key of an id.
pub(crate) const ID: &str = "@id";

impl<'py> Sharing<'py> {
    pub(crate) fn new(version: SoapVersion, prefix: &str) -> Self {
        Self {
            version,
            prefix: prefix.to_owned(),
            roots: HashSet::new(),
            met: HashMap::new(),
            kept: HashMap::new(),
            plain: HashMap::new(),
            attached: HashMap::new(),
            ids: HashMap::new(),
            given: HashSet::new(),
        }
    }

    /// Whether objects were met again, so that they need ids.
    pub(crate) fn is_needed(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Adds an object that is a part of the message as a whole.
    pub(crate) fn add_root(&mut self, object: &Bound<'py, PyAny>) {
        self.roots.insert(object.as_ptr() as usize);
    }

    /// Meets an object, to which the program may have given an id.
    pub(crate) fn meet(
        &mut self,
        object: &Bound<'py, PyAny>,
        own: Option<String>,
        is_root: bool,
    ) -> Met {
        let address = object.as_ptr() as usize;
        let is_known = self.met.contains_key(&address) || self.roots.contains(&address);
        if is_known && !is_root {
            let reference = self.reference(address, own.as_deref());
            return Met::Again { reference };
        }
        // The same object as two parts of a message is written twice.
        let is_first = self.met.insert(address, object.clone()).is_none();
        let id = match own {
            Some(own) => {
                self.given.insert(own);
                None
            }
            None => self.ids.get(&address).filter(|_| is_first).cloned(),
        };
        Met::First { id }
    }

    /// What was made of an object that can be asked only once.
    pub(crate) fn plain(&self, value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let known = self.plain.get(&(value.as_ptr() as usize))?;
        Some(known.1.clone())
    }

    pub(crate) fn keep_plain(&mut self, value: &Bound<'py, PyAny>, plain: &Bound<'py, PyAny>) {
        let kept = (value.clone(), plain.clone());
        self.plain.insert(value.as_ptr() as usize, kept);
    }

    /// The attachment of a path or a file.
    pub(crate) fn attached(&self, value: &Bound<'py, PyAny>) -> Option<Value> {
        let known = self.attached.get(&(value.as_ptr() as usize))?;
        Some(known.1.clone())
    }

    pub(crate) fn keep_attached(&mut self, value: &Bound<'py, PyAny>, taken: &Value) {
        let kept = (value.clone(), taken.clone());
        self.attached.insert(value.as_ptr() as usize, kept);
    }

    /// The key of a reference.
    pub(crate) fn key(&self) -> &'static str {
        match self.version {
            SoapVersion::Soap11 => "@href",
            SoapVersion::Soap12 => "@ref",
        }
    }

    /// The reference to an object that has been met. Objects with an id of the program keep that.
    fn reference(&mut self, address: usize, own: Option<&str>) -> Value {
        let id = self.ids.entry(address).or_default();
        if let Some(own) = own {
            own.clone_into(id);
        }
        let text = match self.version {
            SoapVersion::Soap11 => format!("#{id}"),
            SoapVersion::Soap12 => id.clone(),
        };
        Value::object([(self.key(), Value::from(text))])
    }

    /// Gives an id to each shared object, and begins again.
    pub(crate) fn name(&mut self) {
        let prefix = &self.prefix;
        let mut number = 0_usize;
        for id in self.ids.values_mut().filter(|id| id.is_empty()) {
            *id = loop {
                number += 1;
                let id = format!("{prefix}{number}");
                if !self.given.contains(&id) {
                    break id;
                }
            };
        }
        self.kept = std::mem::take(&mut self.met);
    }

    /// The size of an array of several dimensions, as a member.
    pub(crate) fn size(&self, shape: &[usize]) -> (&'static str, Value) {
        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
        match self.version {
            SoapVersion::Soap11 => ("@arrayType", Value::from(format!("[{}]", sizes.join(",")))),
            SoapVersion::Soap12 => ("@arraySize", Value::from(sizes.join(" "))),
        }
    }
}
