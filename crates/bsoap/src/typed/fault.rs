//! Declared faults as Rust values.

use bsoap_codec::plan::ElementId;
#[cfg(feature = "client")]
use bsoap_codec::{PackError, Unpacker, build};
use bsoap_codec::{Packer, View, pack_with};

#[cfg(feature = "client")]
use crate::{Client, Error};
use crate::{Fault, Target, Value};

/// The errors of an operation, of whose declared faults some types are made.
#[cfg(feature = "client")]
pub trait OperationError: Sized {
    /// The error of a call of `operation`.
    fn of(client: &Client, operation: &str, error: Error) -> Self;
}

#[cfg(feature = "client")]
impl OperationError for Error {
    fn of(_: &Client, _: &str, error: Error) -> Self {
        error
    }
}

/// Errors of a handler, which are answered with a fault of the operation.
pub trait IntoFault {
    /// The fault to answer with.
    fn into_fault(self, target: &Target) -> Fault;
}

impl IntoFault for Fault {
    fn into_fault(self, _: &Target) -> Fault {
        self
    }
}

/// The detail of a fault that a client received, of which declared faults are read.
#[cfg(feature = "client")]
#[derive(Debug)]
pub struct Details<'e> {
    target: Target,
    fault: &'e Fault,
}

#[cfg(feature = "client")]
impl<'e> Details<'e> {
    /// The detail of the fault that `error` is. `None` if it is not a fault.
    pub fn of(client: &Client, operation: &str, error: &'e Error) -> Option<Self> {
        Some(Self {
            target: client.target(operation).ok()?,
            fault: error.fault()?,
        })
    }

    /// Reads the detail of the declared fault of this name. `None` if the detail has no such element.
    pub fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>,
    ) -> Option<T> {
        let element = declared(&self.target, name)?;
        let (plan, details) = (self.target.plan(), self.fault.detail.as_ref()?);
        let found = keys(&self.target, element)
            .into_iter()
            .find_map(|key| details.get(&key))?;
        let record = build(plan, element, found).ok()?;
        read(&mut Unpacker::of(&record)).ok()
    }
}

/// Creates a fault whose detail has the element of this name.
pub fn fault(
    target: &Target,
    reason: &str,
    name: &str,
    write: impl FnOnce(&mut Packer<'_>),
) -> Fault {
    let made = declared(target, name).and_then(|element| {
        let record = pack_with(target.plan(), element, write).ok()?;
        let value = View::of(&record).to_value().ok()?;
        Some(Value::object([(
            keys(target, element).swap_remove(0),
            value,
        )]))
    });
    match made {
        Some(detail) => Fault::receiver(reason).with_detail(detail),
        None => Fault::receiver(reason),
    }
}

fn declared(target: &Target, name: &str) -> Option<ElementId> {
    target
        .operation()
        .faults
        .iter()
        .find(|fault| fault.name == name)?
        .detail
}

/// The two keys that can name an element in the `Value` of a fault detail: its local name, and `{namespace}local`.
fn keys(target: &Target, element: ElementId) -> Vec<String> {
    let (vocabulary, name) = (
        target.plan().vocabulary(),
        target.plan().element(element).name,
    );
    let local = vocabulary.local(name);
    vec![
        local.to_owned(),
        format!("{{{}}}{local}", vocabulary.namespace(name)),
    ]
}
