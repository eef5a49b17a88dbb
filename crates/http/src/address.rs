//! The type of `http` and `https` addresses.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use hyper::Uri;
#[cfg(feature = "client")]
use hyper::header::HeaderValue;
use hyper::header::{self, HeaderMap};
use iri_string::types::IriReferenceStr;
#[cfg(feature = "client")]
use iri_string::{resolve::FixedBaseResolver, types::IriAbsoluteStr};

use crate::{Error, ErrorKind};

/// An `http` or `https` address. User and password in it are stored separately and sent as Basic authentication. Spaces and
/// characters outside ASCII are percent-encoded, except in the host, whose name must be in its ASCII form (`xn--…`).
///
/// ```
/// use bsoap_http::Address;
///
/// let address: Address = "http://jo:secret@Example.com:80/my mesh".parse()?;
/// assert_eq!(address.as_str(), "http://example.com/my%20mesh");
/// assert!("ftp://example.com/".parse::<Address>().is_err());
/// # Ok::<(), bsoap_http::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Address {
    /// Scheme, host and port in lower case, without the scheme's default port; path and query.
    text: String,
    /// The length of scheme, host and port.
    origin: usize,
    uri: Uri,
    credentials: Option<Credentials>,
}

impl Address {
    /// The address, without credentials and fragment.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path of the address. It is at least `/`.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// True if the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The credentials that the URL contained.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// The address as a URI, without its credentials.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Scheme, host and port. (RFC 6454 §5)
    pub(crate) fn origin(&self) -> &str {
        &self.text[..self.origin]
    }

    /// True if both addresses have the same scheme, host and port. (RFC 6454 §5)
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.origin() == other.origin()
    }

    /// Resolves a reference relative to this address. Credentials are dropped if the origin changes. `None` if the result is
    /// not an `http` or `https` address.
    #[cfg(feature = "client")]
    pub(crate) fn join(&self, reference: &str) -> Option<Self> {
        let reference = spaces_encoded(reference);
        let reference = IriReferenceStr::new(&reference).ok()?;
        let base = IriAbsoluteStr::new(&self.text).ok()?;
        let joined = FixedBaseResolver::new(base).resolve(reference).to_string();
        let mut joined = Self::parse(&joined).ok()?;
        joined.credentials = self
            .credentials
            .clone()
            .filter(|_| joined.is_same_origin(self));
        Some(joined)
    }

    /// The address in a text. The error may say what is wrong with it.
    fn parse(text: &str) -> Result<Self, Option<&'static str>> {
        if !text.contains("://") {
            return Err(Some("it does not begin with http:// or https://"));
        }
        let text = spaces_encoded(text);
        let iri =
            IriReferenceStr::new(&text).map_err(|_| Some("it has characters that no URL has"))?;
        let scheme = iri.scheme_str().map(str::to_ascii_lowercase);
        let default_port = match scheme.as_deref() {
            Some("http") => "80",
            Some("https") => "443",
            _ => return Err(None),
        };
        let authority = iri.authority_components().ok_or(None)?;
        let host = authority.host();
        if host.is_empty() {
            return Err(None);
        }
        if !host.is_ascii() || host.contains('%') {
            return Err(Some(
                "its host has characters outside ASCII: write it in its ASCII form (xn--…)",
            ));
        }
        let mut text = format!(
            "{}://{}",
            scheme.unwrap_or_default(),
            host.to_ascii_lowercase()
        );
        if let Some(port) = authority.port().map(|port| port.trim_start_matches('0'))
            && !port.is_empty()
            && port != default_port
        {
            port.parse::<u16>()
                .map_err(|_| Some("its port is above 65535"))?;
            text = format!("{text}:{port}");
        }
        let origin = text.len();
        let path = match iri.path_str() {
            "" => "/",
            path => path,
        };
        text.push_str(&percent_encoded(path));
        if let Some(query) = iri.query_str() {
            text.push('?');
            text.push_str(&percent_encoded(query));
        }
        let uri = text.parse().map_err(|_| Some("it is not valid in HTTP"))?;
        let credentials = authority.userinfo().map(|userinfo| {
            let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
            Credentials {
                user: percent_decoded(user),
                password: percent_decoded(password),
            }
        });
        Ok(Self {
            text,
            origin,
            uri,
            credentials: credentials
                .filter(|pair| !pair.user.is_empty() || !pair.password.is_empty()),
        })
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text.trim()).map_err(|reason| {
            let error = Error::new(ErrorKind::Address, without_credentials(text));
            match reason {
                Some(reason) => error.because(reason),
                None => error,
            }
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// User name and password for Basic authentication. `Debug` never shows the password.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: String,
}

impl Credentials {
    /// The credentials of a user.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
        }
    }

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

/// A text with its spaces percent-encoded. URLs in documents often have some.
fn spaces_encoded(text: &str) -> String {
    text.replace(' ', "%20")
}

/// A text with its characters outside ASCII percent-encoded. (RFC 3987 §3.1)
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            encoded.push(character);
        } else {
            for octet in character.encode_utf8(&mut [0; 4]).bytes() {
                encoded.push_str(&format!("%{octet:02X}"));
            }
        }
    }
    encoded
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
        let address = address("https://a%40b:p%3Aw%25@example.com:8443/x?y#z");
        assert_eq!(address.as_str(), "https://example.com:8443/x?y");
        let credentials = address.credentials().expect("credentials");
        assert_eq!(
            (credentials.user.as_str(), credentials.password.as_str()),
            ("a@b", "p:w%")
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
    fn addresses_are_written_in_one_way_and_join_as_the_rfc_says() {
        for (text, written) in [
            (" HTTP://EXAMPLE.com:80 ", "http://example.com/"),
            ("https://example.com:0443?wsdl", "https://example.com/?wsdl"),
            ("http://[::1]:8080/a/../b#c", "http://[::1]:8080/a/../b"),
            (
                "http://h/Grüße an?x=é",
                "http://h/Gr%C3%BC%C3%9Fe%20an?x=%C3%A9",
            ),
            ("http://h/%7Ea", "http://h/%7Ea"),
        ] {
            assert_eq!(address(text).as_str(), written, "{text:?}");
        }
        assert!(address("http://h:80/x").is_same_origin(&address("http://H/y")));
        #[cfg(feature = "client")]
        for (reference, joined) in [
            ("../c d?e#f", "http://h/c%20d?e"),
            ("/c", "http://h/c"),
            ("?x", "http://h/a/b?x"),
            ("//other/c", "http://other/c"),
            ("https://h/", "https://h/"),
        ] {
            let base = address("http://h/a/b");
            assert_eq!(
                base.join(reference).expect("joined").as_str(),
                joined,
                "{reference:?}"
            );
        }
        let error = "http://grüße.example/"
            .parse::<Address>()
            .expect_err("no ASCII host");
        let source = std::error::Error::source(&error).expect("a reason");
        assert!(source.to_string().contains("xn--"), "{source}");
    }

    #[test]
    fn only_http_urls_with_a_host_are_addresses() {
        for text in [
            "",
            "mesh",
            "file:///x",
            "http://",
            "http:/x",
            "http://:80/",
            "http://h:65536/",
            "http://h/a|b",
            "mailto:a@b",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text:?}");
        }
    }
}
