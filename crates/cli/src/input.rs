//! What commands read: WSDLs, JSON and messages, from files or standard input. Errors name the location.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use bsoap::{Fetch, Wsdl};
use bsoap_http::ClientOptions;
use bsoap_schema::{Definitions, LoadLimits, LoadOptions, Offers, without_credentials};
use serde_json::Value;

use crate::attachments::{self, Spelling};
use crate::connection::Connection;
use crate::error::Failure;
use crate::message_limits;

/// A WSDL on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct WsdlArguments {
    /// The WSDL: a file or a URL
    #[arg(value_name = "SERVICE.wsdl")]
    pub(crate) wsdl: String,
    /// Fetch documents that the WSDL refers to over HTTP
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Files that the WSDL imports may also be in this folder and below, not only in the WSDL's own; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_imports_from: Vec<PathBuf>,
    /// Another limit of loading the WSDL, by the name that the error has; may be given several times
    #[arg(long, value_name = "NAME=N", value_parser = load_limit)]
    load_limit: Vec<(String, u64)>,
    /// Read this URL from a file, or all URLs that begin with it from a folder; may be given several times
    #[arg(long, value_name = "URL=PATH", value_parser = mapping)]
    map: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl WsdlArguments {
    /// Which documents may be fetched.
    pub(crate) fn fetching(&self) -> Fetch {
        if self.fetch {
            Fetch::Anything
        } else {
            Fetch::AsAsked
        }
    }

    /// Loads it, or a schema.
    ///
    /// # Errors
    /// If it cannot be loaded, or is a WSDL without a SOAP port.
    pub(crate) fn load(&self) -> Result<Arc<Definitions>, Failure> {
        self.load_with(&self.connection.options()?)
    }

    /// Loads it for a command that needs a service.
    pub(crate) fn load_service(&self) -> Result<Arc<Definitions>, Failure> {
        self.load_service_with(&self.connection.options()?)
    }

    /// The same, with the options of the connection.
    pub(crate) fn load_service_with(
        &self,
        options: &ClientOptions,
    ) -> Result<Arc<Definitions>, Failure> {
        let definitions = self.load_with(options)?;
        match definitions.is_schema() {
            true => Err(self.no_port(&definitions)),
            false => Ok(definitions),
        }
    }

    fn load_with(&self, options: &ClientOptions) -> Result<Arc<Definitions>, Failure> {
        let wsdl = Wsdl::Location(self.wsdl.clone());
        let folders = self.allow_imports_from.iter();
        let wsdl = folders.fold(wsdl, Wsdl::allow_imports_from);
        let mapped = self.map.iter();
        let wsdl = mapped.fold(wsdl, |wsdl, (url, path)| wsdl.map(url, path));
        let wsdl = wsdl.limits(self.limits());
        let definitions = wsdl.load_with(self.fetching(), options)?;
        if !definitions.is_schema() && definitions.ports().next().is_none() {
            return Err(self.no_port(&definitions));
        }
        Ok(definitions)
    }

    /// The limits of loading.
    fn limits(&self) -> LoadLimits {
        let mut limits = LoadLimits::default();
        for (name, value) in &self.load_limit {
            limits.set(name, *value);
        }
        limits
    }

    /// The failure if there is no SOAP port, with what is known of the reason.
    fn no_port(&self, definitions: &Definitions) -> Failure {
        let wsdl = without_credentials(&self.wsdl);
        if definitions.is_schema() {
            return Failure::input(format!(
                "{wsdl} is a schema, expected a WSDL with a SOAP port"
            ));
        }
        let failure = Failure::input(format!("{wsdl} has no SOAP port"));
        match definitions.notes() {
            [] => failure,
            notes => {
                let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
                failure.because_of(&notes.join("\n  "))
            }
        }
    }

    /// Loads it for validation: also with types derived from simple types, and with the elements that wildcards allow.
    pub(crate) fn load_to_validate(&self) -> Result<Definitions, Failure> {
        let mut options = LoadOptions::default();
        options.offers = Offers::All;
        options.limits = self.limits();
        let reloaded = self.load()?.reload(&options);
        Ok(reloaded.map_err(bsoap::Error::from)?)
    }
}

/// A limit of loading: its name and its value.
fn load_limit(given: &str) -> Result<(String, u64), String> {
    let is_known = |name: &str, value| LoadLimits::default().set(name, value);
    message_limits::limit(given, is_known, &LoadLimits::NAMES)
}

