//! Documents: their text, which is kept for error positions and for publishing, and the conversion of bytes to text.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use roxmltree::{Node, ParsingOptions};

use crate::cost::Cost;
use crate::limits::MAX_COUNTED_COLUMN;
use crate::loader::{LoadError, Loader, Source, without_credentials};
use crate::name::{UNDECLARED_NAMESPACE, USUAL_PREFIXES};
use crate::work::Work;
use crate::{Error, ErrorKind, Result, TextPosition};

/// Limits of loading. Exceeding one is an error that names the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadLimits {
    /// The maximum number of documents, including imported and included ones.
    pub documents: usize,
    /// The maximum size of all documents together, in bytes.
    pub bytes: usize,
    /// The maximum number of nodes (elements, texts, comments) of a document.
    pub nodes: u32,
    /// The maximum nesting depth of groups, anonymous types and derivations.
    pub depth: usize,
    /// The maximum number of particles of one content model, with named groups expanded.
    pub particles: usize,
    /// The maximum number of types that may replace others, summed over all types.
    pub alternatives: usize,
    /// The maximum number of particles of all content models together.
    pub total_particles: usize,
    /// The maximum number of bytes that the entities of a document expand to.
    pub entity_expansion: usize,
    /// The budget for everything that a load and a compilation do together, so that no combination of small factors
    /// multiplies. One unit is about 100 bytes of memory or 100 nanoseconds of time.
    pub work: u64,
}

impl Default for LoadLimits {
    fn default() -> Self {
        Self {
            documents: 2_000,
            bytes: 256 << 20,
            nodes: 16_000_000,
            depth: 200,
            particles: 100_000,
            alternatives: 5_000_000,
            total_particles: 10_000_000,
            entity_expansion: 1 << 20,
            work: 20_000_000,
        }
    }
}

impl LoadLimits {
    /// The names of the limits, as errors have them.
    pub const NAMES: [&str; 9] = [
        "documents",
        "bytes",
        "nodes",
        "depth",
        "particles",
        "alternatives",
        "total_particles",
        "entity_expansion",
        "work",
    ];

    /// Sets the limit of this name. Returns `false` if there is none.
    ///
    /// ```
    /// use bsoap_schema::LoadLimits;
    ///
    /// let mut limits = LoadLimits::default();
    /// assert!(limits.set("work", 100_000_000) && limits.work == 100_000_000);
    /// assert!(!limits.set("wrok", 1));
    /// ```
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "documents" => self.documents = size,
            "bytes" => self.bytes = size,
            "nodes" => self.nodes = u32::try_from(value).unwrap_or(u32::MAX),
            "depth" => self.depth = size,
            "particles" => self.particles = size,
            "alternatives" => self.alternatives = size,
            "total_particles" => self.total_particles = size,
            "entity_expansion" => self.entity_expansion = size,
            "work" => self.work = value,
            _ => return false,
        }
        true
    }
}

/// A loaded document.
#[derive(Clone, Debug)]
pub struct Document {
    location: String,
    text: String,
    /// The offset of each line. It is computed at the first use, because an invalid document may need many positions.
    lines: OnceLock<Vec<usize>>,
    /// Where the text has declarations of prefixes that the document did not declare, in bytes. Positions are those without them.
    added: Range<usize>,
}

/// The position of a component: a document of a [`Documents`] table and a byte offset in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The document's number.
    pub document: u32,
    /// The offset in the document's text, in bytes.
    pub offset: u32,
}

/// All loaded documents, in the order of loading.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    all: Vec<Arc<Document>>,
    /// Document numbers by the requested location and by the location that the loader returned.
    by_location: HashMap<String, u32>,
    /// Document numbers by the namespace that the documents were requested for.
    by_namespace: HashMap<String, u32>,
}

impl Document {
    /// Creates a document from bytes in UTF-8, or in the encoding that the byte order mark or the XML declaration states.
    ///
    /// # Errors
    /// If the bytes are not text in that encoding.
    pub fn new(location: impl Into<String>, bytes: &[u8]) -> Result<Self> {
        let location = location.into();
        match decode_text(bytes) {
            Ok(text) => Ok(Self {
                location,
                text,
                lines: OnceLock::new(),
                added: 0..0,
            }),
            Err(reason) => Err(ErrorKind::Load { location, reason }.into()),
        }
    }

    /// The location without credentials.
    fn shown(&self) -> String {
        without_credentials(&self.location).into_owned()
    }

