//! Proxies: which one is used for which address, and how requests get through it.

use std::fmt;
use std::net::IpAddr;

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::address::{Address, without_credentials};
use crate::{Error, ErrorKind};

/// The HTTP proxies that a client uses. `https` addresses are reached through a tunnel (CONNECT). User and password in a
/// proxy's URL are sent to it as Basic authentication. `Debug` and errors never show them.
///
/// ```
/// use bsoap_http::{ClientOptions, Proxy};
///
/// let mut options = ClientOptions::default();   // `Proxy::Environment`
/// options.proxy = Proxy::url("http://jo:secret@proxy.example.com:3128", "localhost,10.0.0.0/8")?;
/// assert!(!format!("{options:?}").contains("secret"));
/// options.proxy = Proxy::Direct;
/// # Ok::<(), bsoap_http::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// Those in the environment variables `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, except for the hosts in `NO_PROXY`,
    /// as `curl` reads them, and for addresses of this machine (`localhost`, `127.0.0.0/8`, `::1`).
    #[default]
    Environment,
    /// None: connect to servers directly.
    Direct,
    /// This one. [`Proxy::url`] makes it.
    Url(ProxyUrl),
}

/// A proxy, and the hosts that it is not used for.
#[derive(Clone)]
pub struct ProxyUrl {
    url: String,
    except: String,
}

impl Proxy {
    /// The proxy at a URL such as `http://user:password@host:3128`, for all hosts but those in `except`: names (with their
    /// subdomains), addresses and networks with commas between them, as in `NO_PROXY`.
    ///
    /// # Errors
    /// [`ErrorKind::Proxy`] if it is not an `http` URL.
    pub fn url(url: &str, except: &str) -> Result<Self, Error> {
        let url = match url.contains("://") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        match url.parse::<Address>() {
            Ok(address) if !address.is_secure() => Ok(Self::Url(ProxyUrl {
                url,
                except: except.to_owned(),
            })),
            _ => Err(unsupported(&without_credentials(&url))),
        }
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyUrl")
            .field("url", &without_credentials(&self.url))
            .field("except", &self.except)
            .finish()
    }
}

fn unsupported(proxy: &str) -> Error {
    Error::new(ErrorKind::Proxy, proxy)
        .because("only HTTP proxies are supported, expected a URL such as http://host:3128")
}

/// Chooses the proxy for each address.
pub(super) struct Proxies {
    matcher: Option<Matcher>,
    reaches_this_machine: bool,
}

impl Proxies {
    pub(super) fn new(proxy: &Proxy) -> Self {
        let matcher = match proxy {
            Proxy::Environment => Some(Matcher::from_env()),
            Proxy::Direct => None,
            Proxy::Url(ProxyUrl { url, except }) => {
                let builder = Matcher::builder().all(url.as_str()).no(except.as_str());
                Some(builder.build())
            }
        };
        Self {
            matcher,
            reaches_this_machine: !matches!(proxy, Proxy::Environment),
        }
    }

    /// The proxy for a target. `None` means a direct connection.
    pub(super) fn proxy_for(&self, target: &Uri) -> Result<Option<Intercept>, Error> {
        if !self.reaches_this_machine && is_this_machine(target) {
            return Ok(None);
        }
        let proxy = self
            .matcher
            .as_ref()
            .and_then(|matcher| matcher.intercept(target));
        match proxy {
            Some(proxy) if proxy.uri().scheme_str() != Some("http") => {
                Err(unsupported(&proxy.uri().to_string()))
            }
            proxy => Ok(proxy),
        }
    }
}

fn is_this_machine(target: &Uri) -> bool {
    let host = target.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}
