//! Options of WS-Addressing.

use bsoap::ClientBuilder;
use bsoap::ServiceBuilder;
use bsoap::addressing::{
    Addressing, AddressingPolicy, AddressingVersion, EndpointReference, MessageAddressing, hosts,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

use crate::arguments::{flag, refuse, text};

/// The option `addressing` of a client: whether header blocks are sent, their version, or a dictionary of options.
pub(crate) fn of_client(
    builder: ClientBuilder,
    value: &Bound<'_, PyAny>,
) -> PyResult<ClientBuilder> {
    if value.is_instance_of::<PyBool>() {
        return Ok(match value.is_truthy()? {
            true => builder.addressing(Addressing::new()),
            false => builder.without_addressing(),
        });
    }
    if value.is_instance_of::<PyString>() {
        let addressing = Addressing::new().version(version(value)?);
        return Ok(builder.addressing(addressing));
    }
    let allowed = "True, False, \"1.0\", \"2004/08\" or a mapping of options";
    let options = value.cast::<PyDict>();
    let options = options.map_err(|_| refuse(value, "addressing", allowed))?;
    let mut addressing = Addressing::new();
    for (name, value) in options {
        let name: String = name.extract()?;
        addressing = match name.as_str() {
            "version" => addressing.version(version(&value)?),
            "to" => addressing.to_endpoint(&endpoint(&value, &name)?),
            "reply_to" => addressing.reply_to(endpoint(&value, &name)?),
            "fault_to" => addressing.fault_to(endpoint(&value, &name)?),
            "must_understand" if value.is_truthy()? => addressing.must_understand(),
            "must_understand" => addressing,
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "addressing has no option {name:?}: it has version, to, reply_to, fault_to and must_understand"
                )));
            }
        };
    }
    Ok(builder.addressing(addressing))
}

fn version(value: &Bound<'_, PyAny>) -> PyResult<AddressingVersion> {
    match text(value, "the version of addressing")?.as_str() {
        "1.0" => Ok(AddressingVersion::Recommendation),
        "2004/08" => Ok(AddressingVersion::Submission),
        other => Err(PyValueError::new_err(format!(
            "the version of addressing is \"1.0\" or \"2004/08\", not {other:?}"
        ))),
    }
}

/// The option `addressing` of a service: whether header blocks are understood, the hosts that answers may be sent to, or a dictionary
/// of options.
pub(crate) fn of_service(
    builder: ServiceBuilder,
    value: &Bound<'_, PyAny>,
) -> PyResult<ServiceBuilder> {
    if value.is_instance_of::<PyBool>() {
        return Ok(match value.is_truthy()? {
            true => builder.addressing(AddressingPolicy::new()),
            false => builder.without_addressing(),
        });
    }
    let Ok(options) = value.cast::<PyDict>() else {
        let known: Result<Vec<String>, _> = value.extract();
        let allowed = "True, False, the hosts that answers may be sent to, or a dictionary";
        let known = known.map_err(|_| refuse(value, "addressing", allowed))?;
        return Ok(builder.addressing(AddressingPolicy::new().allowing(hosts(known))));
    };
    let mut policy = AddressingPolicy::new();
    for (name, value) in options {
        let name: String = name.extract()?;
        policy = match name.as_str() {
            "required" => {
                policy.is_required = Some(flag(&value, &name)?);
                policy
            }
            "replies_to" => policy.allowing(hosts(texts(&value, &name)?)),
            "serving" => {
                let ours = texts(&value, &name)?;
                policy.serving(move |to| ours.iter().any(|own| own == to))
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "addressing of a service has no option {name:?}: it has required, replies_to and serving"
                )));
            }
        };
    }
    Ok(builder.addressing(policy))
}

/// A list of texts.
fn texts(value: &Bound<'_, PyAny>, option: &str) -> PyResult<Vec<String>> {
    let texts = value.extract();
    texts.map_err(|_| refuse(value, option, "a list of texts"))
}

/// An endpoint: an address, or a `bsoap.EndpointReference`.
fn endpoint(value: &Bound<'_, PyAny>, option: &str) -> PyResult<EndpointReference> {
    if let Ok(address) = value.extract::<String>() {
        return Ok(EndpointReference::new(address));
    }
    let endpoint: Result<(String, Vec<String>), _> = value.extract();
    let allowed = "a URL or a bsoap.EndpointReference";
    let (address, parameters) = endpoint.map_err(|_| refuse(value, option, allowed))?;
    let parameters = parameters.into_iter();
    Ok(parameters.fold(
        EndpointReference::new(address),
        EndpointReference::with_parameter,
    ))
}

/// What the header blocks of a message say, as a `bsoap.Addressing`. None if it has none.
pub(crate) fn of_message<'py>(
    py: Python<'py>,
    addressing: Option<&MessageAddressing>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(found) = addressing else {
        return Ok(None);
    };
    let module = py.import("bsoap._addressing")?;
    let related = module.getattr("RelatesTo")?;
    let reference = module.getattr("EndpointReference")?;
    let endpoint = |endpoint: &Option<EndpointReference>| {
        let made = endpoint.as_ref().map(|it| {
            let parameters = it.reference_parameters.clone();
            reference.call1((&it.address, parameters))
        });
        made.transpose()
    };
    let relates_to = PyList::empty(py);
    for one in &found.relates_to {
        let relationship = one.relationship.as_deref();
        relates_to.append(related.call1((&one.message_id, relationship))?)?;
    }
    let version = match found.version {
        AddressingVersion::Submission => "2004/08",
        _ => "1.0",
    };
    let made = module.getattr("Addressing")?.call1((
        version,
        found.to.as_deref(),
        found.action.as_deref(),
        found.message_id.as_deref(),
        relates_to,
        endpoint(&found.from)?,
        endpoint(&found.reply_to)?,
        endpoint(&found.fault_to)?,
        found.answered_id(),
    ))?;
    Ok(Some(made))
}
