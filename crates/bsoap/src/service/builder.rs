//! How a service is set up.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::{DecodeOptions, Pack, Unpack};
use bsoap_http::{ClientOptions, HeaderMap, Identity, Routes, ServerOptions};
use bsoap_protocol::{Endpoint, Fault, Name, Node};
use bsoap_schema::{Binding, Service as Description};

use super::handler::{IntoReply, Message, Operation, Typed};
use super::path::{Path, PathHandler};
use super::site::{PlacedPort, Site};
use super::{Background, Service};
use crate::decoders::{Decoders, up_to};
use crate::load::Fetch;
use crate::offload::{convert, weight_of_record};
use crate::principal::Principals;
use crate::scope::Keeping;
use crate::{Budget, Error, Hints, Meter, Principal, Receiving, Sending, Wsdl};

/// Sets up a [`Service`].
#[must_use]
pub struct ServiceBuilder {
    wsdl: Wsdl,
    fetch: Fetch,
    only: Option<String>,
    operations: HashMap<String, Operation>,
    fallback: Option<Operation>,
    node: Node,
    decoding: DecodeOptions,
    budget: Budget,
    sending: Sending,
    receiving: Receiving,
    hints: Hints,
    principals: Option<Principals>,
    handler_timeout: Option<Duration>,
    options: ServerOptions,
}

/// As long as our own client waits for an answer.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(300);

impl ServiceBuilder {
    pub(super) fn new(wsdl: Wsdl) -> Self {
        Self {
            wsdl,
            fetch: Fetch::default(),
            only: None,
            operations: HashMap::new(),
            fallback: None,
            node: Node::new(),
            decoding: DecodeOptions::default(),
            budget: Budget::process().clone(),
            sending: Sending::default(),
            receiving: Receiving::default(),
            hints: Hints::Off,
            principals: None,
            handler_timeout: Some(HANDLER_TIMEOUT),
            options: ServerOptions::default(),
        }
    }

    /// Answers an operation, on every port that has it. Operations without a handler answer with a fault.
    pub fn handle<F, Answer>(mut self, operation: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output: IntoReply> + Send + 'static,
    {
        self.operations
            .insert(operation.into(), Operation::new(handler));
        self
    }

    /// Answers an operation with Rust values: types generated from the WSDL, or others that know their layout.
    pub fn handle_typed<A, R, F, Answer>(self, operation: impl Into<String>, handler: F) -> Self
    where
        A: Unpack + Send + 'static,
        R: Pack + Send + 'static,
        F: Fn(A, Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.handle(operation, move |message: Message| {
            let handler = Arc::clone(&handler);
            let weight = weight_of_record(message.record());
            async move {
                let unpack = move || (message.unpack::<A>(), message);
                let (arguments, message) = convert(weight, unpack).await;
                Ok::<_, Fault>(Typed(handler(arguments?, message).await?))
            }
        })
    }

    /// Answers every operation that has no handler of its own.
    pub fn handle_others<F, Answer>(mut self, handler: F) -> Self
    where
        F: Fn(Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output: IntoReply> + Send + 'static,
    {
        self.fallback = Some(Operation::new(handler));
        self
    }

    /// Serves only the service of this name; otherwise all of the WSDL's.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.only = Some(name.into());
        self
    }

    /// Understands header blocks of this name in every operation, besides those the operations declare.
    pub fn understanding(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.node = self.node.understanding(Name::new(namespace, local));
        self
    }

    /// Plays this role (`actor` in SOAP 1.1) besides those of every receiver.
    pub fn playing(mut self, role: impl Into<String>) -> Self {
        self.node = self.node.playing(role);
        self
    }

    /// What may be fetched from the network while the WSDL is loaded.
    pub fn fetch(mut self, fetch: Fetch) -> Self {
        self.fetch = fetch;
        self
    }

    /// How requests are read: limits, and how much is checked. By default elements nest no deeper than a [`Value`] can
    /// ([`MAX_DEPTH`](bsoap_codec::MAX_DEPTH)); deeper ones can only be had as [`Record`]s. Requests are never longer than
    /// [`max_body`](ServerOptions::max_body), and their Records are bounded accordingly.
    ///
    /// [`Value`]: crate::Value
    /// [`Record`]: crate::Record
    pub fn decoding(mut self, options: DecodeOptions) -> Self {
        self.decoding = options;
        self
    }

    /// What may be remembered of all connections' messages, to be faster with the next ones; otherwise a share of the
    /// [process's](Budget::process). No connection profits from what came by another.
    pub fn budget(mut self, budget: impl Into<Budget>) -> Self {
        self.budget = budget.into();
        self
    }

    /// Whether the text of answers is kept for each connection, and how, so that only what changes has to be written for
    /// the next one. It is by default.
    pub fn sending(mut self, sending: impl Into<Sending>) -> Self {
        self.sending = sending.into();
        self
    }

    /// Whether the messages of each connection are kept, and how, so that only what changes has to be read of the next
    /// one. They are by default.
    pub fn receiving(mut self, receiving: impl Into<Receiving>) -> Self {
        self.receiving = receiving.into();
        self
    }

    /// Whether hints of clients are followed, and given to them. They are not by default.
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = hints;
        self
    }