    /// The location, to which relative references are resolved. It may contain credentials.
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses the text to a tree.
    ///
    /// # Errors
    /// If the text is not well-formed XML, has too many nodes, or would cost more memory or time than the limits allow.
    pub fn parse(&self, limits: &LoadLimits) -> Result<roxmltree::Document<'_>> {
        self.parse_within(limits, &Work::new(limits.work))
    }

    /// The same within the budget of a load.
    pub(crate) fn parse_within(
        &self,
        limits: &LoadLimits,
        work: &Work,
    ) -> Result<roxmltree::Document<'_>> {
        self.admit(limits, work)
            .map_err(|error| error.at(Some(self.place(0))))?;
        self.tree(limits)
    }

    /// Checks that it is XML 1.0 and that the parser of the tree does not multiply the text, and charges what it will cost.
    fn admit(&self, limits: &LoadLimits, work: &Work) -> Result<()> {
        // Other characters are allowed in XML 1.1, and other ones end lines: the parser would misread it.
        if declared_version(&self.text) == Some("1.1") {
            return Err(Error::new(ErrorKind::Malformed {
                reason: "XML 1.1 is not supported, only version 1.0".to_owned(),
            }));
        }
        let cost = Cost::of(&self.text);
        if cost.expansion > limits.entity_expansion {
            return Err(Error::new(ErrorKind::Limit {
                name: "entity_expansion",
                limit: limits.entity_expansion as u64,
            }));
        }
        work.charge(cost.work())
    }

    fn tree(&self, limits: &LoadLimits) -> Result<roxmltree::Document<'_>> {
        let options = ParsingOptions {
            allow_dtd: true,
            nodes_limit: limits.nodes,
            ..ParsingOptions::default()
        };
        roxmltree::Document::parse_with_options(&self.text, options).map_err(|error| match error {
            roxmltree::Error::NodesLimitReached => Error::new(ErrorKind::Limit {
                name: "nodes",
                limit: limits.nodes.into(),
            })
            .at(Some(self.place(0))),
            roxmltree::Error::UnknownNamespace(prefix, at) => {
                let name = self.qname_at(at, &prefix);
                let place = self.position(at.row, at.col);
                Error::new(ErrorKind::UndeclaredPrefix { prefix, name }).at(Some(place))
            }
            error => {
                let place = self.position(error.pos().row, error.pos().col);
                Error::new(ErrorKind::Malformed {
                    reason: without_place(&error.to_string()),
                })
                .at(Some(place))
            }
        })
    }

    /// The name with this prefix that begins at a place; the prefix alone if there is none.
    fn qname_at(&self, at: roxmltree::TextPos, prefix: &str) -> String {
        let line = self.text.lines().nth(at.row as usize - 1).unwrap_or("");
        let mut characters = line.chars();
        if at.col > 1 {
            characters.nth(at.col as usize - 2);
        }
        let rest = characters.as_str().trim_start_matches(['<', '/']);
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'));
        let name = &rest[..end.unwrap_or(rest.len())];
        let is_it = name
            .strip_prefix(prefix)
            .is_some_and(|it| it.starts_with(':'));
        match is_it {
            true => name.to_owned(),
            false => prefix.to_owned(),
        }
    }

    /// The document with a declaration of a prefix in its root. `None` if that has no effect.
    pub(crate) fn declaring(&self, prefix: &str) -> Option<Self> {
        let mut text = self.text.clone();
        let usual = USUAL_PREFIXES.iter().find(|(usual, _)| *usual == prefix);
        let namespace = usual.map_or(UNDECLARED_NAMESPACE, |(_, namespace)| namespace);
        let declaration = format!(" xmlns:{prefix}=\"{namespace}\"");
        // The latest first, in front of those that were added before.
        let at = end_of_root_name(&text)?;
        text.insert_str(at, &declaration);
        Some(Self {
            location: self.location.clone(),
            text,
            lines: OnceLock::new(),
            added: at..at + self.added.len() + declaration.len(),
        })
    }

    /// The line and column of the byte at `offset` in the text.
    pub fn place(&self, offset: usize) -> TextPosition {
        let (line, column) = self.line_and_column(offset);
        self.position(line, column)
    }

    /// The position in the document as it was loaded, of a line and a column in the text.
    fn position(&self, line: u32, column: u32) -> TextPosition {
        let location = self.shown();
        let (first_line, first) = match self.added.is_empty() {
            true => (0, 0),
            false => self.line_and_column(self.added.start),
        };
        let added = self.text.get(self.added.clone()).unwrap_or_default();
        let added = added.chars().count() as u32;
        let column = match line == first_line && column > first {
            true => first.max(column.saturating_sub(added)),
            false => column,
        };
        TextPosition {
            location,
            line,
            column,
        }
    }

    fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let lines = self.lines.get_or_init(|| {
            let ends = self
                .text
                .bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect()
        });
        let line = lines.partition_point(|&start| start <= offset);
        let start = lines[line - 1];
        let column = match self.text.get(start..offset) {
            Some(before) if before.len() <= MAX_COUNTED_COLUMN => before.chars().count(),
            _ => offset - start,
        };
        (line as u32, column as u32 + 1)
    }
}

