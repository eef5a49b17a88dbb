//! Options of WS-Addressing.

use bsoap::ClientBuilder;
use bsoap::ServiceBuilder;
use bsoap::addressing::{
    Addressing, AddressingPolicy, AddressingVersion, EndpointReference, hosts,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::arguments::{refuse, text};

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
        let endpoint = || Ok::<_, PyErr>(EndpointReference::new(text(&value, &name)?));
        addressing = match name.as_str() {
            "version" => addressing.version(version(&value)?),
            "to" => addressing.to(text(&value, &name)?),
            "reply_to" => addressing.reply_to(endpoint()?),
            "fault_to" => addressing.fault_to(endpoint()?),
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

/// The option `addressing` of a service: whether header blocks are understood, or the hosts that answers may be sent to.
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
    let known: Result<Vec<String>, _> = value.extract();
    let allowed = "True, False or the hosts that answers may be sent to";
    let known = known.map_err(|_| refuse(value, "addressing", allowed))?;
    Ok(builder.addressing(AddressingPolicy::new().allowing(hosts(known))))
}
