//! Configures a service.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::decode::Deviation;
use bsoap_codec::{Pack, Unpack};
#[cfg(feature = "tls")]
use bsoap_http::Identity;
use bsoap_http::{
    Answered, OnAnswer, OnRefusal, PageRequest, Refusal, Response, Routes, ServerOptions,
};
use bsoap_protocol::{Endpoint, Fault, Name, Node, SenderStatus, UnknownAction};
use http::HeaderMap;

use super::background::Background;
use super::handler::{IntoReply, Message, Operation, Typed};
use super::handling::PathHandler;
use super::load::HandlerLimit;
use super::path::{OnSpan, Path};
use super::site::{PlacedPort, Site};
use super::{Service, mount, ports};
use crate::addressing::{AddressingPolicy, Use};
use crate::decoders::Decoders;
use crate::hooks::{Hooks, hook_methods};
use crate::limits::{HANDLER_TIMEOUT, QUEUE};
use crate::offload::{convert, weight_of_record};
use crate::principal::Principals;
use crate::settings::{Settings, settings_methods};
use crate::tuning::Meter;
use crate::{Caller, Error, Principal, Wsdl};

/// Configures a [`Service`].
///
/// ```
/// use std::time::Duration;
/// use bsoap::tuning::ServerOptions;
/// use bsoap::{Fault, Message, Service, Value};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let mut options = ServerOptions::default();
/// options.max_body = 1 << 20;
/// let service = Service::builder(wsdl)
///     .handle("sumInts", |_: Message| async { Value::object([("sum", Value::from(4))]) })
///     .handle_others(|message: Message| async move {
///         Err::<Value, _>(Fault::receiver(format!("{} comes next year", message.operation())))
///     })
///     .handler_timeout(Some(Duration::from_secs(10)))
///     .options(options)
///     .build()?;
/// assert_eq!(service.paths().len(), 2);
/// # Ok::<(), bsoap::Error>(())
/// ```
#[must_use]
pub struct ServiceBuilder {
    wsdl: Wsdl,
    only: Option<String>,
    operations: HashMap<String, Operation>,
    fallback: Option<Operation>,
    node: Node,
    settings: Settings,
    hooks: Hooks,
    on_refusal: Option<OnRefusal>,
    on_span: Option<OnSpan>,
    reports: Reports,
    pages: Routes,
    principals: Option<Principals>,
    max_handlers: Option<usize>,
    queue: (usize, Duration),
    handler_timeout: Option<Duration>,
    sender_status: SenderStatus,
    unknown_action: Option<UnknownAction>,
    addressing: Use<AddressingPolicy>,
    options: ServerOptions,
}

impl ServiceBuilder {
    pub(super) fn new(wsdl: Wsdl) -> Self {
        Self {
            wsdl,
            only: None,
            operations: HashMap::new(),
            fallback: None,
            node: Node::new(),
            settings: Settings::default(),
            hooks: Hooks::default(),
            on_refusal: None,
            on_span: None,
            reports: Reports::default(),
            pages: Routes::new(),
            principals: None,
            max_handlers: None,
            queue: QUEUE,
            handler_timeout: Some(HANDLER_TIMEOUT),
            sender_status: SenderStatus::default(),
            unknown_action: None,
            addressing: Use::default(),
            options: ServerOptions::default(),
        }
    }

    /// Sets the handler of an operation, on every port that has it. Operations without a handler answer with a fault.
    pub fn handle<F, Answer>(mut self, operation: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output: IntoReply> + Send + 'static,
    {
        self.operations
            .insert(operation.into(), Operation::new(handler));
        self
    }

    /// Sets the handler of an operation with Rust values: types generated from the WSDL, or others that implement [`Pack`]
    /// and [`Unpack`].
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

    /// Sets the handler of all operations that have no handler of their own.
    pub fn handle_others<F, Answer>(mut self, handler: F) -> Self
    where
        F: Fn(Message) -> Answer + Send + Sync + 'static,
        Answer: Future<Output: IntoReply> + Send + 'static,
    {
        self.fallback = Some(Operation::new(handler));
        self
    }

    /// Serves only the service of this name. By default, all services of the WSDL are served.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.only = Some(name.into());
        self
    }

    /// Declares that the handlers understand header blocks of this name in every operation, in addition to the header blocks
    /// that the operations declare.
    pub fn understanding(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.node = self.node.understanding(Name::new(namespace, local));
        self
    }

