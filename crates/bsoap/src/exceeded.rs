//! Which limit an error is about.

use std::error::Error as StdError;

use bsoap_codec::graph::{GraphError, GraphErrorKind};
use bsoap_codec::{BuildError, BuildErrorKind, DecodeOptions, SampleTooLarge, TreeError};
use bsoap_codec::{MAX_DEPTH, decode, encode};
use bsoap_protocol::HeaderLimits;
use bsoap_protocol::package::PackageLimits;

/// A limit that was exceeded. What an error quotes of a message is never taken for one.
///
/// ```
/// use bsoap::{Client, Limited};
/// use bsoap::schema::LoadLimits;
///
/// let mut limits = LoadLimits::default();
/// limits.bytes = 1000;
/// let wsdl = bsoap::Wsdl::from(include_str!("../../../examples/mesh/mesh.wsdl")).limits(limits);
/// let exceeded = Client::from_wsdl(wsdl).unwrap_err().exceeded_limit().unwrap();
/// assert_eq!((exceeded.of, exceeded.name), (Limited::Loading, "bytes"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExceededLimit {
    /// What is limited.
    pub of: Limited,
    /// The name of the limit, as the options have it that set it.
    pub name: &'static str,
    /// Whether an option can raise it.
    pub can_be_raised: bool,
}

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// A received message: a limit of [`DecodeOptions`](crate::codec::DecodeOptions), or of
    /// [`HeaderLimits`](crate::protocol::HeaderLimits).
    Message,
    /// A message with attachments: a limit of [`PackageLimits`](crate::attachments::PackageLimits).
    Package,
    /// The loading of a WSDL: a limit of [`LoadLimits`](crate::schema::LoadLimits).
    Loading,
    /// Values that are to be sent, or that a received message becomes. No option sets these limits.
    Values,
}

impl ExceededLimit {
    /// The limit that an error or one of its causes is about. `None` if it is not about one.
    pub fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(exceeded) = Self::of_one(error) {
                return Some(exceeded);
            }
            next = error.source();
        }
        None
    }

    /// The limit that the reason of a refusal begins with: services give the reason as text, as in
    /// [`Refusal`](crate::http::Refusal). `None` if it begins otherwise.
    ///
    /// ```
    /// use bsoap::ExceededLimit;
    ///
    /// let exceeded = ExceededLimit::of_reason("the limit `depth` (9) is exceeded").unwrap();
    /// assert_eq!(exceeded.name, "depth");
    /// assert_eq!(ExceededLimit::of_reason("\"the limit `depth` (9)\" is no xs:int"), None);
    /// ```
    pub fn of_reason(reason: &str) -> Option<Self> {
        let of_package = reason.strip_prefix("the MIME package exceeds ");
        let rest = of_package.unwrap_or(reason).strip_prefix("the limit `")?;
        let (name, rest) = rest.split_once('`')?;
        let known = |names: &[&'static str]| names.iter().copied().find(|known| *known == name);
        if of_package.is_some() {
            return known(&PackageLimits::NAMES).map(|name| Self::new(Limited::Package, name));
        }
        let name = known(&DecodeOptions::LIMITS).or_else(|| known(&HeaderLimits::NAMES))?;
        let value = rest
            .strip_prefix(" (")
            .and_then(|rest| rest.split_once(')'));
        let value = value.and_then(|(value, _)| value.parse().ok());
        Some(Self::of_message(name, value.unwrap_or_default()))
    }

    /// The limit that an error is about, without its causes.
    fn of_one(error: &(dyn StdError + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<decode::Error>() {
            return Self::of_decoding(error.kind());
        }
        if let Some(error) = error.downcast_ref::<bsoap_protocol::Error>() {
            return match error.kind() {
                bsoap_protocol::ErrorKind::HeaderLimit { name, limit, .. } => {
                    Some(Self::of_message(name, *limit as u64))
                }
                _ => None,
            };
        }
        if let Some(error) = error.downcast_ref::<bsoap_schema::Error>() {
            return match error.kind() {
                bsoap_schema::ErrorKind::Limit { name, .. } => {
                    Some(Self::new(Limited::Loading, name))
                }
                _ => None,
            };
        }
        #[cfg(feature = "http")]
        if let Some(refused) = error.downcast_ref::<bsoap_http::BodyRefusal>() {
            return Self::of_reason(&refused.reason);
        }
        Self::of_values(error).map(|name| Self::new(Limited::Values, name))
    }

    fn of_decoding(kind: &decode::ErrorKind) -> Option<Self> {
        match kind {
            decode::ErrorKind::Limit { name, limit } => Some(Self::of_message(name, *limit)),
            decode::ErrorKind::Xml(error) => match error.kind() {
                bsoap_xml::ErrorKind::Limit { name, limit } => Some(Self::of_message(name, *limit)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The name of the limit that values exceed.
    fn of_values(error: &(dyn StdError + 'static)) -> Option<&'static str> {
        if let Some(error) = error.downcast_ref::<GraphError>() {
            return match error.kind {
                GraphErrorKind::Expansion(_) => Some("reference_expansion"),
                GraphErrorKind::Depth => Some("depth"),
                _ => None,
            };
        }
        if let Some(error) = error.downcast_ref::<encode::Error>() {
            return matches!(error.kind(), encode::ErrorKind::Depth(_)).then_some("depth");
        }
        if let Some(error) = error.downcast_ref::<BuildError>() {
            return match error.kind() {
                BuildErrorKind::Filled { .. } => Some("filled_bytes"),
                BuildErrorKind::Depth(_) => Some("depth"),
                _ => None,
            };
        }
        if let Some(error) = error.downcast_ref::<SampleTooLarge>() {
            return Some(error.limit);
        }
        let tree = error.downcast_ref::<TreeError>()?;
        matches!(tree, TreeError::Depth).then_some("depth")
    }

    fn new(of: Limited, name: &'static str) -> Self {
        Self {
            of,
            name,
            can_be_raised: of != Limited::Values,
        }
    }

    fn of_message(name: &'static str, limit: u64) -> Self {
        // Values nest no deeper than messages by default.
        let is_highest = name == "depth" && limit >= MAX_DEPTH as u64;
        Self {
            can_be_raised: !is_highest,
            ..Self::new(Limited::Message, name)
        }
    }
}
