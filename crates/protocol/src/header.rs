//! Header blocks: which are addressed to this node, and which of those it must understand but does not.
//!
//! A block is understood if the operation declares it or the service registered its name. A block with
//! `mustUnderstand` that is addressed to this node and is not understood stops all processing.
//! (SOAP 1.1 §4.2; SOAP 1.2 Part 1 §2.4, §2.6)

use std::collections::HashSet;
use std::sync::Arc;

use bsoap_codec::plan::Plan;
use bsoap_codec::{Item, Record, View};
use bsoap_schema::{HeaderPart, Message, SoapVersion};
use bsoap_xml::{Event, Options, Reader, Tag, Vocabulary};

use crate::envelope::Opened;
use crate::excerpt::escaped;
use crate::fault::{Code, Fault};
use crate::name::{Name, element_name};

mod attributes;
mod limits;
mod others;
mod walk;

pub use attributes::BlockAttributes;
pub(crate) use limits::Exceeded;
pub use limits::HeaderLimits;
pub(crate) use others::take_others;
pub(crate) use walk::{Seen, walk};

/// The `actor` of SOAP 1.1 that addresses the next node on the message's path.
pub const NEXT_ACTOR: &str = "http://schemas.xmlsoap.org/soap/actor/next";
/// The `role` of SOAP 1.2 that addresses the next node on the message's path.
pub const NEXT_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/next";
/// The `role` of SOAP 1.2 that no node plays.
pub const NO_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/none";
/// The `role` of SOAP 1.2 that addresses the ultimate receiver. This is also the default.
pub const ULTIMATE_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// A SOAP node that is the ultimate receiver. It may play more roles, and understand header blocks in addition to those that
/// its operations declare.
#[derive(Clone, Debug, Default)]
pub struct Node {
    roles: HashSet<String>,
    understood: HashSet<Name>,
    limits: HeaderLimits,
}

impl Node {
    /// A node without additional roles and header blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a role (`actor` in SOAP 1.1) that the node plays.
    #[must_use]
    pub fn playing(mut self, role: impl Into<String>) -> Self {
        self.roles.insert(role.into());
        self
    }

    /// Adds the name of header blocks that the node understands in any operation.
    #[must_use]
    pub fn understanding(mut self, name: Name) -> Self {
        self.understood.insert(name);
        self
    }

    /// Sets how large the Header of a message may be.
    #[must_use]
    pub fn with_header_limits(mut self, limits: HeaderLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How large the Header of a message may be.
    pub fn header_limits(&self) -> &HeaderLimits {
        &self.limits
    }

    /// True if a block with this `actor` or `role` is addressed to this node.
    pub fn plays(&self, version: SoapVersion, role: Option<&str>) -> bool {
        match (version, role) {
            (_, None | Some("")) => true,
            (SoapVersion::Soap11, Some(NEXT_ACTOR)) => true,
            (SoapVersion::Soap12, Some(NEXT_ROLE | ULTIMATE_ROLE)) => true,
            (SoapVersion::Soap12, Some(NO_ROLE)) => false,
            (_, Some(role)) => self.roles.contains(role),
        }
    }

    /// The names of the blocks that this node must understand but does not.
    pub fn not_understood(&self, version: SoapVersion, blocks: &[HeaderBlock]) -> Vec<Name> {
        let demanded = blocks
            .iter()
            .filter(|block| block.must_understand && self.plays(version, block.role.as_deref()));
        let unknown =
            demanded.filter(|block| !block.is_declared && !self.understood.contains(&block.name));
        unknown.map(|block| block.name.clone()).collect()
    }
}

/// The name of a header block and its attributes of the SOAP namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderBlock {
    /// The expanded name of the block.
    pub name: Name,
    /// True if the operation declares the block.
    pub is_declared: bool,
    /// True if a node that does not understand the block must refuse the message.
    pub must_understand: bool,
    /// The node that the block is addressed to: `role`, in SOAP 1.1 `actor`.
    pub role: Option<String>,
    /// True if an intermediary that did not process the block forwards it. (SOAP 1.2)
    pub relay: bool,
    /// The XML of a block that is addressed to another node: it is neither validated nor decoded. `None` for other blocks.
    pub raw: Option<String>,
}

