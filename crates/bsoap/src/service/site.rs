//! The pages that a service shows in a browser: a page about its ports, and its WSDL at `?wsdl`.

use std::sync::Arc;

use bsoap_http::{PageRequest, Response, StatusCode};
use bsoap_schema::{Definitions, Port, Service};

use super::documents::Documents;
use super::page::{self, PortInfo, ServiceInfo};

/// A port with its service and the path it is served at.
pub(super) struct PlacedPort<'d> {
    pub(super) path: String,
    pub(super) service: &'d Service,
    pub(super) port: &'d Port,
}

/// The pages of a service: the page about its ports, and its documents.
#[derive(Debug)]
pub(super) struct Site {
    paths: Vec<String>,
    documents: Documents,
    services: Vec<ServiceInfo>,
}

/// Answers a GET request for a page of one of several services. The root page is about all of them.
pub(super) fn answer(sites: &[Arc<Site>], request: &PageRequest<'_>) -> Response {
    let own = |site: &&Arc<Site>| site.paths.iter().any(|path| path == request.path);
    let Some(first) = sites.iter().find(own).or(sites.first()) else {
        return Response::plain(StatusCode::NOT_FOUND, "nothing is served here");
    };
    let about = match sites.iter().find(own) {
        Some(site) => std::slice::from_ref(site),
        None => sites,
    };
    first.answer(request, about)
}

impl Site {
    pub(super) fn new(definitions: &Definitions, ports: &[PlacedPort<'_>]) -> Self {
        let path_of = |service: &str, port: &str| {
            let is_it = |placed: &&PlacedPort<'_>| {
                placed.service.name == service && placed.port.name == port
            };
            Some(ports.iter().find(is_it)?.path.clone())
        };
        Self {
            paths: ports.iter().map(|placed| placed.path.clone()).collect(),
            documents: Documents::new(definitions.documents(), path_of),
            services: services(definitions, ports),
        }
    }

    /// Answers a GET request: with a document of this site, or with the page about the services of some sites.
    fn answer(&self, request: &PageRequest<'_>, about: &[Arc<Self>]) -> Response {
        let (key, name) = request
            .query
            .map(|query| query.split_once('=').unwrap_or((query, "")))
            .unwrap_or_default();
        if key.is_empty() {
            let services = about.iter().flat_map(|site| &site.services);
            let html = page::html(services, request.base);
            return Response::new(200, "text/html; charset=utf-8", html);
        }
        let is_document = key.eq_ignore_ascii_case("wsdl") || key.eq_ignore_ascii_case("xsd");
        let text = is_document
            .then(|| self.documents.text(name, request.base, request.path))
            .flatten();
        match text {
            Some(text) => Response::new(200, "text/xml; charset=utf-8", text),
            None => Response::plain(
                StatusCode::NOT_FOUND,
                "there is no such document; ?wsdl returns the WSDL",
            ),
        }
    }
}

/// The services with their ports, as the page shows them.
fn services(definitions: &Definitions, ports: &[PlacedPort<'_>]) -> Vec<ServiceInfo> {
    let mut services: Vec<ServiceInfo> = Vec::new();
    for PlacedPort {
        path,
        service,
        port,
    } in ports
    {
        let operations = port.binding.operations.iter().map(|operation| {
            let signature = definitions.signature(operation);
            (signature, operation.documentation.clone())
        });
        let port = PortInfo {
            name: port.name.clone(),
            path: path.clone(),
            protocol: port.binding.version.to_string(),
            operations: operations.collect(),
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
    services
}
