//! Replaces `xop:Include` elements in the text of a message by references to attachments. (XOP 1.0 §3.2)

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bsoap_codec::attachment::reference;
use bsoap_xml::{Event, Options, Reader};
use bytes::Bytes;
use memchr::memmem;

use super::{PackageError, PackageErrorKind, XOP};

/// The text with a reference for each `xop:Include`. A text that is not well-formed is returned as it is: the decoder says what is
/// wrong with it.
pub(super) fn resolve(
    text: &Bytes,
    ids: &HashMap<String, usize>,
    options: Options,
) -> Result<Bytes, PackageError> {
    if memmem::find(text, XOP.as_bytes()).is_none() {
        return Ok(text.clone());
    }
    let mut reader = Reader::new(options, Arc::default());
    if reader.feed(text).and_then(|()| reader.finish()).is_err() {
        return Ok(text.clone());
    }
    let mut resolver = Resolver {
        text,
        ids,
        resolved: Vec::with_capacity(text.len()),
        copied: 0,
        state: State::Other,
    };
    loop {
        match reader.next() {
            Ok(Some(Event::EndOfDocument) | None) => break,
            Ok(Some(event)) => resolver.event(&event)?,
            Err(_) => return Ok(text.clone()),
        }
    }
    resolver
        .resolved
        .extend_from_slice(&text[resolver.copied..]);
    Ok(resolver.resolved.into())
}

/// Where in a document it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// An element has just begun: nothing but white space precedes.
    Begun,
    /// Within an `xop:Include` that began at this offset and refers to this attachment.
    Include {
        from: usize,
        index: usize,
    },
    /// After one: the element around it must end.
    Included,
    Other,
}

struct Resolver<'t> {
    text: &'t [u8],
    ids: &'t HashMap<String, usize>,
    resolved: Vec<u8>,
    /// How much of the text has been copied or replaced.
    copied: usize,
    state: State,
}

