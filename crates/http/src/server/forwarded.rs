//! The address of the client behind trusted proxies: from the `Forwarded` header (RFC 7239), `X-Forwarded-For`, or the PROXY
//! protocol of the connection (versions 1 and 2, as HAProxy specifies it).

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use hyper::header::{self, HeaderMap};
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncReadExt};

/// A range of addresses, such as `10.0.0.0/8`, or one address.
///
/// ```
/// use bsoap_http::AddressRange;
///
/// let range: AddressRange = "10.0.0.0/8".parse()?;
/// assert!(range.contains("10.1.2.3".parse()?) && !range.contains("11.1.2.3".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange(IpNet);

impl AddressRange {
    /// Whether an address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for AddressRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let range: Option<IpNet> = text.parse().ok();
        let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
        range.or_else(address).map(Self).ok_or(InvalidRange)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for a text that is not a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRange;

impl fmt::Display for InvalidRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address range such as 10.0.0.0/8, or an address")
    }
}

impl std::error::Error for InvalidRange {}

/// Whether an address is that of a trusted proxy.
pub(super) fn is_trusted(proxies: &[AddressRange], address: IpAddr) -> bool {
    proxies.iter().any(|range| range.contains(address))
}

/// The address of the client of a request that a proxy has passed on: the last one in the headers that is not a trusted proxy.
/// `None` if the headers say nothing.
pub(super) fn client(headers: &HeaderMap, proxies: &[AddressRange]) -> Option<IpAddr> {
    let hops = hops(headers);
    let mut known = None;
    for hop in hops.iter().rev() {
        // The name of an unknown or hidden client, or nonsense: the proxy that wrote it is the last one known.
        let Some(address) = *hop else { break };
        known = Some(address);
        if !is_trusted(proxies, address) {
            break;
        }
    }
    known
}

/// The addresses that proxies have added, the first proxy's first. `None` for one that is no address.
fn hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let elements = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        let texts = values.map(|value| value.to_str().unwrap_or_default());
        texts
            .flat_map(|text| text.split(',').map(str::to_owned))
            .collect()
    };
    if headers.contains_key(header::FORWARDED) {
        let forwarded = elements(header::FORWARDED.as_str());
        return forwarded
            .iter()
            .map(|element| forwarded_for(element))
            .collect();
    }
    let forwarded = elements("x-forwarded-for");
    forwarded.iter().map(|text| address(text)).collect()
}

/// The address of `for=` in an element of the `Forwarded` header.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let is_for = name.trim().eq_ignore_ascii_case("for");
        is_for.then(|| address(value.trim().trim_matches('"')))?
    })
}

/// An address, perhaps in brackets and with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next());
    let plain = || text.parse().ok();
    let with_port = || Some(text.parse::<SocketAddr>().ok()?.ip());
    inner
        .map_or_else(|| plain().or_else(with_port), |inner| inner.parse().ok())
        .map(|address: IpAddr| address.to_canonical())
}

/// The first bytes of version 2 of the PROXY protocol.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The longest line of version 1.
const MAX_LINE: usize = 107;

/// The longest rest of version 2 that is read.
const MAX_REST: usize = 4096;

/// Reads the header of the PROXY protocol, and nothing behind it. Returns the address of the client, or `None` if the proxy does
/// not know it or speaks for itself (health checks).
pub(super) async fn read_proxy_header<S>(stream: &mut S) -> io::Result<Option<SocketAddr>>
where
    S: AsyncRead + Unpin,
{
    let mut start = [0; SIGNATURE.len()];
    stream.read_exact(&mut start).await?;
    if start == SIGNATURE {
        return read_binary(stream).await;
    }
    let mut line = start.to_vec();
    while !line.ends_with(b"\r\n") {
        if line.len() == MAX_LINE || !line.starts_with(b"PROXY ") {
            return Err(invalid());
        }
        line.push(stream.read_u8().await?);
    }
    parse_line(&line).ok_or_else(invalid)
}

