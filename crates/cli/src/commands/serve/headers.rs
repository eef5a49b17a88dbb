//! Header blocks of a service: which ones it reads, which ones it understands, and WS-Addressing.

use bsoap::ServiceBuilder;
use bsoap::addressing::{AddressingPolicy, hosts};
use bsoap::protocol::Name;

use crate::error::Failure;

/// The options for header blocks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Header blocks")]
pub(super) struct HeaderArguments {
    /// A role (actor in SOAP 1.1) that the service plays, such as urn:audit: header blocks for it are read, and their mustUnderstand
    /// counts; may be given several times
    #[arg(long, value_name = "URI")]
    role: Vec<String>,
    /// A header block that the service understands though the WSDL does not declare it; may be given several times
    #[arg(long, value_name = "{NAMESPACE}NAME")]
    understands: Vec<Name>,
    /// Understand the header blocks of WS-Addressing and answer with them: on (also without a value; the WSDL says whether
    /// requests must have them), required, which refuses requests without them, or off (default: what the WSDL says)
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    addressing: Option<Addressing>,
    /// A host that answers may be sent to by WS-Addressing, as replies.example.com:8080, or without a port for all of its ports;
    /// may be given several times (default: none)
    #[arg(long, value_name = "HOST", value_parser = host)]
    allow_replies_to: Vec<String>,
    /// An address that the header To of WS-Addressing may have; may be given several times (default: any address)
    #[arg(long, value_name = "URL")]
    serving: Vec<String>,
}

/// When WS-Addressing is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Addressing {
    On,
    Required,
    Off,
}

impl HeaderArguments {
    /// A service with these options.
    ///
    /// # Errors
    /// If options contradict each other.
    pub(super) fn applied(&self, mut builder: ServiceBuilder) -> Result<ServiceBuilder, Failure> {
        for role in &self.role {
            builder = builder.playing(role);
        }
        for name in &self.understands {
            builder = builder.understanding(&*name.namespace, &*name.local);
        }
        let has_addresses = !self.allow_replies_to.is_empty() || !self.serving.is_empty();
        match self.addressing {
            Some(Addressing::Off) if has_addresses => Err(Failure::usage(
                "--allow-replies-to and --serving need WS-Addressing, but --addressing=off switches it off",
            )),
            Some(Addressing::Off) => Ok(builder.without_addressing()),
            None if !has_addresses => Ok(builder),
            _ => Ok(builder.addressing(self.policy())),
        }
    }

    fn policy(&self) -> AddressingPolicy {
        let mut policy = AddressingPolicy::new().allowing(hosts(&self.allow_replies_to));
        let is_required = self.addressing == Some(Addressing::Required);
        policy.is_required = is_required.then_some(true);
        let ours = self.serving.clone();
        match ours.is_empty() {
            true => policy,
            false => policy.serving(move |to| ours.iter().any(|own| own == to)),
        }
    }
}

/// A host, or a host and its port.
fn host(given: &str) -> Result<String, String> {
    let (name, port) = given.rsplit_once(':').unwrap_or((given, "1"));
    // An IPv6 address is in brackets.
    let is_bare = given.starts_with('[') && given.ends_with(']');
    let is_host = !name.is_empty() && !given.contains(['/', '@', '?', '#']);
    match is_host && (is_bare || port.parse::<u16>().is_ok()) {
        true => Ok(given.to_owned()),
        false => Err("expected HOST or HOST:PORT, such as replies.example.com:8080".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_no_url() {
        for right in ["a.example", "a.example:80", "[::1]", "[::1]:80"] {
            assert!(host(right).is_ok(), "{right}");
        }
        for wrong in ["", ":80", "http://a.example", "a.example/x", "a:b", "b@a"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }
}
