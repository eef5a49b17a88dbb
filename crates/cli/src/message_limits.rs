//! `--limit` and `--attachment-limit`: what received messages cannot exceed, and which of these options an error asks for.

use bsoap::attachments::{Attachments, PackageLimits};
use bsoap::protocol::HeaderLimits;
use bsoap::{ExceededLimit, Limited};
use bsoap_codec::{DecodeOptions, MAX_DEPTH};

/// The limits of received messages.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Another limit of received messages, by the name that the error has, such as text_length=1000000000; may be given several times
    #[arg(long, value_name = "NAME=N", value_parser = message_limit)]
    limit: Vec<(String, u64)>,
}

impl LimitArguments {
    /// How messages are decoded.
    pub(crate) fn decoding(&self, mut options: DecodeOptions) -> DecodeOptions {
        for (name, value) in &self.limit {
            options.set_limit(name, *value);
        }
        options
    }

    /// How large the Header of a message may be.
    pub(crate) fn header(&self) -> HeaderLimits {
        let mut limits = HeaderLimits::default();
        for (name, value) in &self.limit {
            limits.set(name, *value);
        }
        limits
    }
}

/// The limits of received packages.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct PackageLimitArguments {
    /// Another limit of received messages with attachments, by the name that the error has, such as parts=500; may be given several
    /// times
    #[arg(long, value_name = "NAME=N", value_parser = package_limit)]
    attachment_limit: Vec<(String, u64)>,
}

impl PackageLimitArguments {
    /// Attachments with these limits.
    pub(crate) fn applied(&self, attachments: Attachments) -> Attachments {
        let mut limits = PackageLimits::default();
        for (name, value) in &self.attachment_limit {
            limits.set(name, *value);
        }
        attachments.limits(limits)
    }
}

/// A limit of messages: its name and its value.
fn message_limit(given: &str) -> Result<(String, u64), String> {
    let is_known = |name: &str, value| {
        DecodeOptions::default().set_limit(name, value) || HeaderLimits::default().set(name, value)
    };
    let names = [&DecodeOptions::LIMITS[..], &HeaderLimits::NAMES].concat();
    match limit(given, is_known, &names)? {
        (name, value) if name == "depth" && value > MAX_DEPTH as u64 => Err(format!(
            "the limit depth is at most {MAX_DEPTH}: values nest no deeper"
        )),
        limit => Ok(limit),
    }
}

/// A limit of packages: its name and its value.
fn package_limit(given: &str) -> Result<(String, u64), String> {
    let is_known = |name: &str, value| PackageLimits::default().set(name, value);
    limit(given, is_known, &PackageLimits::NAMES)
}

/// `NAME=N`, with a name that is known.
pub(crate) fn limit(
    given: &str,
    is_known: impl Fn(&str, u64) -> bool,
    names: &[&str],
) -> Result<(String, u64), String> {
    let expected = || format!("expected NAME=N with one of {}", names.join(", "));
    let (name, value) = given.split_once('=').ok_or_else(expected)?;
    let value = value.parse().map_err(|_| expected())?;
    match is_known(name, value) {
        true => Ok((name.to_owned(), value)),
        false => Err(expected()),
    }
}

/// A number of bytes, with K, M or G for multiples of 1024.
pub(crate) fn size(given: &str) -> Result<u64, String> {
    let (number, shift) = match given.to_ascii_uppercase().trim_end_matches('B') {
        text if text.ends_with('K') => (text[..text.len() - 1].to_owned(), 10),
        text if text.ends_with('M') => (text[..text.len() - 1].to_owned(), 20),
        text if text.ends_with('G') => (text[..text.len() - 1].to_owned(), 30),
        text => (text.to_owned(), 0),
    };
    let bytes = number.parse::<u64>().ok();
    bytes
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "expected a number of bytes such as 1000000, 512M or 2G".to_owned())
}

/// The option that raises a limit. `None` if none does.
pub(crate) fn option_for(exceeded: ExceededLimit) -> Option<String> {
    let name = exceeded.name;
    match exceeded.of {
        _ if !exceeded.can_be_raised => None,
        Limited::Message => Some(format!("--limit {name}=N")),
        // The message in a package is no longer than one without a package.
        Limited::Package if name == "root_bytes" => Some(
            "--attachment-limit root_bytes=N, with as much for --max-body or --max-response,"
                .into(),
        ),
        Limited::Package => Some(format!("--attachment-limit {name}=N")),
        // An error of loading names its option itself.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_given_by_their_names() {
        assert_eq!(message_limit("depth=9"), Ok(("depth".to_owned(), 9)));
        let problem = message_limit("depth=500").expect_err("values nest no deeper");
        assert_eq!(
            problem,
            "the limit depth is at most 256: values nest no deeper"
        );
        assert!(message_limit("header_blocks=9").is_ok());
        for wrong in ["depth", "depth=x", "depth=-1", "dept=9", "parts=9"] {
            let problem = message_limit(wrong).expect_err(wrong);
            assert!(problem.contains("reference_expansion, omitted_items, header_blocks"));
        }
        assert!(package_limit("parts=9").is_ok());
        assert!(package_limit("depth=9").is_err());
    }

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in [
            ("1000", Some(1000)),
            ("64K", Some(64 << 10)),
            ("512m", Some(512 << 20)),
            ("2GB", Some(2 << 30)),
            ("0", None),
            ("-1", None),
            ("M", None),
            ("99999999999G", None),
        ] {
            assert_eq!(size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn the_option_for_a_limit_has_its_name() {
        let option = |reason| ExceededLimit::of_reason(reason).and_then(option_for);
        let found = option("the limit `depth` (2) is exceeded");
        assert_eq!(found.as_deref(), Some("--limit depth=N"));
        assert_eq!(option("the limit `depth` (256) is exceeded"), None);
        let found = option("the MIME package exceeds the limit `parts` (101 parts) at byte 9");
        assert_eq!(found.as_deref(), Some("--attachment-limit parts=N"));
        assert_eq!(option("the load limit `depth` (256) is exceeded"), None);
        assert_eq!(option("the limit `other` (256) is exceeded"), None);
        assert_eq!(option("\"the limit `depth` (2)\" is not a xs:int"), None);
    }
}
