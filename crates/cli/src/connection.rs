//! How servers are reached: the options that `call` has for its calls, and every command for loading a WSDL.

use bsoap::ClientBuilder;
use bsoap_http::header::{AUTHORIZATION, HeaderValue};
use bsoap_http::{ClientOptions, Credentials, Identity, Proxy, Roots};

use crate::error::Failure;
use crate::input;
use crate::output::Output;

/// The options of connections.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// User of Basic authentication
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Password of Basic authentication
    #[arg(
        long,
        env = "BSOAP_PASSWORD",
        hide_env_values = true,
        requires = "user"
    )]
    password: Option<String>,
    /// Send user and password by HTTP Digest; documents of the WSDL are fetched without them
    #[arg(long, requires = "user")]
    digest: bool,
    /// Bearer token of the header Authorization
    #[arg(
        long,
        value_name = "TOKEN",
        env = "BSOAP_BEARER",
        hide_env_values = true,
        conflicts_with = "user"
    )]
    bearer: Option<String>,
    /// Trust the certificate authorities in this PEM file, and no others; or a server with exactly a certificate in it
    #[arg(long, value_name = "FILE", group = "trust")]
    cacert: Option<String>,
    /// Trust only a server whose certificate has this SHA-256 fingerprint; may be given several times
    #[arg(long, value_name = "SHA256", group = "trust")]
    pin: Vec<String>,
    /// Check no certificate: anybody between here and the server can read and change everything
    #[arg(long, group = "trust")]
    insecure: bool,
    /// The client's certificate (PEM), for servers that ask for one
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// The private key (PEM) of --cert; without it, the key is in the file of the certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<String>,
    /// The proxy instead of HTTPS_PROXY and HTTP_PROXY: http://user:password@host:port, or `none`
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Follow up to this many redirects of a call, within its origin
    #[arg(long, value_name = "N", default_value_t = 0)]
    redirects: u32,
}

impl Connection {
    /// The options for HTTP. Warns if they are dangerous.
    pub(crate) fn options(&self) -> Result<ClientOptions, Failure> {
        let invalid = |error: bsoap_http::Error| Failure::from(bsoap::Error::from(error));
        let mut options = ClientOptions::default();
        options.redirects = self.redirects;
        options.credentials = self.credentials().filter(|_| !self.digest);
        if let Some(token) = &self.bearer {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| {
                Failure::usage(
                    "the token of --bearer has characters that HTTP headers do not allow",
                )
            })?;
            value.set_sensitive(true);
            options.headers.insert(AUTHORIZATION, value);
        }
        if let Some(file) = &self.cacert {
            options.roots = Roots::Pem(input::bytes(file)?);
        } else if self.insecure {
            Output::default().note(
                "warning: --insecure: certificates are not checked; anybody between here and the server can read and change everything, passwords included",
            );
            options.roots = Roots::Unchecked;
        } else if !self.pin.is_empty() {
            let pins = self.pin.iter().map(|pin| pin.parse());
            options.roots = Roots::Pinned(pins.collect::<Result<_, _>>().map_err(invalid)?);
        }
        if let Some(file) = &self.cert {
            let certificates = input::bytes(file)?;
            let key = match &self.key {
                Some(key) => input::bytes(key)?,
                None => certificates.clone(),
            };
            options.identity = Some(Identity::new(certificates, key));
        }
        match self.proxy.as_deref() {
            None => {}
            Some("none") => options.proxy = Proxy::Direct,
            Some(url) => options.proxy = Proxy::url(url, "").map_err(invalid)?,
        }
        Ok(options)
    }

    fn credentials(&self) -> Option<Credentials> {
        let user = self.user.as_ref()?;
        let password = self.password.clone().unwrap_or_default();
        Some(Credentials::new(user.clone(), password))
    }

    /// A client with the authentication that is not an option of HTTP.
    pub(crate) fn authenticated(&self, builder: ClientBuilder) -> ClientBuilder {
        match self.credentials() {
            Some(it) if self.digest => builder.digest_auth(it.user, it.password),
            _ => builder,
        }
    }
}
