//! The ports that a service serves: which are at which path, and what those of a path say together.

use std::sync::Arc;

use bsoap_codec::plan::ElementId;
use bsoap_schema::{Binding, Definitions, Service as Description};

use super::site::PlacedPort;
use crate::addressing::{AddressingPolicy, ResponseEndpoints, Use};
use crate::{Error, selection};

/// The ports of the services, or of the only one that is served.
///
/// # Errors
/// If there are none.
pub(super) fn served<'d>(
    definitions: &'d Definitions,
    only: Option<&str>,
) -> Result<Vec<PlacedPort<'d>>, Error> {
    let services = definitions.services().iter();
    let services: Vec<&Description> = services
        .filter(|service| only.is_none_or(|name| *name == service.name))
        .collect();
    let ports = placed(&services);
    match ports.is_empty() {
        true => Err(Error::Setup(selection::no_service(definitions, only))),
        false => Ok(ports),
    }
}

/// The paths of ports, each once.
pub(super) fn paths(ports: &[PlacedPort<'_>]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for PlacedPort { path, .. } in ports {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

/// The ports of the services with the path of each: that of the port's address, otherwise the port's name.
fn placed<'d>(services: &[&'d Description]) -> Vec<PlacedPort<'d>> {
    let ports = services
        .iter()
        .flat_map(|service| service.ports.iter().map(move |port| (*service, port)));
    ports
        .map(|(service, port)| {
            let address = port
                .address
                .as_deref()
                .and_then(|address| address.parse::<bsoap_http::Address>().ok());
            let path = address
                .map(|address| address.path().to_owned())
                .filter(|path| path != "/");
            PlacedPort {
                path: path.unwrap_or_else(|| path_of(&port.name)),
                service,
                port,
            }
        })
        .collect()
}

/// The path made of a port's name. Characters that are not ASCII are percent-encoded.
fn path_of(port: &str) -> String {
    let address = format!("http://localhost/{port}").parse::<bsoap_http::Address>();
    address.map_or_else(|_| format!("/{port}"), |address| address.path().to_owned())
}

/// The bindings of the ports at a path, without duplicates.
pub(super) fn bindings_at(path: &str, ports: &[PlacedPort<'_>]) -> Vec<Arc<Binding>> {
    let mut bindings: Vec<Arc<Binding>> = Vec::new();
    for PlacedPort { port, .. } in ports.iter().filter(|placed| placed.path == path) {
        if !bindings
            .iter()
            .any(|known| Arc::ptr_eq(known, &port.binding))
        {
            bindings.push(Arc::clone(&port.binding));
        }
    }
    bindings
}

/// How WS-Addressing is used at a path: as the program says, and where it says nothing, as the WSDL says.
pub(super) fn addressing_at(
    own: &Use<AddressingPolicy>,
    path: &str,
    ports: &[PlacedPort<'_>],
) -> Option<AddressingPolicy> {
    let of_wsdl = addressing_of_wsdl(path, ports);
    let said = of_wsdl.clone();
    let mut policy = own.clone().options(|| of_wsdl)?;
    if let Some(said) = said {
        policy.is_required = policy.is_required.or(said.is_required);
        if policy.responses == ResponseEndpoints::Any {
            policy.responses = said.responses;
        }
    }
    Some(policy)
}

/// What the WSDL says about WS-Addressing at a path: it is required if all ports there require it.
fn addressing_of_wsdl(path: &str, ports: &[PlacedPort<'_>]) -> Option<AddressingPolicy> {
    let at_path = || ports.iter().filter(|placed| placed.path == path);
    let using = at_path().find_map(|placed| placed.port.addressing)?;
    let mut policy = AddressingPolicy::of(using);
    policy.is_required = Some(at_path().all(|placed| {
        let using = placed.port.addressing;
        using.is_some_and(|using| using.is_required)
    }));
    Some(policy)
}

/// The request Envelopes of the bindings at a path whose answers are sent with MTOM, as a policy requires: that of the binding, or of
/// all its ports there.
pub(super) fn mtom_requests_at(path: &str, ports: &[PlacedPort<'_>]) -> Vec<ElementId> {
    let requires = |binding: &Arc<Binding>| {
        let at_path = ports.iter().filter(|placed| placed.path == path);
        let mut bound = at_path.filter(|placed| Arc::ptr_eq(&placed.port.binding, binding));
        bound.all(|placed| placed.port.mtom.is_some_and(|mtom| mtom.is_required))
    };
    let bindings = bindings_at(path, ports).into_iter().filter(requires);
    bindings.map(|binding| binding.request).collect()
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn the_path_of_a_port_is_its_name_percent_encoded() {
        assert_eq!(path_of("Mesh12"), "/Mesh12");
        assert_eq!(path_of("Zähler"), "/Z%C3%A4hler");
    }
}
