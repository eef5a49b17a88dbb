//! Declared faults as Rust values.

use bsoap_codec::plan::ElementId;
#[cfg(feature = "client")]
use bsoap_codec::{PackError, Unpacker, build};
use bsoap_codec::{Packer, View, pack_with};

#[cfg(feature = "client")]
use crate::{Client, Error};
use crate::{Fault, Target, Value};

/// The errors of an operation, of whose declared faults some types are made.
///
/// ```
/// use bsoap::typed::{Details, Declared, OperationError};
/// use bsoap::{Client, Error};
///
/// /// The errors of an operation with the declared fault `tooMany`, whose detail is a number.
/// enum SumError {
///     TooMany(Declared<i32>),
///     Other(Error),
/// }
///
/// impl OperationError for SumError {
///     fn of(client: &Client, operation: &str, error: Error) -> Self {
///         let details = Details::of(client, operation, &error);
///         match details.and_then(|details| details.read("tooMany", |from| from.value())) {
///             Some(fault) => Self::TooMany(fault),
///             None => Self::Other(error),
///         }
///     }
/// }
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl).endpoint("http://mesh.local/").build()?;
/// let error = SumError::of(&client, "sumInts", Error::Setup("no network".into()));
/// assert!(matches!(error, SumError::Other(_)));
/// # Ok::<(), bsoap::Error>(())
/// ```
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

/// A declared fault: its detail as a Rust value, and the code, the reason and the other parts of the fault. It dereferences to
/// the detail.
///
/// ```
/// use bsoap::protocol::Code;
/// use bsoap::typed::Declared;
///
/// struct OutOfRange { min: f64, max: f64 }
///
/// let detail = OutOfRange { min: -50.0, max: 60.0 };
/// let fault = Declared::sender("the reading is out of range", detail);
/// assert_eq!(fault.max, 60.0);
/// assert_eq!(fault.fault().code, Code::Sender);
/// ```
///
/// A detail converts into a fault of the receiver, whose reason is the name of the fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared<T> {
    detail: T,
    fault: Fault,
}

impl<T> Declared<T> {
    /// A fault with this detail. The detail of `fault` itself is not sent.
    pub fn new(fault: Fault, detail: T) -> Self {
        Self { detail, fault }
    }

    /// A fault for a wrong message.
    pub fn sender(reason: impl Into<String>, detail: T) -> Self {
        Self::new(Fault::sender(reason), detail)
    }

    /// A fault for a message that may be right, but whose processing failed.
    pub fn receiver(reason: impl Into<String>, detail: T) -> Self {
        Self::new(Fault::receiver(reason), detail)
    }

    /// The fault: its code, subcodes and reasons. If a client received it, its detail is there as a
    /// [`Value`], too.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// The detail.
    pub fn into_detail(self) -> T {
        self.detail
    }
}

impl<T> std::ops::Deref for Declared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.detail
    }
}

impl<T> From<T> for Declared<T> {
    fn from(detail: T) -> Self {
        Self::receiver("", detail)
    }
}

/// Errors of a handler, which are answered with a fault of the operation.
///
/// ```
/// use bsoap::typed::{Declared, IntoFault, fault};
/// use bsoap::{Fault, Target};
///
/// /// The errors of an operation with the declared fault `tooMany`, whose detail is a number.
/// enum SumError {
///     TooMany(Declared<i32>),
///     Fault(Fault),
/// }
///
/// impl IntoFault for SumError {
///     fn into_fault(self, target: &Target) -> Fault {
///         match self {
///             Self::TooMany(declared) => {
///                 fault(target, declared.fault().clone(), "tooMany", |packer| packer.value(&*declared))
///             }
///             Self::Fault(fault) => fault,
///         }
///     }
/// }
/// ```
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
///
/// See [`OperationError`] for how it is used. An error that is no fault has no details:
///
/// ```
/// use bsoap::typed::Details;
/// use bsoap::{Client, Error};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl).endpoint("http://mesh.local/").build()?;
/// let error = Error::Setup("no network".into());
/// assert!(Details::of(&client, "jacobiStep", &error).is_none());
/// # Ok::<(), bsoap::Error>(())
/// ```
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

    /// Reads the declared fault of this name. `None` if the detail has no such element.
    pub fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>,
    ) -> Option<Declared<T>> {
        let element = declared(&self.target, name)?;
        let (plan, details) = (self.target.plan(), self.fault.detail.as_ref()?);
        let found = keys(&self.target, element)
            .into_iter()
            .find_map(|key| details.get(&key))?;
        let record = build(plan, element, found).ok()?;
        let detail = read(&mut Unpacker::of(&record)).ok()?;
        Some(Declared::new(self.fault.clone(), detail))
    }
}

/// Creates the declared fault of this name: the code and the reason of `fault`, and the detail that `write` packs. A fault
/// without a reason gets its name.
pub fn fault(
    target: &Target,
    mut fault: Fault,
    name: &str,
    write: impl FnOnce(&mut Packer<'_>),
) -> Fault {
    if fault.reason().is_empty() {
        fault.reasons = Fault::receiver(name).reasons.clone();
    }
    let made = declared(target, name).and_then(|element| {
        let record = pack_with(target.plan(), element, write).ok()?;
        let value = View::of(&record).to_value().ok()?;
        Some(Value::object([(
            keys(target, element).swap_remove(0),
            value,
        )]))
    });
    fault.detail = made;
    fault
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
