//! Why a service or a port of a WSDL cannot be selected by its name: what the WSDL has instead.

use bsoap_codec::nearest;
#[cfg(feature = "client")]
use bsoap_protocol::SoapVersion;
use bsoap_schema::Definitions;

const NO_PORT: &str = "the WSDL has no SOAP port";

/// The problem if no SOAP port has this service.
pub(crate) fn no_service(definitions: &Definitions, service: Option<&str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for (service, _) in definitions.ports() {
        if !known.contains(&service.name.as_str()) {
            known.push(&service.name);
        }
    }
    match service {
        Some(name) if !known.is_empty() => format!(
            "the WSDL has no service {name:?} with a SOAP port{}; it has {}",
            similar(name, &known),
            known.join(", ")
        ),
        _ => NO_PORT.to_owned(),
    }
}

/// The problem if no port is the selected one.
#[cfg(feature = "client")]
pub(crate) fn no_port(
    definitions: &Definitions,
    service: Option<&str>,
    port: Option<&str>,
    version: Option<SoapVersion>,
) -> String {
    let of_service = || {
        let ports = definitions.ports();
        ports.filter(|(of, _)| service.is_none_or(|name| name == of.name))
    };
    if of_service().next().is_none() {
        return no_service(definitions, service);
    }
    let owner = service.map_or_else(
        || "the WSDL".to_owned(),
        |service| format!("service {service}"),
    );
    let mut services = of_service().map(|(of, _)| &of.name);
    let first = services.next();
    let are_several = services.any(|other| Some(other) != first);
    let has = of_service().map(|(of, port)| {
        let of = match are_several {
            true => format!("{}.", of.name),
            false => String::new(),
        };
        format!("{of}{} ({})", port.name, port.binding.version)
    });
    let has = has.collect::<Vec<_>>().join(", ");
    let names: Vec<&str> = of_service().map(|(_, port)| port.name.as_str()).collect();
    match (port, version) {
        (Some(name), Some(version)) if names.contains(&name) => {
            format!("port {name:?} is not a port of {version}; {owner} has {has}")
        }
        (Some(name), _) => {
            let similar = similar(name, &names);
            format!("{owner} has no SOAP port {name:?}{similar}; it has {has}")
        }
        (None, version) => {
            let version = version.map_or_else(String::new, |version| format!(" of {version}"));
            format!("{owner} has no port{version}; it has {has}")
        }
    }
}

fn similar(name: &str, known: &[&str]) -> String {
    match nearest(name, known).as_slice() {
        [] => String::new(),
        near => format!(" (did you mean {}?)", near.join(" or ")),
    }
}