    /// Adds a role (`actor` in SOAP 1.1) that this service plays, in addition to the roles of every receiver.
    pub fn playing(mut self, role: impl Into<String>) -> Self {
        self.node = self.node.playing(role);
        self
    }

    settings_methods!();

    hook_methods!();

    /// Sets a function to which every refused request is reported, with the reason: nothing is served at its path, its body is
    /// too long or not a SOAP message, or a header block that must be understood is not. Such requests do not reach a handler.
    /// Of [merged](Service::merge) services, the function of the first one also gets the requests whose paths or bodies are
    /// refused.
    ///
    /// ```
    /// use bsoap::Service;
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// let service = Service::builder(wsdl)
    ///     .on_refusal(|refusal| eprintln!("{} {}: {}", refusal.peer, refusal.path, refusal.reason))
    ///     .build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn on_refusal(mut self, report: impl Fn(&Refusal<'_>) + Send + Sync + 'static) -> Self {
        self.on_refusal = Some(Arc::new(report));
        self
    }

    /// Sets a function that gets the span of each request, and its HTTP headers, before anything happens in it. It can make the
    /// span a child of the one that the client names in the header `traceparent`. Spans that no subscriber wants are left out.
    ///
    /// ```
    /// use bsoap::Service;
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// let service = Service::builder(wsdl)
    ///     .on_span(|span, headers| {
    ///         let parent = headers.get("traceparent");
    ///         // With `tracing-opentelemetry`: span.set_parent(propagator.extract(&HeaderExtractor(headers)))
    ///         # let _ = (span, parent);
    ///     })
    ///     .build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn on_span(
        mut self,
        prepare: impl Fn(&tracing::Span, &HeaderMap) + Send + Sync + 'static,
    ) -> Self {
        self.on_span = Some(Arc::new(prepare));
        self
    }

    /// Adds a function to which every answered request is reported when its answer has been sent: those with faults, refused ones
    /// and pages, too. [`Called`](super::Called) has the operation. It is for access logs and metrics, and must not block. Of
    /// [merged](Service::merge) services, the functions of the first one get all requests.
    pub fn on_answer(mut self, report: impl Fn(&Answered<'_>) + Send + Sync + 'static) -> Self {
        self.reports.functions.push(Arc::new(report));
        self
    }

    /// Records each request with the recorder of the crate `metrics`, which the program installs: see
    /// [`metrics`](crate::metrics).
    #[cfg(feature = "metrics")]
    pub fn metrics(mut self) -> Self {
        self.reports.has_metrics = true;
        self
    }

    /// Sets the function that answers GET requests for a path of its own, such as `/metrics`.
    pub fn page(
        mut self,
        path: impl Into<String>,
        page: impl Fn(&PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.pages = self.pages.page(path, page);
        self
    }

    /// Saves messages for each principal instead of each connection. Saved messages are never shared between principals. The
    /// function returns the principal of a request **after authenticating it**. If it returns `None`, messages are saved for
    /// the connection, as without such a function.
    ///
    /// ```
    /// use bsoap::{Principal, Service};
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// # fn is_right(credentials: &bsoap::Credentials) -> bool { credentials.password == "secret" }
    /// let service = Service::builder(wsdl).principal(|caller| {
    ///     let credentials = caller.basic().filter(is_right)?;
    ///     Some(Principal::from(credentials.user))
    /// });
    /// ```
    pub fn principal(
        mut self,
        identify: impl Fn(&Caller<'_>) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principals = Some(Principals::new(None, identify));
        self
    }

    /// As [`principal`](Self::principal), but refuses requests without a principal: with the status 401 and this
    /// `WWW-Authenticate`, such as `Basic realm="mesh"` or `Bearer`. Their bodies are not read.
    pub fn authenticate(
        mut self,
        challenge: impl Into<String>,
        identify: impl Fn(&Caller<'_>) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.principals = Some(Principals::new(Some(challenge.into()), identify));
        self
    }

    /// Sets the maximum number of handlers that run at a time (default: no limit). More requests wait for their turn, up to
    /// [`queue`](Self::queue) of them.
    pub fn max_handlers(mut self, max: impl Into<Option<usize>>) -> Self {
        self.max_handlers = max.into();
        self
    }

    /// Sets how many requests wait for their turn if [`max_handlers`](Self::max_handlers) are running, and for how long at most.
    /// Others are answered with a fault, the status 503 and `Retry-After`. Default: 1024 and 10 s.
    pub fn queue(mut self, max: usize, patience: Duration) -> Self {
        self.queue = (max, patience);
        self
    }

    /// Sets the time limit of a handler (default: 300 s); `None` means no limit. A handler that exceeds it is aborted at its
    /// next `await`, and the answer is a fault. Long work without `await` belongs on a blocking thread
    /// ([`tokio::task::spawn_blocking`]). A handler whose last 32 answers took less than a millisecond each, without waiting,
    /// runs in the connection's task: if such a handler holds its thread for once, its client waits for it.
    pub fn handler_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.handler_timeout = limit.into();
        self
    }

    /// Sets the HTTP status of SOAP 1.2 faults whose code is [`Sender`](crate::protocol::Code::Sender). By default it is 500:
    /// many clients do not read a fault that comes with 400, which SOAP 1.2 requires.
    ///
    /// ```
    /// use bsoap::Service;
    /// use bsoap::protocol::SenderStatus;
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// let service = Service::builder(wsdl).sender_status(SenderStatus::BadRequest).build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn sender_status(mut self, status: SenderStatus) -> Self {
        self.sender_status = status;
        self
    }

    /// Sets what happens to a request whose action (`SOAPAction`, or the `action` of the media type in SOAP 1.2) belongs to no
    /// operation of the port. By default it is accepted, since the element in the Body selects the operation. A request whose
    /// action names another operation than its Body is always refused; one without an action, or with an empty one, never. An unknown
    /// action of WS-Addressing is refused, unless [`UnknownAction::Accept`] is set.
    ///
    /// ```
    /// use bsoap::Service;
    /// use bsoap::protocol::UnknownAction;
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// let service = Service::builder(wsdl).unknown_action(UnknownAction::Refuse).build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn unknown_action(mut self, policy: UnknownAction) -> Self {
        self.unknown_action = Some(policy);
        self
    }

    /// Uses WS-Addressing, also if the WSDL does not say that the ports use it: its header blocks are understood, and answers have
    /// them. The policy says whether requests must have them, and to which addresses answers may be sent instead of back on the
    /// connection. By default, there is no such address.
    ///
    /// ```
    /// use bsoap::Service;
    /// use bsoap::addressing::{AddressingPolicy, hosts};
    ///
    /// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
    /// let policy = AddressingPolicy::new().allowing(hosts(["replies.example.com"]));
    /// let service = Service::builder(wsdl).addressing(policy).build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn addressing(mut self, policy: AddressingPolicy) -> Self {
        self.addressing = Use::On(policy);
        self
    }

    /// Does not use WS-Addressing, also if the WSDL says that the ports use it.
    pub fn without_addressing(mut self) -> Self {
        self.addressing = Use::Off;
        self
    }

    /// Sets the options of the server: limits, timeouts, TLS.
    pub fn options(mut self, options: ServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Serves HTTPS, with this certificate chain and private key in PEM.
    #[cfg(feature = "tls")]
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.options.identity = Some(Identity::new(certificates, key));
        self
    }

    /// Accepts only clients with a certificate of one of these certificate authorities (PEM). It needs
    /// [`identity`](Self::identity).
    #[cfg(feature = "tls")]
    pub fn client_authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.options.client_authorities = Some(pem.into());
        self
    }

    /// Sets the address that clients use, such as `https://example.com`. It is needed if requests do not contain it (behind
    /// a proxy).
    pub fn public_address(mut self, address: impl Into<String>) -> Self {
        self.options.public_address = Some(address.into());
        self
    }

    /// Loads the WSDL and creates the service.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded, has no such service or no SOAP port, or has no operation for one of the handlers.
    pub fn build(self) -> Result<Service, Error> {
        let mut decoding = self.settings.decoding(self.options.max_body);
        // A request of another version has another binding, or is refused with the versions that there are.
        decoding.accepted = decoding.accepted.without(Deviation::OtherVersion);
        let Settings {
            fetch,
            budget,
            mut keeping,
            header_limits,
            attachments,
            ..
        } = self.settings;
        let attachments = attachments.within(self.options.max_body);
        let node = self.node.with_header_limits(header_limits);
        let definitions = self.wsdl.load(fetch)?;
        let ports = ports::served(&definitions, self.only.as_deref())?;
        check_operations(&self.operations, &ports)?;
        let paths = ports::paths(&ports);
        let background = Background::new(self.options.max_connections);
        let meter = Meter::default();
        let decoders = Arc::new(Decoders::new(definitions.plan(), decoding));
        keeping.sending = keeping.sending.as_gzip(may_compress(&self.options));
        let operations = Arc::new(self.operations);
        let (max_waiting, patience) = self.queue;
        let handlers = HandlerLimit::new(self.max_handlers, max_waiting, patience);
        let mut routes = reported(self.pages, self.reports.all(&ports), &self.on_refusal);
        #[cfg(feature = "client")]
        let answers = bsoap_http::Client::new(bsoap_http::ClientOptions::default())?;
        let path = |endpoint, mtom_requests| Path {
            definitions: Arc::clone(&definitions),
            endpoint,
            decoders: Arc::clone(&decoders),
            budget: budget.clone(),
            keeping,
            principals: self.principals.clone(),
            operations: Arc::clone(&operations),
            fallback: self.fallback.clone(),
            handlers: handlers.clone(),
            handler_timeout: self.handler_timeout,
            background: background.clone(),
            hooks: self.hooks.clone(),
            on_refusal: self.on_refusal.clone(),
            on_span: self.on_span.clone(),
            sender_status: self.sender_status,
            meter: meter.clone(),
            attachments: attachments.clone(),
            mtom_requests,
            #[cfg(feature = "client")]
            answers: answers.clone(),
        };
        for name in &paths {
            let bindings = ports::bindings_at(name, &ports);
            let mut endpoint = Endpoint::new(definitions.plan(), bindings, node.clone());
            if let Some(policy) = self.unknown_action {
                endpoint = endpoint.with_unknown_action(policy);
            }
            if let Some(policy) = ports::addressing_at(&self.addressing, name, &ports) {
                endpoint = endpoint.with_addressing(policy);
            }
            let path = path(endpoint, ports::mtom_requests_at(name, &ports));
            routes = routes.at(name.clone(), PathHandler(Arc::new(path)));
        }
        let sites = vec![Arc::new(Site::new(&definitions, &ports))];
        let (routes, mounted) = mount(routes, &sites, &self.options);
        Ok(Service {
            definitions: Arc::clone(&definitions),
            routes,
            sites,
            paths,
            options: self.options,
            backgrounds: vec![background],
            #[cfg(feature = "metrics")]
            meters: vec![meter.clone()],
            meter,
            mounted,
        })
    }
}