impl Resolver<'_> {
    fn event(&mut self, event: &Event<'_>) -> Result<(), PackageError> {
        match event {
            Event::Start(tag) => {
                let offset = tag.offset;
                if tag.local() != "Include" || tag.namespace() != XOP {
                    self.alone(offset)?;
                    self.state = State::Begun;
                    return Ok(());
                }
                if self.state != State::Begun {
                    let problem = "an xop:Include must be the only content of its element";
                    return Err(wrong(problem, offset));
                }
                let mut attributes = tag.attributes();
                let href = attributes.find(|it| it.local == "href" && it.namespace().is_empty());
                let Some(href) = href else {
                    return Err(wrong("an xop:Include has no href", offset));
                };
                let index = self.index(&href.value(), offset)?;
                let from = offset as usize;
                self.state = State::Include { from, index };
            }
            Event::End(tag) => match self.state {
                State::Include { from, index } => {
                    // Of an empty element, the offset is where its tag ends.
                    let end = tag.offset as usize + tag.raw.len();
                    self.replace(from, end, index);
                    self.state = State::Included;
                }
                _ => self.state = State::Other,
            },
            Event::Text(text) if text.value.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {}
            Event::Text(text) => {
                self.alone(text.offset)?;
                self.state = State::Other;
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that content is not beside or inside an `xop:Include`.
    fn alone(&self, offset: u64) -> Result<(), PackageError> {
        match self.state {
            State::Include { .. } => Err(wrong("an xop:Include must be empty", offset)),
            State::Included => {
                let problem = "an xop:Include must be the only content of its element";
                Err(wrong(problem, offset))
            }
            State::Begun | State::Other => Ok(()),
        }
    }

    /// The position of the attachment that an `href` refers to.
    fn index(&self, href: &str, offset: u64) -> Result<usize, PackageError> {
        let shown: String = href.chars().take(100).collect();
        let Some(id) = content_id(href) else {
            let problem = format!(
                "an xop:Include refers to {shown:?}, expected a part of the package, such as cid:1@example.org: nothing else is fetched"
            );
            return Err(wrong(&problem, offset));
        };
        self.ids.get(&*id).copied().ok_or_else(|| {
            let problem = format!(
                "an xop:Include refers to {shown:?}, but no attachment of the message has the Content-ID <{id}>",
                id = id.chars().take(100).collect::<String>()
            );
            wrong(&problem, offset)
        })
    }

    /// Replaces a part of the text by a reference, which is padded to the same length: white space in base64 means nothing.
    fn replace(&mut self, from: usize, end: usize, index: usize) {
        self.resolved
            .extend_from_slice(&self.text[self.copied..from]);
        self.resolved
            .extend_from_slice(reference::text(index).as_bytes());
        let rest = self.text[from..end]
            .get(reference::TEXT_LENGTH..)
            .unwrap_or_default();
        let padding = rest.iter().map(|&byte| match byte {
            b'\r' | b'\n' => byte,
            _ => b' ',
        });
        self.resolved.extend(padding);
        self.copied = end;
    }
}

/// The content id in a `cid:` URI. `None` for any other URI. (RFC 2392)
pub(super) fn content_id(uri: &str) -> Option<Cow<'_, str>> {
    let uri = uri.trim();
    let scheme = uri.get(..4)?;
    if !scheme.eq_ignore_ascii_case("cid:") {
        return None;
    }
    let id = &uri[4..];
    if !id.contains('%') {
        return Some(Cow::Borrowed(id));
    }
    let mut octets = Vec::with_capacity(id.len());
    let mut rest = id.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                octets.push(high << 4 | low);
                rest = &rest[3..];
            }
            None => {
                octets.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(octets).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

fn wrong(problem: &str, offset: u64) -> PackageError {
    PackageError::new(PackageErrorKind::Include(problem.to_owned()), offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: &str = "<a xmlns:x='http://www.w3.org/2004/08/xop/include'>";

    fn resolved(content: &str) -> Result<String, PackageError> {
        let text = format!("{ENVELOPE}{content}</a>");
        let ids = HashMap::from([("one@x".to_owned(), 0), ("t:/%2".to_owned(), 1)]);
        let resolved = resolve(&Bytes::from(text.clone()), &ids, Options::default())?;
        let resolved = String::from_utf8_lossy(&resolved).into_owned();
        Ok(resolved[ENVELOPE.len()..resolved.len() - 4].to_owned())
    }

    #[test]
    fn an_include_becomes_a_reference_of_the_same_length() {
        let reference = reference::text(0);
        for include in [
            "<x:Include href=\"cid:one@x\"/>",
            "<x:Include href='cid:one%40x' y='>'/>",
            "<x:Include href='CID:one@x'          \n></x:Include >",
            "<i:Include xmlns:i='http://www.w3.org/2004/08/xop/include' href='cid:one@x'> </i:Include>",
        ] {
            let text = resolved(&format!("<b> {include}\n</b><c>x</c>")).expect(include);
            assert!(text.starts_with(&format!("<b> {reference}")), "{text}");
            assert!(text.ends_with("\n</b><c>x</c>"), "{text}");
            let expected = include.len().max(reference::TEXT_LENGTH);
            assert_eq!(text.len(), "<b> \n</b><c>x</c>".len() + expected, "{text}");
            assert_eq!(
                text.matches('\n').count(),
                1 + include.matches('\n').count()
            );
        }
        let second = resolved("<b><x:Include href='cid:t%3A%2F%252'/></b>").expect("an escaped id");
        assert!(second.contains(&reference::text(1)), "{second}");
    }

    #[test]
    fn other_includes_are_refused() {
        for (content, problem) in [
            (
                "<b><x:Include href='http://internal/secret'/></b>",
                "nothing else is fetched",
            ),
            (
                "<b><x:Include href='file:///etc/passwd'/></b>",
                "nothing else is fetched",
            ),
            (
                "<b><x:Include href='one@x'/></b>",
                "nothing else is fetched",
            ),
            ("<b><x:Include href='cid:two@x'/></b>", "no attachment"),
            ("<b><x:Include/></b>", "no href"),
            ("<b>YQ==<x:Include href='cid:one@x'/></b>", "only content"),
            ("<b><x:Include href='cid:one@x'/>YQ==</b>", "only content"),
            (
                "<b><x:Include href='cid:one@x'/><x:Include href='cid:one@x'/></b>",
                "only content",
            ),
            ("<b><x:Include href='cid:one@x'/><c/></b>", "only content"),
            ("<b><x:Include href='cid:one@x'>a</x:Include></b>", "empty"),
            (
                "<b><x:Include href='cid:one@x'><c/></x:Include></b>",
                "empty",
            ),
        ] {
            let error = resolved(content).expect_err(content).to_string();
            assert!(error.contains(problem), "{content}: {error}");
        }
    }

    #[test]
    fn a_text_without_includes_or_that_is_not_well_formed_stays_as_it_is() {
        for content in ["<b>x</b>", "<b><x:Include href='cid:one@x'/></c>"] {
            assert_eq!(resolved(content).as_deref(), Ok(content));
        }
    }
}