impl HeaderBlock {
    /// Reads the name and the attributes in the start tag of an undeclared block.
    ///
    /// # Errors
    /// A fault if an attribute that should be a boolean is not.
    pub(crate) fn of_xml(version: SoapVersion, xml: &str) -> Result<Self, Fault> {
        let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
        let fed = reader.feed(xml.as_bytes()).and_then(|()| reader.finish());
        match fed.and_then(|()| reader.next()) {
            Ok(Some(Event::Start(tag))) => Self::of_tag(version, &tag),
            _ => Err(Fault::sender("a header block is not an element")),
        }
    }

    /// The node that a block is addressed to.
    fn role_of(version: SoapVersion, tag: &Tag<'_>) -> Option<String> {
        let local = match version {
            SoapVersion::Soap11 => "actor",
            SoapVersion::Soap12 => "role",
        };
        let mut attributes = tag.attributes();
        let role = attributes.find(|attribute| {
            attribute.local == local && attribute.namespace() == version.envelope_namespace()
        })?;
        Some(role.value().trim().to_owned())
    }

    fn of_tag(version: SoapVersion, tag: &Tag<'_>) -> Result<Self, Fault> {
        let name = Name::new(tag.namespace(), tag.local());
        let mut block = Self {
            name,
            role: Self::role_of(version, tag),
            ..Self::default()
        };
        for attribute in tag
            .attributes()
            .filter(|attribute| attribute.namespace() == version.envelope_namespace())
        {
            let value = attribute.value();
            match (attribute.local, version) {
                ("mustUnderstand", _) => {
                    block.must_understand = boolean(&block.name, attribute.local, &value)?;
                }
                ("relay", SoapVersion::Soap12) => {
                    block.relay = boolean(&block.name, attribute.local, &value)?;
                }
                _ => {}
            }
        }
        Ok(block)
    }
}

/// The XML of an undeclared block without its attributes of the SOAP namespace, which its element does not declare. `None` if
/// the text is not an element.
pub fn without_soap_attributes(version: SoapVersion, xml: &str) -> Option<String> {
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    let fed = reader.feed(xml.as_bytes()).and_then(|()| reader.finish());
    let Ok(Some(Event::Start(tag))) = fed.and_then(|()| reader.next()) else {
        return None;
    };
    let begin = usize::try_from(tag.offset).ok()?;
    let (mut text, mut copied) = (String::with_capacity(xml.len()), begin);
    for attribute in tag
        .attributes()
        .filter(|attribute| attribute.namespace() == version.envelope_namespace())
    {
        let value = usize::try_from(attribute.offset).ok()?;
        let name = format!("{}:{}", attribute.prefix, attribute.local);
        let start = copied + xml.get(copied..value)?.rfind(&name)?;
        text.push_str(xml.get(copied..start)?);
        copied = value + attribute.raw.len() + 1;
    }
    text.push_str(xml.get(copied..)?);
    Some(text)
}

/// The name of a block in the XML of an undeclared one. `None` if the text is not an element.
pub fn name_of_xml(xml: &str) -> Option<Name> {
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    let fed = reader.feed(xml.as_bytes()).and_then(|()| reader.finish());
    match fed.and_then(|()| reader.next()) {
        Ok(Some(Event::Start(tag))) => Some(Name::new(tag.namespace(), tag.local())),
        _ => None,
    }
}

/// The header blocks of a message.
///
/// # Errors
/// A fault if an attribute that must be a boolean is not.
pub(crate) fn blocks(
    plan: &Plan,
    version: SoapVersion,
    input: Option<&Message>,
    record: &Record,
) -> Result<Vec<HeaderBlock>, Fault> {
    let Some(header) = Opened::of(record).and_then(|opened| opened.header) else {
        return Ok(Vec::new());
    };
    let mut blocks = Vec::new();
    for item in header.items() {
        match item {
            Item::Element(view) => {
                let is_part = |part: &HeaderPart| part.element == view.element_id();
                let is_declared = input.is_some_and(|input| input.headers.iter().any(is_part));
                blocks.push(known_block(plan, version, &view, is_declared)?);
            }
            Item::Xml(xml) => blocks.push(HeaderBlock::of_xml(version, xml)?),
            // Text between blocks, which is white space.
            _ => {}
        }
    }
    Ok(blocks)
}

