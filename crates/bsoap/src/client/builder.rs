//! Configures a client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use bsoap_codec::{Object, Pack, Value};
use bsoap_http::{Address, AnyError, Body, Bytes, ClientOptions, Credentials, Proxy, Transfer};
#[cfg(feature = "tls")]
use bsoap_http::{Fingerprint, Identity, Roots};
use bsoap_protocol::{SoapVersion, Target};
use bsoap_schema::{Definitions, Operation, Port, Service};
use tower_layer::Layer;

use super::options::{TypedHeaders, add_xml, pack_headers};
use super::{Client, Inner};
use crate::addressing::{Addressing, Use};
use crate::decoders::Decoders;
use crate::hooks::{Hooks, hook_methods};
use crate::scope::PeerScope;
#[cfg(feature = "wsse")]
use crate::security::UsernameToken;
use crate::selection;
use crate::settings::{Settings, settings_methods};
#[cfg(feature = "retry")]
use crate::transport::Retries;
use crate::transport::{
    self, Authentication, Carrying, Token, TokenSource, Transport, TransportService,
};
use crate::tuning::Meter;
use crate::{Error, Wsdl, http_headers};

impl Client {
    /// A client of the WSDL's first port that has an address. `wsdl` is a path, a URL or the text of the WSDL.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded, or has no port with an address.
    pub fn from_wsdl(wsdl: impl Into<Wsdl>) -> Result<Self, Error> {
        Self::builder(wsdl).build()
    }

    /// A builder for a client of this WSDL: a path, a URL or the text of the WSDL.
    pub fn builder(wsdl: impl Into<Wsdl>) -> ClientBuilder {
        ClientBuilder::new(wsdl.into())
    }
}

/// Configures a [`Client`].
///
/// ```no_run
/// use std::time::Duration;
/// use bsoap::{Client, SoapVersion};
///
/// let client = Client::builder("examples/mesh/mesh.wsdl")
///     .version(SoapVersion::Soap12)
///     .endpoint("https://example.com/mesh12")
///     .basic_auth("jo", "secret")
///     .timeout(Duration::from_secs(20))
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    wsdl: Wsdl,
    service: Option<String>,
    port: Option<String>,
    version: Option<SoapVersion>,
    endpoint: Option<String>,
    http: ClientOptions,
    carrying: Carrying,
    hooks: Hooks,
    headers: Object,
    typed_headers: TypedHeaders,
    addressing: Use<Addressing>,
    #[cfg(feature = "wsse")]
    token: Option<UsernameToken>,
    settings: Settings,
    /// A description of the first invalid option, which [`build`](Self::build) reports.
    problem: Option<String>,
}

impl ClientBuilder {
    pub(super) fn new(wsdl: Wsdl) -> Self {
        Self {
            wsdl,
            service: None,
            port: None,
            version: None,
            endpoint: None,
            http: ClientOptions::default(),
            carrying: Carrying::default(),
            hooks: Hooks::default(),
            headers: Object::new(),
            typed_headers: TypedHeaders::new(),
            addressing: Use::default(),
            #[cfg(feature = "wsse")]
            token: None,
            settings: Settings::default(),
            problem: None,
        }
    }