impl Documents {
    /// Adds a document and returns its number.
    pub fn add(&mut self, document: Arc<Document>) -> u32 {
        self.all.push(document);
        self.all.len() as u32 - 1
    }

    /// Puts another document in place of one.
    pub(crate) fn replace(&mut self, number: u32, document: Arc<Document>) {
        if let Some(known) = self.all.get_mut(number as usize) {
            *known = document;
        }
    }

    /// The documents in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Document>> {
        self.all.iter()
    }

    pub(crate) fn as_slice(&self) -> &[Arc<Document>] {
        &self.all
    }

    /// The number of the document that was loaded for a location. `None` if there is none.
    pub(crate) fn at_location(&self, location: &str) -> Option<u32> {
        self.by_location.get(location).copied()
    }

    /// The documents that were requested by their location, each with that location, in the order of loading.
    pub(crate) fn by_location(&self) -> Vec<(&str, &Arc<Document>)> {
        let requested = self.by_location.iter();
        let mut requested: Vec<(u32, &str)> = requested
            .map(|(location, &number)| (number, location.as_str()))
            .collect();
        requested.sort_unstable();
        let documents = requested.into_iter();
        documents
            .filter_map(|(number, location)| Some((location, self.document(number)?)))
            .collect()
    }

    /// Records which document was loaded for a location.
    pub(crate) fn answer_location(&mut self, location: String, number: u32) {
        self.by_location.insert(location, number);
    }

    /// Records which document was loaded for a namespace.
    pub(crate) fn answer_namespace(&mut self, namespace: String, number: u32) {
        self.by_namespace.insert(namespace, number);
    }

    fn source(&self, number: Option<&u32>) -> Option<Source> {
        let document = self.document(*number?)?;
        // The text was decoded before, so the byte order mark must override the encoding in its XML declaration.
        Some(Source {
            location: document.location.clone(),
            bytes: [b"\xEF\xBB\xBF", document.text.as_bytes()].concat(),
        })
    }

    /// The document with this number.
    pub fn document(&self, number: u32) -> Option<&Arc<Document>> {
        self.all.get(number as usize)
    }

    /// The location, line and column of a position. `None` if there is no such document.
    pub fn spell(&self, place: Position) -> Option<TextPosition> {
        Some(self.document(place.document)?.place(place.offset as usize))
    }

    /// The text of a document from a position to its end.
    pub(crate) fn text_at(&self, place: Position) -> &str {
        self.document(place.document)
            .and_then(|document| document.text().get(place.offset as usize..))
            .unwrap_or("")
    }
}

/// Loads again exactly the documents that were loaded before, without accessing files or network.
impl Loader for Documents {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        self.source(self.by_location.get(location))
            .ok_or(LoadError::NotHere)
    }

    fn load_namespace(&self, namespace: &str) -> Option<Source> {
        self.source(self.by_namespace.get(namespace))
    }
}

/// Where the name of the root element ends. `None` in a document with a document type declaration.
fn end_of_root_name(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        at += match rest {
            _ if rest.starts_with("<?") => rest.find("?>")?,
            _ if rest.starts_with("<!--") => rest.find("-->")?,
            _ if rest.starts_with("<!") => return None,
            _ => {
                let end = |c: char| c.is_whitespace() || matches!(c, '/' | '>');
                return Some(at + rest.find(end)?);
            }
        };
    }
}

/// The position of a node.
pub(crate) fn place_of(document: u32, node: Node<'_, '_>) -> Position {
    Position {
        document,
        offset: node.range().start as u32,
    }
}

/// The position of an attribute's value. If the node has no such attribute, the position of the node.
pub(crate) fn place_of_value(document: u32, node: Node<'_, '_>, attribute: &str) -> Position {
    match node.attribute_node(attribute) {
        Some(found) => Position {
            document,
            offset: found.range_value().start as u32,
        },
        None => place_of(document, node),
    }
}

/// Removes ` at row:column` from a message of roxmltree, because our messages end with the position.
fn without_place(sentence: &str) -> String {
    match sentence.rfind(" at ") {
        Some(at)
            if sentence[at + 4..]
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b':') =>
        {
            sentence[..at].to_owned()
        }
        _ => sentence.to_owned(),
    }
}

/// Decodes bytes by the byte order mark, the pattern of the first bytes (XML 1.0 appendix F), the declared encoding, or as UTF-8.
fn decode_text(bytes: &[u8]) -> Result<String, String> {
    let encoding = match bytes {
        [0xFE, 0xFF, ..] | [0, b'<', ..] => encoding_rs::UTF_16BE,
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => encoding_rs::UTF_16LE,
        _ => declared_encoding(bytes)?,
    };
    let (text, _, broken) = encoding.decode(bytes);
    if broken {
        return Err(format!("the bytes are not valid {} text", encoding.name()));
    }
    Ok(text.into_owned())
}

