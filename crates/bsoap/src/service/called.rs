//! What an answered request called, for the functions that answers are reported to.

use std::borrow::Cow;

use bsoap_http::{Answered, StatusCode};
use bsoap_protocol::{Code, Target};

use super::reply::Reply;

/// The operation that a request called, and the fault that it was answered with.
///
/// ```
/// use bsoap::Service;
/// use bsoap::service::Called;
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let service = Service::builder(wsdl)
///     .on_answer(|answered| {
///         let called = Called::of(answered);
///         let operation = called.and_then(Called::operation).unwrap_or("-");
///         println!("{} {operation} {} {:?}", answered.peer, answered.status, answered.duration);
///     })
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Called {
    target: Option<Target>,
    fault: Option<Code>,
}

impl Called {
    pub(super) fn new(target: Option<Target>, reply: &Reply) -> Self {
        Self {
            target,
            fault: reply.fault.clone(),
        }
    }

    /// What a request called. `None` if it did not reach a service: because of its path, its method or its body.
    pub fn of<'r>(answered: &Answered<'r>) -> Option<&'r Self> {
        answered.extensions.get()
    }

    /// The name of the operation. `None` if the request could not be decoded.
    pub fn operation(&self) -> Option<&str> {
        Some(&self.target.as_ref()?.operation().name)
    }

    /// The name of the port type that has the operation.
    pub fn port_type(&self) -> Option<&str> {
        Some(&self.target.as_ref()?.binding().port_type)
    }

    /// The code of the fault. `None` if the answer is not a fault.
    pub fn fault(&self) -> Option<&Code> {
        self.fault.as_ref()
    }

    /// How an answer ended, as one of few words: `ok`, the code of a fault (`Other` for one that an application defines), or
    /// the HTTP status of a request that was refused.
    pub fn code(answered: &Answered<'_>) -> Cow<'static, str> {
        let fault = Self::of(answered).and_then(Self::fault);
        match fault {
            Some(code) if answered.status != StatusCode::SERVICE_UNAVAILABLE => match code {
                Code::VersionMismatch => "VersionMismatch",
                Code::MustUnderstand => "MustUnderstand",
                Code::DataEncodingUnknown => "DataEncodingUnknown",
                Code::Sender => "Sender",
                Code::Receiver => "Receiver",
                _ => "Other",
            }
            .into(),
            None if answered.status.is_success() => "ok".into(),
            _ => answered.status.as_str().to_owned().into(),
        }
    }
}
