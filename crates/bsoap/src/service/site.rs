//! What a service tells about itself to those who only look.

use bsoap_http::{Document, PortInfo, ServiceInfo, Site};
use bsoap_schema::{Definitions, resolve_location};

use super::builder::Placed;

/// The documents to publish, and the page for people.
pub(super) fn describe(definitions: &Definitions, ports: &[Placed<'_>]) -> Site {
    let documents = definitions.documents().iter().map(|document| Document {
        location: document.location().to_owned(),
        text: document.text().to_owned(),
    });
    let mut services: Vec<ServiceInfo> = Vec::new();
    for (path, service, port) in ports {
        let operations = port.binding.operations.iter();
        let port = PortInfo {
            name: port.name.clone(),
            path: path.clone(),
            protocol: port.binding.version.to_string(),
            operations: operations
                .map(|operation| {
                    (
                        definitions.signature(operation),
                        operation.documentation.clone(),
                    )
                })
                .collect(),
        };
        match services.iter_mut().find(|known| known.name == service.name) {
            Some(known) => known.ports.push(port),
            None => services.push(ServiceInfo {
                name: service.name.clone(),
                documentation: service.documentation.clone(),
                ports: vec![port],
            }),
        }
    }
    Site {
        documents: documents.collect(),
        services,
        resolve: resolve_location,
    }
}