/// Reads a block that the Plan knows: one that this operation or another one declares.
fn known_block(
    plan: &Plan,
    version: SoapVersion,
    view: &View<'_>,
    is_declared: bool,
) -> Result<HeaderBlock, Fault> {
    let name = element_name(plan, view.element_id());
    let attribute = |local: &str| {
        let attribute = view.attribute(&format!("{{{}}}{local}", version.envelope_namespace()))?;
        Some(attribute.text().into_owned())
    };
    let flag =
        |local: &str| attribute(local).map_or(Ok(false), |value| boolean(&name, local, &value));
    let (must_understand, relay) = (flag("mustUnderstand")?, flag("relay")?);
    let role = attribute(match version {
        SoapVersion::Soap11 => "actor",
        SoapVersion::Soap12 => "role",
    });
    Ok(HeaderBlock {
        name,
        is_declared,
        must_understand,
        role,
        relay,
        raw: None,
    })
}

/// The fault for an Envelope, a Header or a Body of SOAP 1.2 with an attribute of SOAP, of which they have none: `encodingStyle`
/// belongs to header blocks and to the children of Body, the others to header blocks. (SOAP 1.2 Part 1 §5.1.1, §5.2.2 - §5.2.4)
pub(crate) fn misplaced_attribute(record: &Record) -> Option<Fault> {
    let opened = Opened::of(record)?;
    // They have no declared attributes: all are kept as XML, in the first slot of each.
    let sections = [
        ("Envelope", Some(View::of(record))),
        ("Header", opened.header),
        ("Body", Some(opened.body)),
    ];
    sections.into_iter().find_map(|(section, view)| {
        let slot = *record.slots().get(view?.first_slot())?;
        let attribute = soap_attribute(record.text(slot))?;
        let reason =
            format!("the {section} has the attribute {attribute} of SOAP, which it must not have");
        Some(Fault::sender(reason))
    })
}

/// The local name of the first attribute of SOAP 1.2 in a start tag.
fn soap_attribute(xml: &str) -> Option<String> {
    if xml.is_empty() {
        return None;
    }
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    let fed = reader.feed(xml.as_bytes()).and_then(|()| reader.finish());
    let Ok(Some(Event::Start(tag))) = fed.and_then(|()| reader.next()) else {
        return None;
    };
    let namespace = SoapVersion::Soap12.envelope_namespace();
    let mut attributes = tag.attributes();
    let found = attributes.find(|attribute| attribute.namespace() == namespace)?;
    Some(found.local.to_owned())
}

/// Parses a boolean attribute. SOAP 1.1 allows only `1` and `0`, but `true` and `false` are accepted there, too.
fn boolean(block: &Name, attribute: &str, value: &str) -> Result<bool, Fault> {
    match value.trim() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(Fault::sender(format!(
            "{attribute}={other:?} of header block {block} is not a boolean (0, 1, false or true)"
        ))),
    }
}

/// The fault for blocks that are not understood, and the XML of the header blocks that name them. (SOAP 1.2 Part 1 §5.4.8)
pub(crate) fn must_understand(version: SoapVersion, names: &[Name]) -> (Fault, Vec<String>) {
    let listed: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let fault = Fault::new(
        Code::MustUnderstand,
        format!("header blocks not understood: {}", listed.join(", ")),
    );
    let named = match version {
        SoapVersion::Soap11 => Vec::new(),
        SoapVersion::Soap12 => names.iter().map(not_understood_block).collect(),
    };
    (fault, named)
}

fn not_understood_block(name: &Name) -> String {
    let namespace = SoapVersion::Soap12.envelope_namespace();
    let (prefix, declaration) = match name.namespace.as_str() {
        "" => (String::new(), String::new()),
        uri => ("n:".to_owned(), format!(" xmlns:n=\"{}\"", escaped(uri))),
    };
    format!(
        "<soap:NotUnderstood xmlns:soap=\"{namespace}\"{declaration} qname=\"{prefix}{}\"/>",
        name.local
    )
}