    /// Selects the service of this name. By default, it is the first one with a matching port.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = Some(name.into());
        self
    }

    /// Selects the port of this name. By default, it is the first matching one.
    pub fn port(mut self, name: impl Into<String>) -> Self {
        self.port = Some(name.into());
        self
    }

    /// Selects a port of this SOAP version.
    pub fn version(mut self, version: SoapVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Sets the address that messages are sent to, instead of that in the WSDL.
    pub fn endpoint(mut self, address: impl Into<String>) -> Self {
        self.endpoint = Some(address.into());
        self
    }

    /// Sets all options of the HTTP client at once. The methods below change single ones.
    pub fn http(mut self, options: ClientOptions) -> Self {
        self.http = options;
        self
    }

    /// Sends a user name and a password with each message (HTTP Basic authentication).
    pub fn basic_auth(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.http.credentials = Some(Credentials::new(user, password));
        self.carrying.authentication = None;
        self
    }

    /// Authenticates with a user name and a password by HTTP Digest (RFC 7616: MD5, SHA-256, SHA-512/256). The first message is sent
    /// twice: without credentials, and with the answer to the challenge of the server. Later ones are sent once, until the server says
    /// that its nonce is stale. If the first message is a streamed one, an empty message asks for the challenge. Documents of a WSDL
    /// are fetched without it. It replaces other authentication.
    #[cfg(feature = "digest")]
    pub fn digest_auth(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.http.credentials = None;
        let credentials = Credentials::new(user, password);
        self.carrying.authentication = Some(Authentication::Digest(credentials));
        self
    }

    /// Authenticates with bearer tokens (RFC 6750), which a function obtains: before the first message, before a token expires, and
    /// once for a message that is refused with status 401, which is then sent again. Calls that need a token at the same time wait
    /// for the same one. It replaces other authentication. Documents of a WSDL are fetched without it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use bsoap::Client;
    /// use bsoap::transport::Token;
    ///
    /// # async fn ask_the_authorization_server() -> Result<String, std::io::Error> { Ok("7".into()) }
    /// let client = Client::builder(include_str!("../../../../examples/mesh/mesh.wsdl"))
    ///     .bearer_auth(|| async {
    ///         let token = ask_the_authorization_server().await?;
    ///         Ok(Token::new(token).valid_for(Duration::from_secs(3600)))
    ///     })
    ///     .build()?;
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn bearer_auth(mut self, source: impl TokenSource + 'static) -> Self {
        self.http.credentials = None;
        self.carrying.authentication = Some(Authentication::Bearer(Arc::new(source)));
        self
    }

    /// Authenticates with a bearer token that does not change: the header `Authorization` of all messages. It replaces other
    /// authentication.
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        self.http.credentials = None;
        self.carrying.authentication = None;
        match Token::new(token).header() {
            Ok(value) => drop(
                self.http
                    .headers
                    .insert(bsoap_http::header::AUTHORIZATION, value),
            ),
            Err(error) => drop(self.problem.get_or_insert(error.to_string())),
        }
        self
    }

    /// Keeps the cookies of answers, and sends them back to the host that set them: for services that keep a session. A jar belongs
    /// to one client and those made from it with [`at`](Client::at); it is never shared by principals: calls with an `Authorization`
    /// or `Cookie` header of their own neither send nor change its cookies.
    #[cfg(feature = "cookies")]
    pub fn cookies(mut self) -> Self {
        self.carrying.has_cookies = true;
        self
    }

    /// Repeats calls that failed and may be repeated. By default, no call is repeated.
    #[cfg(feature = "retry")]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.carrying.retries = Some(retries);
        self
    }

    /// Writes each message and its answer to files of a folder, numbered in the order of the calls, which
    /// [`FileTransport::replay`](crate::transport::FileTransport::replay) can replay. Security header blocks are in them; HTTP headers
    /// are not. The memory used for streamed messages grows with them. A call fails if its files cannot be written.
    pub fn record_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.carrying.recording = Some(folder.into());
        self
    }

    /// Adds an HTTP header that is sent with every message.
    pub fn http_header(mut self, name: &str, value: &str) -> Self {
        if let Err(problem) = http_headers::append(&mut self.http.headers, name, value) {
            self.problem.get_or_insert(problem);
        }
        self
    }

    /// Adds a SOAP header block that is sent with every message, by the name of its part. Every operation that is called must
    /// declare it. It is not added to Records of Envelopes.
    pub fn soap_header(mut self, part: &str, value: impl Into<Value>) -> Self {
        self.headers.insert(part, value.into());
        self
    }

    /// Adds a SOAP header block that is sent with every message, as a Rust value generated from the WSDL, by the name of its
    /// part. Every operation that is called must declare it.
    pub fn soap_header_typed(
        mut self,
        part: &str,
        block: impl Pack + Send + Sync + 'static,
    ) -> Self {
        self.typed_headers.push((part.to_owned(), Arc::new(block)));
        self
    }

    /// Adds a SOAP header block that is sent with every message, as XML: one element, with the declarations of its namespaces.
    /// It is not added to Records of Envelopes.
    pub fn soap_header_xml(mut self, xml: impl Into<String>) -> Self {
        add_xml(&mut self.headers, xml.into());
        self
    }

    /// Sends the header blocks of WS-Addressing with each message, also if the WSDL does not require them. They are not added to a message in whose header blocks the program has set some of WS-Addressing.
    pub fn addressing(mut self, addressing: Addressing) -> Self {
        self.addressing = Use::On(addressing);
        self
    }

    /// Sends no header blocks of WS-Addressing, also if the WSDL requires them.
    pub fn without_addressing(mut self) -> Self {
        self.addressing = Use::Off;
        self
    }

    /// Sends a user name and a password with each message in a header block of WS-Security.
    #[cfg(feature = "wsse")]
    pub fn username_token(mut self, token: UsernameToken) -> Self {
        if let Err(problem) = token.check() {
            self.problem.get_or_insert(problem);
        }
        self.token = Some(token);
        self
    }

    /// Sends messages by a transport of the program's own instead of HTTP. Of the options of HTTP, only the headers and the
    /// time limit of a call apply to it.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.carrying.transport = Some(Arc::new(transport));
        self
    }

    /// Puts a tower layer around the transport, such as one that retries, limits the rate or refreshes a token. A layer added
    /// later is outside of the earlier ones. The time limit of a call includes the work of the layers. A layer that sends a
    /// request again must look at [`Body::is_whole`](crate::http::Body::is_whole): the body of a
    /// [`Streamed`](crate::Streamed) call can be sent only once.
    pub fn layer<L, S>(mut self, layer: L) -> Self
    where
        L: Layer<TransportService, Service = S> + Send + Sync + 'static,
        S: tower_service::Service<
                http::Request<Body>,
                Response = http::Response<Bytes>,
                Error: Into<AnyError>,
                Future: Send + 'static,
            > + Clone
            + Send
            + 'static,
    {
        self.carrying.layers.push(transport::wrap(layer));
        self
    }

    hook_methods!();

    /// Sets the HTTP header `User-Agent`.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.http.user_agent = user_agent.into();
        self
    }

    /// Sets the time limit of a call. Default: 300 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.http.timeout = timeout;
        self
    }

    /// Sets the time limit for establishing a connection. Default: 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.http.connect_timeout = timeout;
        self
    }

    /// Compresses messages with gzip. Use it only for peers that are known to support it: HTTP has no way to ask first.
    #[cfg(feature = "gzip")]
    pub fn gzip_requests(mut self) -> Self {
        self.http.gzip_requests = true;
        self
    }

    /// Asks the peer for answers compressed with gzip. This saves time if the network is slower than about 100 MB/s.
    #[cfg(feature = "gzip")]
    pub fn accept_gzip(mut self) -> Self {
        self.http.accept_gzip = true;
        self
    }

    /// Sends messages with `Transfer-Encoding: chunked`.
    pub fn chunked(mut self) -> Self {
        self.http.transfer = Transfer::Chunked;
        self
    }

    /// Follows up to `max` redirects (default: 0) within the origin of the first address: messages are not sent elsewhere.
    pub fn redirects(mut self, max: u32) -> Self {
        self.http.redirects = max;
        self
    }

    /// Selects the proxies. By default they are those in the environment variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`
    /// and `NO_PROXY`.
    ///
    /// ```
    /// use bsoap::{Client, http::Proxy};
    ///
    /// let proxy = Proxy::url("http://jo:secret@proxy.example.com:3128", "localhost,10.0.0.0/8")?;
    /// let builder = Client::builder("examples/mesh/mesh.wsdl").proxy(proxy);
    /// let direct = Client::builder("examples/mesh/mesh.wsdl").proxy(Proxy::Direct);
    /// # Ok::<(), bsoap::Error>(())
    /// ```
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.http.proxy = proxy;
        self
    }

    /// Sets how many calls may run at the same time, each on a connection of its own. Further calls wait, within their time
    /// limit. By default, there is no limit.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.http.max_connections = connections;
        self
    }

    /// Sets how many unused connections are kept open. Default: 32.
    pub fn idle_connections(mut self, connections: usize) -> Self {
        self.http.idle_connections = connections;
        self
    }

    /// Sets the time for which an unused connection is kept open. Default: 20 s.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.http.idle_timeout = timeout;
        self
    }

    /// Trusts only these certificate authorities (PEM) for HTTPS, not those of the system, and a server that presents
    /// exactly one of these certificates.
    #[cfg(feature = "tls")]
    pub fn trust_only(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.http.roots = Roots::Pem(pem.into());
        self
    }

    /// Trusts these certificate authorities (PEM) for HTTPS, in addition to those of the system, and a server that presents
    /// exactly one of these certificates.
    #[cfg(feature = "tls")]
    pub fn trust_also(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.http.roots = Roots::SystemAnd(pem.into());
        self
    }

    /// Trusts only a server whose certificate has this SHA-256 fingerprint, whatever else the certificate says. Calling it
    /// again adds another fingerprint. `openssl x509 -noout -fingerprint -sha256 -in cert.pem` prints it.
    ///
    /// ```
    /// let builder = bsoap::Client::builder("examples/mesh/mesh.wsdl")
    ///     .trust_pinned("6a2f0c9e3d1b58477f90a1c2b3d4e5f60718293a4b5c6d7e8f90123456789abc");
    /// ```
    #[cfg(feature = "tls")]
    pub fn trust_pinned(mut self, fingerprint: &str) -> Self {
        match fingerprint.parse::<Fingerprint>() {
            Ok(pin) => match &mut self.http.roots {
                Roots::Pinned(pins) => pins.push(pin),
                roots => *roots = Roots::Pinned(vec![pin]),
            },
            Err(error) => {
                self.problem
                    .get_or_insert_with(|| crate::error::report(&error));
            }
        }
        self
    }

    /// Trusts every server: certificates are not checked. Anybody between client and server can read and change all
    /// messages, passwords included. For experiments only; the client logs a warning.
    #[cfg(feature = "tls")]
    pub fn insecure(mut self) -> Self {
        self.http.roots = Roots::Unchecked;
        self
    }

    /// Sets the client's own certificate chain and key (both PEM), for servers that ask for a certificate.
    #[cfg(feature = "tls")]
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.http.identity = Some(Identity::new(certificates, key));
        self
    }

    /// Sets the maximum length of an answer in bytes, counted after decompression. Default: 256 MiB.
    pub fn max_response(mut self, bytes: u64) -> Self {
        self.http.max_response = bytes;
        self
    }

    settings_methods!();

    /// Loads the WSDL and creates the client.
    ///
    /// # Errors
    /// If the WSDL cannot be loaded, has no port that matches the selection, or an option is not valid.
    pub fn build(self) -> Result<Client, Error> {
        if let Some(problem) = self.problem {
            return Err(Error::Setup(problem));
        }
        let decoding = self.settings.decoding(self.http.max_response);
        let Settings {
            fetch,
            budget,
            mut keeping,
            header_limits,
            attachments,
            ..
        } = self.settings;
        let attachments = attachments.within(self.http.max_response);
        let definitions = self.wsdl.load_with(fetch, &self.http)?;
        let names = (self.service.as_deref(), self.port.as_deref());
        let has_address = self.endpoint.is_some();
        let (service, port) = selected(&definitions, names, self.version, has_address)?;
        let Some(address) = self.endpoint.as_ref().or(port.address.as_ref()) else {
            return Err(Error::Setup(format!(
                "port {} has no address in the WSDL: set one with `endpoint`",
                port.name
            )));
        };
        let mut headers = self.headers;
        for typed in &self.typed_headers {
            let target = declaring(&definitions, port, &typed.0)?;
            pack_headers(&mut headers, std::slice::from_ref(typed), &target)?;
        }
        let decoders = Arc::new(Decoders::new(definitions.plan(), decoding));
        #[cfg(feature = "gzip")]
        let may_compress = self.http.gzip_requests;
        #[cfg(not(feature = "gzip"))]
        let may_compress = false;
        keeping.sending = keeping.sending.as_gzip(may_compress);
        let scope = PeerScope::new(&decoders, &budget, keeping);
        let timeout = self.http.timeout;
        let address: Address = address.parse()?;
        let transport = self.carrying.carrier(self.http, &address)?;
        let inner = Inner {
            service: service.name.clone(),
            port: port.clone(),
            address,
            transport,
            timeout,
            hooks: self.hooks,
            headers,
            addressing: self.addressing.options(|| {
                let using = port.addressing.filter(|using| using.is_required)?;
                Some(Addressing::new().version(using.version))
            }),
            #[cfg(feature = "wsse")]
            token: self.token,
            templates: scope.clone(),
            scope,
            decoders,
            budget,
            policy: keeping.sending.template(),
            receiving: keeping.receiving,
            header_limits,
            attachments: attachments.for_port(port),
            hints: keeping.hints,
            follows_hints: AtomicBool::new(false),
            endpoint: 0,
            endpoints: Arc::new(AtomicU32::new(1)),
            definitions: Arc::clone(&definitions),
            meter: Meter::default(),
        };
        Ok(Client {
            inner: Arc::new(inner),
        })
    }
}