async fn read_binary<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Option<SocketAddr>> {
    let (command, family) = (stream.read_u8().await?, stream.read_u8().await?);
    let length = usize::from(stream.read_u16().await?);
    if command >> 4 != 2 || command & 0xF > 1 || length > MAX_REST {
        return Err(invalid());
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    if command & 0xF == 0 {
        return Ok(None);
    }
    let port = |at: usize| Some(u16::from_be_bytes([*rest.get(at)?, *rest.get(at + 1)?]));
    let source = match family >> 4 {
        1 => rest
            .first_chunk::<4>()
            .map(|v4| IpAddr::from(Ipv4Addr::from(*v4)))
            .zip(port(8)),
        2 => rest
            .first_chunk::<16>()
            .map(|v6| IpAddr::from(Ipv6Addr::from(*v6)))
            .zip(port(32)),
        _ => return Ok(None),
    };
    source.map(|source| Some(source.into())).ok_or_else(invalid)
}

/// The client in a line of version 1: `PROXY TCP4 CLIENT SERVER PORT PORT`, or `PROXY UNKNOWN …`. `None` if it is neither.
fn parse_line(line: &[u8]) -> Option<Option<SocketAddr>> {
    let mut parts = std::str::from_utf8(line)
        .ok()?
        .trim_end()
        .split(' ')
        .skip(1);
    match parts.next()? {
        "UNKNOWN" => Some(None),
        "TCP4" | "TCP6" => {
            let address: IpAddr = parts.next()?.parse().ok()?;
            let _server: IpAddr = parts.next()?.parse().ok()?;
            Some(Some((address, parts.next()?.parse().ok()?).into()))
        }
        _ => None,
    }
}

fn invalid() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "expected a PROXY protocol header",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<AddressRange> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn the_client_is_the_last_address_that_is_no_trusted_proxy() {
        let proxies = ranges(&["10.0.0.0/8", "::1"]);
        for (name, value, expected) in [
            ("forwarded", "for=192.0.2.60", Some("192.0.2.60")),
            (
                "forwarded",
                "for=192.0.2.60;proto=http, for=10.0.0.2",
                Some("192.0.2.60"),
            ),
            (
                "forwarded",
                "for=6.6.6.6, For=\"192.0.2.60:4711\"",
                Some("192.0.2.60"),
            ),
            (
                "forwarded",
                "for=\"[2001:db8::17]:4711\"",
                Some("2001:db8::17"),
            ),
            ("forwarded", "for=unknown, for=10.0.0.2", Some("10.0.0.2")),
            ("forwarded", "for=_hidden", None),
            ("forwarded", "proto=http", None),
            ("x-forwarded-for", "6.6.6.6, 192.0.2.60", Some("192.0.2.60")),
            (
                "x-forwarded-for",
                "192.0.2.60, 10.0.0.1, 10.0.0.2",
                Some("192.0.2.60"),
            ),
            ("x-forwarded-for", "10.0.0.1", Some("10.0.0.1")),
            ("x-forwarded-for", "", None),
            ("x-other", "192.0.2.60", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let found = client(&headers, &proxies).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_range_is_an_address_with_or_without_a_prefix() {
        for (text, good) in [
            ("10.0.0.0/8", true),
            ("10.0.0.1", true),
            ("fd00::/8", true),
            ("10.0.0.0/33", false),
            ("proxy", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<AddressRange>().is_ok(), good, "{text}");
        }
        assert!(ranges(&["10.0.0.1"])[0].contains("::ffff:10.0.0.1".parse().unwrap()));
    }

    async fn read(bytes: &[u8]) -> Result<(Option<SocketAddr>, Vec<u8>), io::ErrorKind> {
        let mut stream = bytes;
        let client = read_proxy_header(&mut stream).await;
        client
            .map(|client| (client, stream.to_vec()))
            .map_err(|error| error.kind())
    }

    #[tokio::test]
    async fn both_versions_of_the_proxy_protocol_are_read() {
        let client: SocketAddr = "192.0.2.1:1000".parse().unwrap();
        let line = b"PROXY TCP4 192.0.2.1 192.0.2.9 1000 80\r\nPOST";
        assert_eq!(read(line).await, Ok((Some(client), b"POST".to_vec())));
        let unknown = b"PROXY UNKNOWN\r\nPOST";
        assert_eq!(read(unknown).await, Ok((None, b"POST".to_vec())));
        let mut binary = SIGNATURE.to_vec();
        binary.extend([
            0x21, 0x11, 0, 12, 192, 0, 2, 1, 192, 0, 2, 9, 0x03, 0xE8, 0, 80,
        ]);
        binary.extend(b"POST");
        assert_eq!(read(&binary).await, Ok((Some(client), b"POST".to_vec())));
        let mut local = SIGNATURE.to_vec();
        local.extend([0x20, 0, 0, 0]);
        assert_eq!(read(&local).await, Ok((None, Vec::new())));
        for refused in [
            &b"POST / HTTP/1.1\r\n"[..],
            b"PROXY TCP4 nobody 192.0.2.9 1000 80\r\n",
            &[b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat(),
            &[SIGNATURE.as_slice(), &[0x31, 0x11, 0, 0]].concat(),
            &[SIGNATURE.as_slice(), &[0x21, 0x11, 0, 2, 1, 1]].concat(),
        ] {
            assert_eq!(
                read(refused).await,
                Err(io::ErrorKind::InvalidData),
                "{refused:?}"
            );
        }
    }
}