    /// Remembers together what belongs to one principal, whichever connection it comes by, and never what belongs to two:
    /// the function tells whose request it is, **after it has made sure of that**. Where it does not know, the connection
    /// counts, as for all requests without such a function.
    ///
    /// ```
    /// use bsoap::{Credentials, Principal, Service};
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// # fn is_right(credentials: &Credentials) -> bool { credentials.password == "secret" }
    /// let service = Service::builder(wsdl).principal(|headers, _peer| {
    ///     let credentials = Credentials::of(headers).filter(is_right)?;
    ///     Some(Principal::from(credentials.user))
    /// });
    /// ```
    pub fn principal(
        mut self,
        tell: impl Fn(&HeaderMap, SocketAddr) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principals = Some(Principals::new(tell));
        self
    }

    /// How long a handler may take (300 s); `None`: as long as it wants. The answer is then a fault, and the handler ends at
    /// its next `await`. One that works long without one is better put on a thread of its own
    /// ([`tokio::task::spawn_blocking`]).
    pub fn handler_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.handler_timeout = limit.into();
        self
    }

    /// Limits, times, TLS and the like.
    pub fn options(mut self, options: ServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Speaks HTTPS: certificate chain and private key in PEM.
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.options.identity = Some(Identity {
            certificates: certificates.into(),
            key: key.into(),
        });
        self
    }

    /// Where the world reaches the service, as `https://example.com`, if not where requests say (behind a proxy).
    pub fn public_address(mut self, address: impl Into<String>) -> Self {
        self.options.public_address = Some(address.into());
        self
    }

    /// The service.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded or has no such port, or a handler is for an operation that it does not have.
    pub fn build(self) -> Result<Service, Error> {
        let definitions = self.wsdl.load(self.fetch, &ClientOptions::default())?;
        let served: Vec<&Description> = definitions
            .services()
            .iter()
            .filter(|service| self.only.as_ref().is_none_or(|name| *name == service.name))
            .collect();
        let ports = placed(&served);
        if ports.is_empty() {
            return Err(Error::Setup(
                "the WSDL has no such service, or it has no SOAP port".into(),
            ));
        }
        check_operations(&self.operations, &ports)?;
        let mut paths: Vec<String> = Vec::new();
        for PlacedPort { path, .. } in &ports {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        }
        let (background, meter) = (
            Background::new(self.options.max_connections),
            Meter::default(),
        );
        let decoding = up_to(self.decoding, self.options.max_body);
        let decoders = Arc::new(Decoders::new(definitions.plan(), decoding));
        let operations = Arc::new(self.operations);
        let mut routes = Routes::new();
        for path in &paths {
            let bindings = bindings_at(path, &ports);
            routes = routes.at(
                path.clone(),
                PathHandler(Arc::new(Path {
                    endpoint: Endpoint::new(definitions.plan(), bindings, self.node.clone()),
                    decoders: Arc::clone(&decoders),
                    budget: self.budget.clone(),
                    keeping: Keeping {
                        sending: self.sending.as_gzip(self.options.gzip_from.is_some()),
                        receiving: self.receiving,
                        hints: self.hints,
                    },
                    principals: self.principals.clone(),
                    operations: Arc::clone(&operations),
                    fallback: self.fallback.clone(),
                    handler_timeout: self.handler_timeout,
                    background: background.clone(),
                    meter: meter.clone(),
                })),
            );
        }
        let site = Site::new(&definitions, &ports);
        let routes = routes.pages(move |request| site.answer(request));
        Ok(Service {
            definitions: Arc::clone(&definitions),
            routes,
            paths,
            options: self.options,
            background,
            meter,
        })
    }
}

/// Where each port is served: at the path of its address, otherwise at its name.
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

/// The path of a port's name as requests spell it: escaped where it is not ASCII.
fn path_of(port: &str) -> String {
    let address = format!("http://localhost/{port}").parse::<bsoap_http::Address>();
    address.map_or_else(|_| format!("/{port}"), |address| address.path().to_owned())
}

/// The bindings of the ports at a path, each once.
fn bindings_at(path: &str, ports: &[PlacedPort<'_>]) -> Vec<Arc<Binding>> {
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

/// Every handler has its operation.
fn check_operations(
    operations: &HashMap<String, Operation>,
    ports: &[PlacedPort<'_>],
) -> Result<(), Error> {
    let exists = |name: &str| {
        ports
            .iter()
            .any(|placed| placed.port.binding.operation(name).is_some())
    };
    let mut unknown: Vec<&str> = operations
        .keys()
        .map(String::as_str)
        .filter(|name| !exists(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    unknown.sort_unstable();
    Err(Error::Setup(format!(
        "the WSDL has no operation {}, for which there is a handler",
        unknown.join(", ")
    )))
}

impl std::fmt::Debug for ServiceBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let operations: Vec<&String> = self.operations.keys().collect();
        f.debug_struct("ServiceBuilder")
            .field("operations", &operations)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn a_port_is_served_at_its_name_as_requests_spell_it() {
        assert_eq!(path_of("Mesh12"), "/Mesh12");
        assert_eq!(path_of("Zähler"), "/Z%C3%A4hler");
    }
}
