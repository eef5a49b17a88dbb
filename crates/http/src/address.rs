//! The type of `http` and `https` addresses.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
#[cfg(feature = "client")]
use hyper::Uri;
#[cfg(feature = "client")]
use hyper::header::HeaderValue;
use hyper::header::{self, HeaderMap};
use url::Url;

use crate::{Error, ErrorKind};

/// An `http` or `https` address. User and password in it are stored separately and sent as Basic authentication.
///
/// ```
/// use bsoap_http::Address;
///
/// let address: Address = "http://jo:secret@example.com/mesh".parse()?;
/// assert_eq!(address.as_str(), "http://example.com/mesh");
/// assert!("ftp://example.com/".parse::<Address>().is_err());
/// # Ok::<(), bsoap_http::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address {
    url: Url,
    #[cfg(feature = "client")]
    uri: Uri,
    credentials: Option<Credentials>,
}

impl Address {
    /// The address, without credentials and fragment.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The path of the address. It is at least `/`.
    pub fn path(&self) -> &str {
        self.url.path()
    }

    /// True if the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The credentials that the URL contained.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    #[cfg(feature = "client")]
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// True if both addresses have the same scheme, host and port. (RFC 6454 §5)
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.url.origin() == other.url.origin()
    }

    /// Resolves a reference relative to this address. Credentials are dropped if the origin changes. `None` if the result is
    /// not an `http` or `https` address.
    #[cfg(feature = "client")]
    pub(crate) fn join(&self, reference: &str) -> Option<Self> {
        let mut joined = Self::from_url(self.url.join(reference).ok()?)?;
        joined.credentials = self
            .credentials
            .clone()
            .filter(|_| joined.is_same_origin(self));
        Some(joined)
    }

    fn from_url(mut url: Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return None;
        }
        let credentials =
            (!url.username().is_empty() || url.password().is_some()).then(|| Credentials {
                user: percent_decoded(url.username()),
                password: percent_decoded(url.password().unwrap_or_default()),
            });
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        url.set_fragment(None);
        #[cfg(feature = "client")]
        let uri = url.as_str().parse().ok()?;
        Some(Self {
            url,
            #[cfg(feature = "client")]
            uri,
            credentials,
        })
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error = || Error::new(ErrorKind::Address, without_credentials(text));
        let url = Url::parse(text.trim()).map_err(|source| error().because(source))?;
        Self::from_url(url).ok_or_else(error)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// User name and password for Basic authentication. `Debug` never shows the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl Credentials {
    /// The credentials in the headers of a request. They are not checked. `None` if there are none. (RFC 7617)
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, encoded) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let pair = base64::engine::general_purpose::STANDARD.decode(encoded.trim());
        let pair = String::from_utf8(pair.ok()?).ok()?;
        let (user, password) = pair.split_once(':')?;
        Some(Self {
            user: user.to_owned(),
            password: password.to_owned(),
        })
    }

    /// The value of the `Authorization` header: `Basic`, and user name and password in base64. (RFC 7617)
    #[cfg(feature = "client")]
    pub(crate) fn header(&self) -> HeaderValue {
        let pair = format!("{}:{}", self.user, self.password);
        let encoded = format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(pair)
        );
        let mut value = HeaderValue::try_from(encoded).expect("base64 is visible ASCII");
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Removes the part of a text that may be a password. The text may be an invalid URL.
pub(crate) fn without_credentials(text: &str) -> String {
    let start = text.find("//").map_or(0, |slashes| slashes + 2);
    let end = text[start..]
        .find(['/', '?', '#'])
        .map_or(text.len(), |end| start + end);
    match text[start..end].rfind('@') {
        Some(at) => format!("{}{}", &text[..start], &text[start + at + 1..]),
        None => text.to_owned(),
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let escape = (*first == b'%').then(|| tail.get(..2)).flatten();
        let octet = escape
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match octet {
            Some(octet) => {
                decoded.push(octet);
                rest = &tail[2..];
            }
            None => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse().expect("an address")
    }

    #[test]
    fn credentials_leave_the_address_and_are_percent_decoded() {
        let address = address("https://a%40b:p%3Aw%zz@example.com:8443/x?y#z");
        assert_eq!(address.as_str(), "https://example.com:8443/x?y");
        let credentials = address.credentials().expect("credentials");
        assert_eq!(
            (credentials.user.as_str(), credentials.password.as_str()),
            ("a@b", "p:w%zz")
        );
        assert!(!format!("{address:?}").contains("p:w"));
    }

    #[test]
    fn a_password_in_an_invalid_address_is_not_shown() {
        for text in [
            "ftp://jo:secret@example.com/x",
            "http://jo:secret@exa mple.com",
            "jo:secret@example.com",
            "http://jo:sec@ret@",
        ] {
            let error = text.parse::<Address>().expect_err("no address");
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("sec"), "{shown}");
        }
        let error = "ftp://example.com/a@b".parse::<Address>().expect_err("ftp");
        assert_eq!(error.place(), "ftp://example.com/a@b");
    }

    #[test]
    #[cfg(feature = "client")]
    fn credentials_follow_only_within_the_origin() {
        let home = address("http://u:p@example.com/a/b");
        assert!(home.join("../c").expect("joined").credentials().is_some());
        for abroad in [
            "https://example.com/",
            "http://example.com:81/",
            "http://example.org/",
        ] {
            assert!(
                home.join(abroad).expect("joined").credentials().is_none(),
                "{abroad}"
            );
        }
        assert!(home.join("file:///etc/passwd").is_none());
    }

    #[test]
    fn only_http_urls_with_a_host_are_addresses() {
        for text in ["", "mesh", "file:///x", "http://", "mailto:a@b"] {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }
}