/// The selected port: of several, the first over HTTP with an address, unless the client has one.
fn selected<'d>(
    definitions: &'d Definitions,
    (service, port): (Option<&str>, Option<&str>),
    version: Option<SoapVersion>,
    has_address: bool,
) -> Result<(&'d Service, &'d Port), Error> {
    let is_selected = |one: &(&Service, &Port)| {
        service.is_none_or(|name| name == one.0.name)
            && port.is_none_or(|name| name == one.1.name)
            && version.is_none_or(|version| version == one.1.binding.version)
    };
    let fitting = || definitions.ports().filter(is_selected);
    let http = || fitting().filter(|(_, port)| port.is_http());
    let with_address = http().find(|(_, port)| port.address.is_some());
    with_address
        .filter(|_| !has_address)
        .or_else(|| http().next())
        .or_else(|| fitting().next())
        .ok_or_else(|| Error::Setup(selection::no_port(definitions, service, port, version)))
}

/// Leaves out the address, which may contain credentials.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("wsdl", &self.wsdl)
            .field("service", &self.service)
            .field("port", &self.port)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// An operation that declares the header block of a part.
fn declaring(definitions: &Definitions, port: &Port, part: &str) -> Result<Target, Error> {
    let mut operations = port.binding.operations.iter();
    let declares = |operation: &&Operation| {
        let mut headers = operation.input.headers.iter();
        headers.any(|header| header.name == part)
    };
    let Some(operation) = operations.find(declares) else {
        return Err(Error::Setup(format!(
            "no operation of port {} declares a header block {part:?}",
            port.name
        )));
    };
    Ok(Target::new(
        definitions.plan(),
        &port.binding,
        &operation.name,
    )?)
}
