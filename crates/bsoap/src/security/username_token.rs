//! The UsernameToken: a user name with a password or its digest. (Web Services Security UsernameToken Profile 1.1)

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use ring::rand::{SecureRandom, SystemRandom};

use crate::Error;

/// The types of passwords and the encoding of the nonce begin with these.
const PROFILE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0";
const BASE64: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary";

/// The number of random bytes in a nonce.
const NONCE_BYTES: usize = 16;

/// A user name and a password that a client sends with each message as a WS-Security `UsernameToken`, in a header block with
/// `mustUnderstand`. Each message has a new nonce and time.
///
/// ```
/// use bsoap::{Client, security::UsernameToken};
///
/// let client = Client::builder("examples/mesh/mesh.wsdl")
///     .username_token(UsernameToken::digest("admin", "secret"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct UsernameToken {
    user: String,
    password: String,
    kind: PasswordKind,
    has_nonce: bool,
    offset: Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasswordKind {
    Text,
    Digest,
}

/// How the peer's clock differs from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    Ahead(Duration),
    Behind(Duration),
}

impl UsernameToken {
    /// Sends the password as it is. Use it over HTTPS only.
    pub fn text(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(user.into(), password.into(), PasswordKind::Text, false)
    }

    /// Sends the SHA-1 digest of a nonce, the time and the password, as ONVIF cameras ask for. The peer refuses it if its clock
    /// differs much from ours: see [`clock_ahead`](Self::clock_ahead).
    pub fn digest(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(user.into(), password.into(), PasswordKind::Digest, true)
    }

    fn new(user: String, password: String, kind: PasswordKind, has_nonce: bool) -> Self {
        Self {
            user,
            password,
            kind,
            has_nonce,
            offset: Offset::Ahead(Duration::ZERO),
        }
    }

    /// Also sends a nonce and the time with a password as text. A digest always has them.
    pub fn with_nonce(mut self) -> Self {
        self.has_nonce = true;
        self
    }

    /// The peer's clock is ahead of ours by this time, which is added to the times sent.
    pub fn clock_ahead(mut self, time: Duration) -> Self {
        self.offset = Offset::Ahead(time);
        self
    }

    /// The peer's clock is behind ours by this time, which is subtracted from the times sent.
    pub fn clock_behind(mut self, time: Duration) -> Self {
        self.offset = Offset::Behind(time);
        self
    }

    /// Checks that the user name and the password can be represented in XML.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, text) in [("user name", &self.user), ("password", &self.password)] {
            let is_sent = what == "user name" || self.kind == PasswordKind::Text;
            if is_sent && !text.chars().all(is_xml) {
                return Err(format!(
                    "the {what} of the UsernameToken has a character that XML cannot represent"
                ));
            }
        }
        Ok(())
    }

    /// The element for a message that is sent now, with a random nonce.
    pub(crate) fn element(&self) -> Result<String, Error> {
        let mut nonce = [0; NONCE_BYTES];
        let filled = SystemRandom::new().fill(&mut nonce);
        filled.map_err(|_| Error::Setup("the system has no random numbers".into()))?;
        let now = SystemTime::now();
        let shifted = match self.offset {
            Offset::Ahead(time) => now.checked_add(time),
            Offset::Behind(time) => now.checked_sub(time),
        };
        let since = shifted.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let since = since.ok_or_else(|| {
            Error::Setup("the time of the UsernameToken is before 1970 or too late".into())
        })?;
        Ok(self.element_of(&nonce, &timestamp(since)))
    }

    /// The element with this nonce and this time.
    fn element_of(&self, nonce: &[u8], created: &str) -> String {
        let user = escaped(&self.user);
        let (kind, password) = match self.kind {
            PasswordKind::Text => ("PasswordText", escaped(&self.password)),
            PasswordKind::Digest => (
                "PasswordDigest",
                password_digest(nonce, created, &self.password),
            ),
        };
        let mut element = format!(
            "<wsse:UsernameToken><wsse:Username>{user}</wsse:Username><wsse:Password Type=\"{PROFILE}#{kind}\">{password}</wsse:Password>"
        );
        if self.has_nonce {
            let nonce = BASE64_STANDARD.encode(nonce);
            element.push_str(&format!(
                "<wsse:Nonce EncodingType=\"{BASE64}\">{nonce}</wsse:Nonce><wsu:Created>{created}</wsu:Created>"
            ));
        }
        element.push_str("</wsse:UsernameToken>");
        element
    }
}

/// Base64(SHA-1(nonce + created + password)).
fn password_digest(nonce: &[u8], created: &str, password: &str) -> String {
    let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    for part in [nonce, created.as_bytes(), password.as_bytes()] {
        digest.update(part);
    }
    BASE64_STANDARD.encode(digest.finish())
}

/// A time since 1970 as an `xs:dateTime` in UTC, in milliseconds.
fn timestamp(since: Duration) -> String {
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The date of a day since 1970. Years are counted from March, so that the leap day is the last one of a year.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day)
}

fn is_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Leaves out the password.
impl fmt::Debug for UsernameToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsernameToken")
            .field("user", &self.user)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_onvif_programmers_guide() {
        let nonce = BASE64_STANDARD
            .decode("LKqI6G/AikKCQrN0zqZFlg==")
            .expect("base64");
        assert_eq!(
            password_digest(&nonce, "2010-09-16T07:50:45Z", "userpassword"),
            "tuOSpGlFlIXsozq4HFNeeGeFLEI="
        );
    }

    #[test]
    fn names_are_escaped_and_what_xml_cannot_carry_is_refused() {
        let token = UsernameToken::text("a<b&c", "]]>\r").with_nonce();
        let element = token.element_of(b"1", "2026-01-01T00:00:00Z");
        assert!(element.contains("<wsse:Username>a&lt;b&amp;c</wsse:Username>"));
        assert!(element.contains("#PasswordText\">]]&gt;&#13;</wsse:Password>"));
        assert!(element.contains(">MQ==</wsse:Nonce><wsu:Created>2026-01-01T00:00:00Z<"));
        assert!(token.check().is_ok());
        assert!(UsernameToken::text("a\u{1}", "").check().is_err());
        assert!(UsernameToken::text("a", "\u{ffff}").check().is_err());
        assert!(UsernameToken::digest("a", "\u{1}").check().is_ok());
        assert!(
            !UsernameToken::text("a", "b")
                .element_of(b"1", "")
                .contains("Nonce")
        );
        assert!(!format!("{:?}", UsernameToken::text("a", "hush")).contains("hush"));
    }

    #[test]
    fn times_are_dates_of_the_gregorian_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(Duration::from_secs(seconds)), text);
        }
    }
}