fn declared_encoding(bytes: &[u8]) -> Result<&'static encoding_rs::Encoding, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let head = &bytes[..bytes.len().min(256)];
    let head: String = head.iter().map(|&byte| char::from(byte)).collect();
    let declaration = head
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split("?>").next())
        .unwrap_or("");
    let Some((_, value)) = declaration.split_once("encoding") else {
        return Ok(encoding_rs::UTF_8);
    };
    let value = value.trim_start().trim_start_matches('=').trim_start();
    let label = value
        .get(1..)
        .and_then(|rest| rest.split(['"', '\'']).next())
        .unwrap_or("");
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        // A document that declares UTF-16, has no byte order mark and begins with ASCII bytes is UTF-8.
        Some(encoding) if encoding.is_ascii_compatible() => Ok(encoding),
        Some(_) => Ok(encoding_rs::UTF_8),
        None => Err(format!("the declared encoding {label:?} is not supported")),
    }
}

/// The version in the XML declaration.
fn declared_version(text: &str) -> Option<&str> {
    let declaration = text.trim_start_matches('\u{feff}').strip_prefix("<?xml")?;
    let (declaration, _) = declaration.split_once("?>")?;
    let (_, value) = declaration.split_once("version")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(value[1..].split_once(quote)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_without_declarations_that_were_added() {
        let text = "<?xml version='1.0'?>\n<!-- é --><a><x:b/><y:c é='1'/>\n<d/></a>";
        let original = Document::new("a.xml", text.as_bytes()).unwrap();
        let twice = original.declaring("x").and_then(|it| it.declaring("y"));
        let twice = twice.unwrap();
        for part in [
            "<?xml", "<!--", "<a", "<x:b", "<y:c", "é='1'", "<d/>", "</a>",
        ] {
            let [before, after] = [&original, &twice].map(|document| {
                let at = document.text().find(part).unwrap();
                document.place(at)
            });
            assert_eq!(after, before, "{part}");
        }
        // The parser's own positions, too.
        let once = original.declaring("x").unwrap();
        let error = once.parse(&LoadLimits::default()).unwrap_err();
        let expected = text.lines().nth(1).unwrap().find("<y:c").unwrap() + 1;
        let column = error.to_string();
        assert!(
            column.contains(&format!("a.xml:2:{expected}")),
            "{column} {expected}"
        );
    }

    #[test]
    fn bytes_are_read_in_the_encoding_they_claim() {
        let text = "<?xml version=\"1.0\"?><a>ä</a>";
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked: Vec<u8> = [0xFF, 0xFE]
            .into_iter()
            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        for bytes in [
            text.as_bytes(),
            &utf16,
            &marked,
            &[b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        ] {
            assert_eq!(Document::new("a.xml", bytes).unwrap().text(), text);
        }
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE4</a>";
        assert!(
            Document::new("a.xml", latin)
                .unwrap()
                .text()
                .ends_with("<a>ä</a>")
        );
        assert!(Document::new("a.xml", b"<a>\xE4</a>").is_err());
        assert!(Document::new("a.xml", b"<?xml version='1.0' encoding='nonsense'?><a/>").is_err());
    }

    #[test]
    fn xml_1_1_is_refused() {
        for (text, is_refused) in [
            ("<?xml version='1.1'?><a/>", true),
            (
                "\u{feff}<?xml version = \"1.1\" encoding='UTF-8'?><a/>",
                true,
            ),
            ("<?xml version='1.0'?><a version='1.1'/>", false),
            ("<a version='1.1'/>", false),
        ] {
            let document = Document::new("a.xml", text.as_bytes()).unwrap();
            let parsed = document.parse(&LoadLimits::default());
            assert_eq!(parsed.is_err(), is_refused, "{text}");
            if let Err(error) = parsed {
                assert!(
                    error.to_string().contains("XML 1.1 is not supported"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let document = Document::new("a.xsd", "<a>\n ä<b/></a>".as_bytes()).unwrap();
        assert_eq!(document.place(7).to_string(), "a.xsd:2:3");
        assert_eq!(document.place(0).to_string(), "a.xsd:1:1");
        assert_eq!(document.place(9999).line, 2);
    }

    #[test]
    fn what_is_not_well_formed_is_reported_with_its_place() {
        let document = Document::new("a.xsd", b"<a>\n<b></a>").unwrap();
        let error = document
            .parse(&LoadLimits::default())
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the document is not well-formed XML: expected 'b' tag, not 'a' at a.xsd:2:4"
        );
    }
}
