//! The W3C XML conformance test suite: what is not well-formed is refused, all else is read, and its canonical form is right
//! where that does not depend on an external declaration.

use crate::known::{Outcome, Score};
use bsoap_xml::{DoctypePolicy, Event, Options, Reader, Tag, Vocabulary};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// A line of `cases.jsonl`.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    #[serde(rename = "type")]
    kind: Kind,
    file: String,
    /// Which external entities it takes to judge it.
    entities: String,
    /// The editions of XML it is for; empty for all.
    edition: String,
    /// Whether it keeps the rules of namespaces.
    namespace: String,
    canonical_output: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    NotWf,
    Valid,
    Invalid,
    Error,
}

/// Runs all cases of the folder.
///
/// # Panics
/// If the folder's list of cases cannot be read.
pub fn run(folder: &Path) -> Score {
    let list = std::fs::read_to_string(folder.join("cases.jsonl"))
        .expect("the suite has its list of cases");
    let mut score = Score::new("xmlconf");
    for line in list.lines() {
        let case: Case = serde_json::from_str(line).expect("a case is one line of JSON");
        score.record(&case.id, judge(&case, &folder.join("files")));
    }
    score
}

fn judge(case: &Case, files: &Path) -> Outcome {
    if !case.edition.is_empty() && !case.edition.contains('5') {
        return Outcome::Skip("for older editions of XML");
    }
    if case.namespace == "no" {
        return Outcome::Skip("not namespace-well-formed");
    }
    let document = match std::fs::read(files.join(&case.file)) {
        Ok(document) => document,
        Err(error) => return Outcome::Fail(error.to_string()),
    };
    let read = canonical(&document, usize::MAX);
    if read != canonical(&document, 1) {
        return Outcome::Fail("fed byte by byte it reads otherwise".into());
    }
    match (case.kind, read) {
        (Kind::Error, _) => Outcome::Skip("may be refused or not"),
        (Kind::NotWf, Err(_)) => Outcome::Pass,
        (Kind::NotWf, Ok(_)) if case.entities != "none" => {
            Outcome::Skip("need external entities, which are never read")
        }
        (Kind::NotWf, Ok(_)) => Outcome::Fail("accepted, but not well-formed".into()),
        (Kind::Valid | Kind::Invalid, Err(error)) => Outcome::Fail(format!("refused: {error}")),
        (Kind::Valid | Kind::Invalid, Ok(form)) => match &case.canonical_output {
            Some(output) if case.entities == "none" => compare(&form, &files.join(output)).into(),
            _ => Outcome::Pass,
        },
    }
}

fn compare(form: &str, output: &Path) -> Result<(), String> {
    let expected = std::fs::read_to_string(output).map_err(|error| error.to_string())?;
    // The second form begins with the notations declared, which a reader without validation does not keep.
    let expected = match expected
        .strip_prefix("<!DOCTYPE")
        .and_then(|rest| rest.split_once("]>\n"))
    {
        Some((_, document)) => document,
        None => &expected,
    };
    match form == expected {
        true => Ok(()),
        false => Err(format!("canonical form {form:?}, expected {expected:?}")),
    }
}

/// The document in James Clark's canonical form, fed in chunks.
fn canonical(document: &[u8], chunk: usize) -> Result<String, bsoap_xml::Error> {
    let options = Options::default().doctype(DoctypePolicy::Skip);
    let mut reader = Reader::new(options, Arc::new(Vocabulary::default()));
    let mut form = String::new();
    for chunk in document.chunks(chunk.min(document.len().max(1))) {
        reader.feed(chunk)?;
        while let Some(event) = reader.next()? {
            append(&event, &mut form);
        }
    }
    reader.finish()?;
    while let Some(event) = reader.next()? {
        if let Event::EndOfDocument = event {
            break;
        }
        append(&event, &mut form);
    }
    Ok(form)
}

fn append(event: &Event<'_>, form: &mut String) {
    match event {
        Event::Start(tag) => append_tag(tag, form),
        Event::End(tag) => *form += &format!("</{}>", tag.qname),
        Event::Text(text) => escape(&text.value, form),
        Event::ProcessingInstruction { target, data } => *form += &format!("<?{target} {data}?>"),
        _ => {}
    }
}

/// Attributes, namespace declarations among them, sorted by name.
fn append_tag(tag: &Tag<'_>, form: &mut String) {
    *form += &format!("<{}", tag.qname());
    let name = |prefix: &str, local: &str| {
        if prefix.is_empty() {
            local.to_owned()
        } else {
            format!("{prefix}:{local}")
        }
    };
    let declarations = tag.declarations().map(|(prefix, uri)| match prefix {
        "" => ("xmlns".to_owned(), uri.to_owned()),
        _ => (name("xmlns", prefix), uri.to_owned()),
    });
    let attributes = tag.attributes().map(|attribute| {
        (
            name(attribute.prefix, attribute.local),
            attribute.value().into_owned(),
        )
    });
    let mut all: Vec<_> = declarations.chain(attributes).collect();
    all.sort();
    for (name, value) in all {
        *form += &format!(" {name}=\"");
        escape(&value, form);
        form.push('"');
    }
    form.push('>');
}

fn escape(text: &str, form: &mut String) {
    for c in text.chars() {
        match c {
            '&' => form.push_str("&amp;"),
            '<' => form.push_str("&lt;"),
            '>' => form.push_str("&gt;"),
            '"' => form.push_str("&quot;"),
            '\t' => form.push_str("&#9;"),
            '\n' => form.push_str("&#10;"),
            '\r' => form.push_str("&#13;"),
            c => form.push(c),
        }
    }
}