/// The header block that lists the supported Envelopes. (SOAP 1.2 Part 1 §5.4.7)
pub(crate) fn upgrade_block(versions: &[SoapVersion]) -> String {
    let namespace = SoapVersion::Soap12.envelope_namespace();
    let supported = versions.iter().map(|version| {
        let namespace = version.envelope_namespace();
        format!("<up:SupportedEnvelope qname=\"e:Envelope\" xmlns:e=\"{namespace}\"/>")
    });
    format!(
        "<up:Upgrade xmlns:up=\"{namespace}\">{}</up:Upgrade>",
        supported.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

    #[test]
    fn a_block_is_addressed_to_a_node_by_default_by_next_and_by_its_roles() {
        let node = Node::new().playing("urn:mine");
        for version in BOTH {
            for ours in [None, Some(""), Some("urn:mine")] {
                assert!(node.plays(version, ours), "{version} {ours:?}");
            }
            assert!(!node.plays(version, Some("urn:yours")));
            assert!(!node.plays(version, Some(NO_ROLE)));
        }
        assert!(
            node.plays(SoapVersion::Soap11, Some(NEXT_ACTOR))
                && !node.plays(SoapVersion::Soap11, Some(NEXT_ROLE))
        );
        assert!(
            node.plays(SoapVersion::Soap12, Some(ULTIMATE_ROLE))
                && !node.plays(SoapVersion::Soap12, Some(NEXT_ACTOR))
        );
    }

    #[test]
    fn soap_attributes_of_a_block_are_read_in_the_namespace_of_its_version_only() {
        for version in BOTH {
            let role = if version == SoapVersion::Soap11 {
                "actor"
            } else {
                "role"
            };
            let namespace = version.envelope_namespace();
            let xml = format!(
                "<a:b xmlns:a='urn:a' xmlns:s='{namespace}' s:mustUnderstand=' 1 ' s:{role}='urn:r'/>"
            );
            let block = HeaderBlock::of_xml(version, &xml).expect("a block");
            assert_eq!(
                (block.name, block.must_understand),
                (Name::new("urn:a", "b"), true)
            );
            assert_eq!(block.role.as_deref(), Some("urn:r"));
            let other = BOTH[usize::from(version == SoapVersion::Soap11)].envelope_namespace();
            let xml = format!("<b mustUnderstand='1' xmlns:s='{other}' s:mustUnderstand='1'/>");
            assert!(
                !HeaderBlock::of_xml(version, &xml)
                    .expect("a block")
                    .must_understand
            );
            let xml = format!("<b xmlns:s='{namespace}' s:mustUnderstand='9'/>");
            assert_eq!(
                HeaderBlock::of_xml(version, &xml)
                    .expect_err("not a boolean")
                    .code,
                Code::Sender
            );
        }
    }

    #[test]
    fn a_block_can_do_without_its_soap_attributes() {
        for version in BOTH {
            let namespace = version.envelope_namespace();
            let start = format!("<a:b xmlns:a='urn:a' xmlns:s='{namespace}'");
            for (given, left) in [
                (" s:mustUnderstand = '1'", " "),
                (" k='s:role' s:relay=\"1\" l='2'", " k='s:role'  l='2'"),
                (" s:actor='s:actor'\ns:role='x'", " \n"),
                (" mustUnderstand='1'", " mustUnderstand='1'"),
            ] {
                let plain = without_soap_attributes(version, &format!("{start}{given}>x</a:b>"));
                assert_eq!(plain, Some(format!("{start}{left}>x</a:b>")));
            }
        }
        assert_eq!(without_soap_attributes(SoapVersion::Soap11, "text"), None);
    }

    #[test]
    fn only_unknown_blocks_that_must_be_understood_by_this_node_are_listed() {
        let node = Node::new().understanding(Name::new("urn:a", "known"));
        let block = |local: &str| HeaderBlock {
            name: Name::new("urn:a", local),
            must_understand: true,
            ..HeaderBlock::default()
        };
        let blocks = [
            block("unknown"),
            block("known"),
            HeaderBlock {
                is_declared: true,
                ..block("declared")
            },
            HeaderBlock {
                role: Some("urn:other".into()),
                ..block("elsewhere")
            },
            HeaderBlock {
                must_understand: false,
                ..block("optional")
            },
        ];
        assert_eq!(
            node.not_understood(SoapVersion::Soap12, &blocks),
            [Name::new("urn:a", "unknown")]
        );
    }
}