/// Routes that report what is answered and what is refused.
fn reported(routes: Routes, on_answer: Option<OnAnswer>, on_refusal: &Option<OnRefusal>) -> Routes {
    let routes = match on_answer {
        Some(report) => routes.on_answer(report),
        None => routes,
    };
    match on_refusal {
        Some(report) => routes.on_refusal(Arc::clone(report)),
        None => routes,
    }
}

#[cfg(feature = "gzip")]
fn may_compress(options: &ServerOptions) -> bool {
    options.gzip_from.is_some()
}

#[cfg(not(feature = "gzip"))]
fn may_compress(_: &ServerOptions) -> bool {
    false
}

/// To whom answered requests are reported.
#[derive(Default)]
struct Reports {
    functions: Vec<OnAnswer>,
    #[cfg(feature = "metrics")]
    has_metrics: bool,
}

impl Reports {
    /// A function that reports to all of them. `None` if there are none.
    #[cfg_attr(not(feature = "metrics"), expect(unused_variables))]
    fn all(self, ports: &[PlacedPort<'_>]) -> Option<OnAnswer> {
        let mut functions = self.functions;
        #[cfg(feature = "metrics")]
        if self.has_metrics {
            let bindings = ports.iter().map(|placed| &*placed.port.binding);
            functions.push(crate::metrics::requests(bindings));
        }
        match functions.len() {
            0 | 1 => functions.pop(),
            _ => Some(Arc::new(move |answered| {
                functions.iter().for_each(|report| report(answered));
            })),
        }
    }
}

/// Checks that the WSDL has an operation for every handler.
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
        "a handler is registered for {}, but the WSDL has no such operation",
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
