//! Which layers a client has over its transport.

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "digest")]
use bsoap_http::Credentials;
use bsoap_http::{Address, Client, ClientOptions, Error};

use super::bearer::{Bearer, TokenSource};
use super::carrier::Carrier;
#[cfg(feature = "cookies")]
use super::cookies::Cookies;
#[cfg(feature = "digest")]
use super::digest::Digest;
use super::files::Recorder;
use super::http::HttpTransport;
use super::interface::Transport;
use super::layer::Wrap;
#[cfg(feature = "retry")]
use super::retry::{Retries, Retrying};

/// The transport of a client and the layers over it, before the client is built. Each client that is built has state of its own: no
/// token, nonce or cookie is shared.
#[derive(Clone, Default)]
pub(crate) struct Carrying {
    /// The program's own transport. `None` for HTTP.
    pub(crate) transport: Option<Arc<dyn Transport>>,
    /// The program's own layers.
    pub(crate) layers: Vec<Wrap>,
    pub(crate) authentication: Option<Authentication>,
    pub(crate) recording: Option<PathBuf>,
    #[cfg(feature = "cookies")]
    pub(crate) has_cookies: bool,
    #[cfg(feature = "retry")]
    pub(crate) retries: Option<Retries>,
}

/// Authentication that needs a layer.
#[derive(Clone)]
pub(crate) enum Authentication {
    #[cfg(feature = "digest")]
    Digest(Credentials),
    Bearer(Arc<dyn TokenSource>),
}

impl Carrying {
    /// The transport in its layers, of a client of an address. Plain HTTP has none.
    #[cfg_attr(not(feature = "cookies"), allow(unused_variables))]
    pub(crate) fn carrier(self, http: ClientOptions, address: &Address) -> Result<Carrier, Error> {
        let headers = http.headers.clone();
        if self.is_plain() {
            return Ok(Carrier::Http(Client::new(http)?));
        }
        let mut transport = match self.transport {
            Some(own) => own,
            None => Arc::new(HttpTransport(Client::new(http)?)),
        };
        #[cfg(feature = "cookies")]
        if self.has_cookies {
            transport = Arc::new(Cookies::new(transport, address, &headers));
        }
        transport = match self.authentication {
            #[cfg(feature = "digest")]
            Some(Authentication::Digest(it)) => Arc::new(Digest::new(transport, it)),
            Some(Authentication::Bearer(it)) => Arc::new(Bearer::new(transport, it)),
            None => transport,
        };
        if let Some(folder) = self.recording {
            transport = Arc::new(Recorder::new(transport, folder));
        }
        transport = self
            .layers
            .iter()
            .fold(transport, |inner, wrap| wrap(inner));
        #[cfg(feature = "retry")]
        if let Some(retries) = self.retries {
            transport = Arc::new(Retrying::new(transport, retries));
        }
        Ok(Carrier::Own { transport, headers })
    }

    fn is_plain(&self) -> bool {
        #[cfg(feature = "cookies")]
        if self.has_cookies {
            return false;
        }
        #[cfg(feature = "retry")]
        if self.retries.is_some() {
            return false;
        }
        self.transport.is_none()
            && self.layers.is_empty()
            && self.authentication.is_none()
            && self.recording.is_none()
    }
}
