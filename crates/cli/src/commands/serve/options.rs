//! The options of the server: limits, TLS, proxies.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bsoap::http::{Certificates, Identity};
use bsoap::tuning::{AddressRange, Budget, HealthPaths, ServerOptions, WorkBudget};

use crate::error::Failure;
use crate::message_limits::size;

/// Limits, TLS and proxies of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct ServerArguments {
    #[command(flatten)]
    tls: TlsArguments,
    /// The maximum number of open connections; for one more, the slowest idle one is closed
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_connections: Option<usize>,
    /// The same for each address (and /64 network)
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_connections_per_address: Option<usize>,
    /// The maximum number of requests a second from one address; more are answered with 429
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_requests_per_second: Option<u32>,
    /// The memory of messages, such as 512M or 2G: three quarters for those in work, a quarter for saved ones. Requests that need
    /// more are answered with 503 (default: a quarter of what there is for those in work, 256M for saved ones)
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Limits")]
    max_memory: Option<u64>,
    /// The maximum length of a request in bytes, such as 64M (the default)
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Limits")]
    max_body: Option<u64>,
    /// The time in seconds that requests have to end when the server is stopped
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        help_heading = "Limits"
    )]
    shutdown_timeout: u64,
    /// A proxy whose Forwarded or X-Forwarded-For headers are believed: an address or a range such as 10.0.0.0/8
    #[arg(long, value_name = "RANGE", help_heading = "Behind a proxy")]
    trusted_proxy: Vec<AddressRange>,
    /// The trusted proxies send the PROXY protocol at the start of each connection
    #[arg(long, requires = "trusted_proxy", help_heading = "Behind a proxy")]
    proxy_protocol: bool,
    /// The address that clients use, such as https://example.com, for the published WSDL
    #[arg(long, value_name = "URL", help_heading = "Behind a proxy")]
    public_address: Option<String>,
    /// Answer at /livez and /readyz, for load balancers
    #[arg(long, help_heading = "Behind a proxy")]
    health: bool,
}

/// The certificates of a server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct TlsArguments {
    /// Serve HTTPS with this certificate (PEM, followed by those that lead to the root); read again at SIGHUP
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        help_heading = "HTTPS"
    )]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "HTTPS"
    )]
    tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate of one of these authorities (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "HTTPS"
    )]
    client_ca: Option<PathBuf>,
}

impl ServerArguments {
    /// The options of the server.
    ///
    /// # Errors
    /// If a certificate or key cannot be read.
    pub(super) fn options(&self) -> Result<ServerOptions, Failure> {
        let mut options = ServerOptions::default();
        if let Some(max) = self.max_connections {
            options.max_connections = max;
        }
        if let Some(max) = self.max_body {
            options.max_body = max;
        }
        if let Some(bytes) = self.max_memory {
            options.work = WorkBudget::new(bytes - bytes / 4);
        }
        options.max_connections_per_address = self.max_connections_per_address;
        options.max_requests_per_second = self.max_requests_per_second;
        options.shutdown_timeout = Duration::from_secs(self.shutdown_timeout);
        options.trusted_proxies.clone_from(&self.trusted_proxy);
        options.proxy_protocol = self.proxy_protocol;
        options.public_address.clone_from(&self.public_address);
        options.health = self.health.then(HealthPaths::default);
        options.identity = self.tls.identity()?;
        options.client_authorities = self.tls.client_authorities()?;
        Ok(options)
    }

    /// The memory of saved messages. `None` if it is that of the process.
    pub(super) fn saved(&self) -> Option<Budget> {
        let quarter = self.max_memory? / 4;
        Some(Budget::new(usize::try_from(quarter).unwrap_or(usize::MAX)))
    }

    pub(super) fn tls(&self) -> &TlsArguments {
        &self.tls
    }
}

impl TlsArguments {
    fn identity(&self) -> Result<Option<Identity>, Failure> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                let certificate = read("--tls-cert", certificate)?;
                Ok(Some(Identity::new(certificate, read("--tls-key", key)?)))
            }
            _ => Ok(None),
        }
    }

    fn client_authorities(&self) -> Result<Option<Vec<u8>>, Failure> {
        let file = self.client_ca.as_ref();
        file.map(|file| read("--client-ca", file)).transpose()
    }

    /// Reads the files again, and replaces the certificates of the server.
    pub(super) fn reload(&self, certificates: &Certificates) -> Result<(), Failure> {
        let Some(identity) = self.identity()? else {
            return Ok(());
        };
        let authorities = self.client_authorities()?;
        let replaced = certificates.replace(&identity, authorities.as_deref());
        replaced.map_err(|error| bsoap::Error::from(error).into())
    }
}

fn read(option: &str, file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::input(format!("cannot read {} ({option})", file.display())).because(error)
    })
}
