//! What the tests share: events as lines.
#![allow(dead_code)]

use bsoap_xml::{Error, Event, Options, Reader, Vocabulary};
use std::sync::Arc;

/// One line for each event, text pieces merged.
pub(crate) fn read(document: &[u8]) -> Result<Vec<String>, Error> {
    read_in_chunks(&[document])
}

pub(crate) fn read_in_chunks(chunks: &[&[u8]]) -> Result<Vec<String>, Error> {
    read_with(Options::default(), chunks)
}

pub(crate) fn read_with(options: Options, chunks: &[&[u8]]) -> Result<Vec<String>, Error> {
    read_in(
        &mut Reader::new(options, Arc::new(Vocabulary::default())),
        chunks,
    )
}

pub(crate) fn read_in(reader: &mut Reader, chunks: &[&[u8]]) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for chunk in chunks {
        reader.feed(chunk)?;
        while let Some(event) = reader.next()? {
            add(&mut lines, Some(event));
        }
    }
    reader.finish()?;
    loop {
        add(&mut lines, reader.next()?);
        if reader.state().is_finished() {
            return Ok(lines);
        }
    }
}

fn add(lines: &mut Vec<String>, event: Option<Event<'_>>) {
    let line = show(event);
    match (lines.last_mut(), line.strip_prefix("text ")) {
        (_, Some("")) => {}
        (Some(last), Some(more)) if last.starts_with("text ") => last.push_str(more),
        _ => lines.push(line),
    }
}

pub(crate) fn show(event: Option<Event<'_>>) -> String {
    match event {
        None => "more".into(),
        Some(Event::Declaration(declaration)) => format!("{declaration:?}"),
        Some(Event::Start(tag)) => {
            let mut line = format!(
                "start {{{}}}{} {} {}",
                tag.namespace(),
                tag.local(),
                tag.qname(),
                tag.is_empty
            );
            for (prefix, uri) in tag.declarations() {
                line += &format!(" xmlns:{prefix}={uri}");
            }
            for attribute in tag.attributes() {
                let at = (attribute.offset - tag.offset) as usize;
                // An attribute that the document type adds is not in the tag.
                assert!(at == 0 || tag.raw[at..].starts_with(attribute.raw));
                line += &format!(
                    " {{{}}}{}={:?}",
                    attribute.namespace(),
                    attribute.local,
                    attribute.value()
                );
            }
            line
        }
        Some(Event::End(tag)) => format!("end {}", tag.qname),
        Some(Event::Text(text)) => format!("text {}", text.value),
        Some(Event::Comment(comment)) => format!("comment {comment}"),
        Some(Event::ProcessingInstruction { target, data }) => {
            format!("instruction {target} {data}")
        }
        Some(Event::EndOfDocument) => "end of document".into(),
        Some(_) => "other".into(),
    }
}

/// The source text of an event that knows it.
pub(crate) fn raw<'e>(event: &Event<'e>) -> Option<&'e str> {
    match event {
        Event::Start(tag) => Some(tag.raw),
        Event::End(tag) => Some(tag.raw),
        Event::Text(text) => Some(text.raw),
        _ => None,
    }
}
