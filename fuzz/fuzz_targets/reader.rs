//! Any bytes, in any chunks: the reader returns the same events or the same error, and does not panic.
#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_xml::{DoctypePolicy, Error, Event, Limits, Options, Reader, Vocabulary};
use bsoap_fuzz::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    // The first byte chooses: the policy, and how large the chunks are.
    let Some((&choice, document)) = data.split_first() else {
        return;
    };
    let policy = if choice & 1 == 0 {
        DoctypePolicy::Refuse
    } else {
        DoctypePolicy::Skip
    };
    let whole = read(policy, document, document.len().max(1));
    let chunked = read(policy, document, usize::from(choice >> 1).max(1));
    match (whole, chunked) {
        (Ok(whole), Ok(chunked)) => assert_eq!(whole, chunked),
        (whole, chunked) => assert_eq!(whole.is_ok(), chunked.is_ok(), "{whole:?} {chunked:?}"),
    }
});

/// All events, with the pieces of a text run together.
fn read(policy: DoctypePolicy, document: &[u8], chunk: usize) -> Result<String, Error> {
    let mut limits = Limits::default();
    limits.depth = 64;
    limits.entity_expansion = 1 << 16;
    let mut reader = Reader::new(
        Options::with_limits(limits).doctype(policy),
        Arc::new(Vocabulary::default()),
    );
    let mut shown = String::new();
    for bytes in document.chunks(chunk) {
        reader.feed(bytes)?;
        while let Some(event) = reader.next()? {
            show(&event, &mut shown);
        }
    }
    reader.finish()?;
    while !reader.state().is_finished() {
        if let Some(event) = reader.next()? {
            show(&event, &mut shown);
        }
    }
    Ok(shown)
}

fn show(event: &Event<'_>, shown: &mut String) {
    match event {
        Event::Start(tag) => {
            *shown += &format!("<{{{}}}{}", tag.namespace(), tag.local());
            for attribute in tag.attributes() {
                *shown += &format!(
                    " {{{}}}{}={:?}",
                    attribute.namespace(),
                    attribute.local,
                    attribute.value()
                );
            }
            shown.push('>');
        }
        Event::End(tag) => *shown += &format!("</{{{}}}{}>", tag.namespace(), tag.local()),
        Event::Text(text) => *shown += &text.value,
        Event::Comment(comment) => *shown += &format!("<!--{comment}-->"),
        Event::ProcessingInstruction { target, data } => *shown += &format!("<?{target} {data}?>"),
        _ => {}
    }
}
