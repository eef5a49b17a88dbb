//! Messages as they go over the network, for `call --show` and `--dry-run`: HTTP headers and XML.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use bsoap::ClientBuilder;
use bsoap::hooks::{Incoming, Outgoing};
use bsoap::http::HeaderMap;

use crate::output::Output;
use crate::style::{DIM, paint};

/// How XML is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// An element in a line, indented
    Pretty,
    /// As it is sent
    Raw,
}

/// Adds the printing of requests and responses, on standard error, to a client.
pub(crate) fn messages(builder: ClientBuilder, form: Form) -> ClientBuilder {
    let sent = move |message: &mut Outgoing<'_>| {
        let body = message.bytes().unwrap_or_default();
        print('>', "", message.headers, &body, form);
        Ok(())
    };
    let received = move |message: &mut Incoming<'_>| {
        let status = message.status.map(|status| format!("HTTP status {status}"));
        print(
            '<',
            &status.unwrap_or_default(),
            message.headers,
            &message.body,
            form,
        );
        Ok(())
    };
    builder.before_send(sent).after_receive(received)
}

fn print(direction: char, first: &str, headers: &HeaderMap, body: &[u8], form: Form) {
    let mut text = String::new();
    if !first.is_empty() {
        let _ = writeln!(text, "{}", paint(DIM, &format!("{direction} {first}")));
    }
    for (name, value) in headers {
        let value = match name.as_str() {
            "authorization" | "proxy-authorization" | "cookie" | "set-cookie" => {
                "(not shown)".into()
            }
            _ => String::from_utf8_lossy(value.as_bytes()),
        };
        let _ = writeln!(
            text,
            "{}",
            paint(DIM, &format!("{direction} {name}: {value}"))
        );
    }
    text.push_str(&xml(body, form));
    Output::default().note(text.trim_end());
}

/// XML in a form.
pub(crate) fn xml(text: &[u8], form: Form) -> String {
    let text = String::from_utf8_lossy(text);
    match form {
        Form::Raw => text.into_owned(),
        Form::Pretty => pretty(&text),
    }
}

/// The HTTP headers and the text of a request.
pub(crate) type SentRequest = (HeaderMap, Vec<u8>);

/// What was to be sent last, for a client that sends nothing.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Option<SentRequest>>>);

impl Captured {
    /// Makes a client keep its request instead of sending it.
    pub(crate) fn instead_of_sending(&self, builder: ClientBuilder) -> ClientBuilder {
        let kept = Arc::clone(&self.0);
        builder.before_send(move |message: &mut Outgoing<'_>| {
            let body = message.bytes().unwrap_or_default();
            if let Ok(mut kept) = kept.lock() {
                *kept = Some((message.headers.clone(), body.to_vec()));
            }
            Err("the request is only printed (--dry-run)".into())
        })
    }

    /// The request, if it could be made.
    pub(crate) fn take(&self) -> Option<SentRequest> {
        self.0.lock().ok()?.take()
    }
}

/// An element in a line, indented; an element with text alone stays in one line. Text is not changed, so mixed content may be in
/// one line.
fn pretty(xml: &str) -> String {
    let mut out = String::with_capacity(xml.len() * 2);
    let (mut rest, mut depth) = (xml.trim(), 0_usize);
    // Whether a line may be broken before the next tag, and whether the last tag began an element.
    let (mut breaks, mut began) = (false, false);
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_length(rest));
        rest = after;
        if !token.starts_with('<') {
            if !token.trim().is_empty() {
                out.push_str(token);
                breaks = false;
                began = false;
            }
            continue;
        }
        let is_end = token.starts_with("</");
        depth -= usize::from(is_end && depth > 0);
        // Behind text, and at the end of an empty element, the line goes on.
        if breaks && !(is_end && began) {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
        out.push_str(token);
        began = !is_end
            && !token.ends_with("/>")
            && !token.starts_with("<?")
            && !token.starts_with("<!");
        depth += usize::from(began);
        breaks = true;
    }
    out
}

/// The length of the tag, comment, CDATA section, instruction or text that a text begins with.
fn token_length(text: &str) -> usize {
    let until = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    if text.starts_with("<!--") {
        return until("-->");
    }
    if text.starts_with("<![CDATA[") {
        return until("]]>");
    }
    if !text.starts_with('<') {
        return text.find('<').unwrap_or(text.len());
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            (None, b'>') => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_indented_and_text_stays_as_it_is() {
        let xml = "<?xml version='1.0'?><a x='>'><b>1 &lt; 2</b><c/><d><e> t </e></d><f></f><!-- > --><g><![CDATA[<]]></g></a>";
        let expected = "<?xml version='1.0'?>\n<a x='>'>\n  <b>1 &lt; 2</b>\n  <c/>\n  <d>\n    <e> t </e>\n  </d>\n  <f></f>\n  <!-- > -->\n  <g>\n    <![CDATA[<]]>\n  </g>\n</a>";
        assert_eq!(pretty(xml), expected);
        for broken in [
            "<",
            "</",
            "<a",
            "</a></a></a>",
            "<!--",
            "<a b='",
            "text",
            "<![CDATA[",
        ] {
            assert_eq!(pretty(broken).replace('\n', "").trim(), broken);
        }
    }
}