/// A URL and the file or folder that it is read from. The URL may contain `=`.
fn mapping(given: &str) -> Result<(String, PathBuf), String> {
    match given.rsplit_once('=') {
        Some((url, path)) if !url.is_empty() && !path.is_empty() => {
            Ok((url.to_owned(), PathBuf::from(path)))
        }
        _ => Err("expected URL=PATH".to_owned()),
    }
}

/// Standard input is called `-`.
const STDIN: &str = "-";

/// The bytes of a file, or of standard input.
pub(crate) fn bytes(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == STDIN {
        io::stdin().lock().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(file).map(|content| bytes = content)
    };
    read.map_err(|error| Failure::input(format!("cannot read {}", name(file))).because(error))?;
    Ok(bytes)
}

/// The JSON in a file, or on standard input.
pub(crate) fn json(file: &str) -> Result<Value, Failure> {
    let text = String::from_utf8(bytes(file)?)
        .map_err(|error| Failure::input(format!("{} is not UTF-8", name(file))).because(error))?;
    parse_json(&text, name(file))
}

/// The value of `--json=VALUE`: `-` is standard input, `@FILE` is a file, anything else is JSON.
pub(crate) fn given_json(given: &str, spelling: Spelling) -> Result<Value, Failure> {
    let file = given.strip_prefix('@');
    if let Some(file) = file.or((given == STDIN).then_some(STDIN)) {
        let value = json(file)?;
        attachments::refuse_files(&value, spelling, name(file))?;
        return Ok(value);
    }
    parse_json(given, "--json").map_err(|failure| match fs::exists(given) {
        Ok(true) => Failure::usage(format!(
            "--json={given} is not JSON; for the file write --json=@{given}"
        )),
        _ => failure,
    })
}

/// JSON; errors say `file:line:column`.
pub(crate) fn parse_json(text: &str, file: &str) -> Result<Value, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::input(format!("{file} is empty, expected JSON")));
    }
    serde_json::from_str(text).map_err(|error| {
        Failure::input(format!(
            "{file}:{}:{}: this is not JSON",
            error.line(),
            error.column()
        ))
        .because(error)
    })
}

/// The name of a file in messages.
pub(crate) fn name(file: &str) -> &str {
    if file == STDIN {
        "standard input"
    } else {
        file
    }
}

/// Line and column, both from 1, of a location in a document; columns count characters. As in errors, the location is the offset in
/// the document as UTF-8 without a byte order mark, whatever its encoding is.
pub(crate) fn line_and_column(document: &[u8], offset: u64) -> (usize, usize) {
    let text = text(document);
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let is_character_start = |byte: &&u8| **byte & 0xc0 != 0x80;
    (
        memchr::memchr_iter(b'\n', before).count() + 1,
        before[line_start..]
            .iter()
            .filter(is_character_start)
            .count()
            + 1,
    )
}

/// The text of a document, as far as it can be read.
fn text(document: &[u8]) -> Cow<'_, str> {
    bsoap_xml::decode_str(document).unwrap_or_else(|_| {
        let mut input = bsoap_xml::Input::new();
        // The text before the bytes that cannot be decoded.
        drop(input.feed(document).and_then(|()| input.finish()));
        input.into_text().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "äb\ncd".as_bytes();
        assert_eq!(
            [0, 2, 3, 4, 99].map(|offset| line_and_column(text, offset)),
            [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3)]
        );
    }

    #[test]
    fn lines_and_columns_are_those_of_the_text_in_any_encoding() {
        let text = "<a>\nä€<b>\n</a>";
        let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
        let [little, big]: [Vec<u8>; 2] = [wide(u16::to_le_bytes), wide(u16::to_be_bytes)];
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        let latin = b"<?xml version='1.0' encoding='iso-8859-1'?>\n\xe4\xe4<b>";
        for document in [
            text.as_bytes().to_vec(),
            marked(b"\xef\xbb\xbf", text.as_bytes()),
            marked(b"\xff\xfe", &little),
            marked(b"\xfe\xff", &big),
            little,
            big,
        ] {
            assert_eq!(
                [0, 4, 9, 13].map(|offset| line_and_column(&document, offset)),
                [(1, 1), (2, 1), (2, 3), (3, 1)]
            );
        }
        assert_eq!(line_and_column(latin, 44 + 4), (2, 3));
        // Bytes that cannot be decoded end the text; locations before them are right.
        assert_eq!(line_and_column(b"<a>\n<b>\xff</b>", 7), (2, 4));
    }

    #[test]
    fn an_error_in_json_has_its_location() {
        let report = parse_json("{\n \"a\": }", "x.json").unwrap_err().report();
        assert!(report.contains("x.json:2:7"), "{report}");
    }
}
