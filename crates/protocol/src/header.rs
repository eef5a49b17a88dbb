//! Header blocks: which are for us, which must be understood, and whether they are.
//!
//! A block is understood if the operation declares it or the service registered its name. One that says
//! `mustUnderstand`, is meant for a role this node plays, and is not understood, stops all processing.
//! (SOAP 1.1 §4.2; SOAP 1.2 Part 1 §2.4, §2.6)

use std::collections::HashSet;
use std::sync::Arc;

use bsoap_schema::SoapVersion;
use bsoap_xml::{Event, Options, Reader, Tag, Vocabulary};

use crate::{Fault, Name};

/// `actor` of SOAP 1.1 for whoever comes next on the message's path.
pub const NEXT_ACTOR: &str = "http://schemas.xmlsoap.org/soap/actor/next";
/// `role` of SOAP 1.2 for whoever comes next.
pub const NEXT_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/next";
/// `role` of SOAP 1.2 that nobody plays.
pub const NO_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/none";
/// `role` of SOAP 1.2 for whom the message is meant in the end; as if there were no `role`.
pub const ULTIMATE_ROLE: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// What a node is on the path of messages: the ultimate receiver, the roles it plays besides, and the header blocks
/// it understands besides those its operations declare.
#[derive(Clone, Debug, Default)]
pub struct Node {
    roles: HashSet<String>,
    understood: HashSet<Name>,
}

impl Node {
    /// The ultimate receiver, with nothing besides.
    pub fn new() -> Self {
        Self::default()
    }

    /// It also plays this role (`actor` in SOAP 1.1).
    #[must_use]
    pub fn playing(mut self, role: impl Into<String>) -> Self {
        self.roles.insert(role.into());
        self
    }

    /// It also understands header blocks of this name, in any operation.
    #[must_use]
    pub fn understanding(mut self, name: Name) -> Self {
        self.understood.insert(name);
        self
    }

    /// Whether a block with this `actor` or `role` is for this node.
    pub fn plays(&self, version: SoapVersion, role: Option<&str>) -> bool {
        match (version, role) {
            (_, None | Some("")) => true,
            (SoapVersion::Soap11, Some(NEXT_ACTOR)) => true,
            (SoapVersion::Soap12, Some(NEXT_ROLE | ULTIMATE_ROLE)) => true,
            (SoapVersion::Soap12, Some(NO_ROLE)) => false,
            (_, Some(role)) => self.roles.contains(role),
        }
    }

    /// The blocks that should have been understood and are not.
    pub fn not_understood(&self, version: SoapVersion, blocks: &[Block]) -> Vec<Name> {
        let demanded = blocks
            .iter()
            .filter(|block| block.must_understand && self.plays(version, block.role.as_deref()));
        let unknown =
            demanded.filter(|block| !block.is_declared && !self.understood.contains(&block.name));
        unknown.map(|block| block.name.clone()).collect()
    }
}

/// What a header block says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Its name.
    pub name: Name,
    /// Whether the operation declares it.
    pub is_declared: bool,
    /// Whether who does not understand it must not go on.
    pub must_understand: bool,
    /// For whom it is: `role`, in SOAP 1.1 `actor`.
    pub role: Option<String>,
    /// Whether an intermediary that ignored it passes it on. (SOAP 1.2)
    pub relay: bool,
}

impl Block {
    /// What the start tag of an undeclared block says.
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

    fn of_tag(version: SoapVersion, tag: &Tag<'_>) -> Result<Self, Fault> {
        let name = Name::new(tag.namespace(), tag.local());
        let mut block = Self {
            name,
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
                ("role", SoapVersion::Soap12) | ("actor", SoapVersion::Soap11) => {
                    block.role = Some(value.trim().to_owned());
                }
                _ => {}
            }
        }
        Ok(block)
    }
}

/// Whether an element kept as XML has an attribute of SOAP's own.
pub(crate) fn has_attribute(xml: &str, version: SoapVersion, local: &str) -> bool {
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    let fed = reader.feed(xml.as_bytes()).and_then(|()| reader.finish());
    let Ok(Some(Event::Start(tag))) = fed.and_then(|()| reader.next()) else {
        return false;
    };
    tag.attributes().any(|attribute| {
        attribute.local == local && attribute.namespace() == version.envelope_namespace()
    })
}

/// An attribute that says yes or no. SOAP 1.1 writes only `1` and `0`; the words do no harm there.
pub(crate) fn boolean(block: &Name, attribute: &str, value: &str) -> Result<bool, Fault> {
    match value.trim() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        other => Err(Fault::sender(format!(
            "{attribute}={other:?} of header block {block} is not a boolean"
        ))),
    }
}

/// The fault for blocks not understood, and the XML that names them in its Header. (SOAP 1.2 Part 1 §5.4.8)
pub(crate) fn must_understand(version: SoapVersion, names: &[Name]) -> (Fault, Vec<String>) {
    let listed: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let fault = Fault::new(
        crate::Code::MustUnderstand,
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

/// The header block that tells which Envelopes are understood here. (SOAP 1.2 Part 1 §5.4.7)
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

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // A namespace name came out of XML, so it can go back into it.
    let _ = bsoap_xml::escape_attribute(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

    #[test]
    fn a_block_is_for_us_by_default_by_next_and_by_the_roles_we_play() {
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
    fn a_blocks_own_words_are_read_in_its_versions_namespace_only() {
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
            let block = Block::of_xml(version, &xml).expect("a block");
            assert_eq!(
                (block.name, block.must_understand),
                (Name::new("urn:a", "b"), true)
            );
            assert_eq!(block.role.as_deref(), Some("urn:r"));
            let other = BOTH[usize::from(version == SoapVersion::Soap11)].envelope_namespace();
            let xml = format!("<b mustUnderstand='1' xmlns:s='{other}' s:mustUnderstand='1'/>");
            assert!(
                !Block::of_xml(version, &xml)
                    .expect("a block")
                    .must_understand
            );
            let xml = format!("<b xmlns:s='{namespace}' s:mustUnderstand='9'/>");
            assert_eq!(
                Block::of_xml(version, &xml)
                    .expect_err("not a boolean")
                    .code,
                crate::Code::Sender
            );
        }
    }

    #[test]
    fn only_what_is_demanded_of_us_and_unknown_is_not_understood() {
        let node = Node::new().understanding(Name::new("urn:a", "known"));
        let block = |local: &str| Block {
            name: Name::new("urn:a", local),
            must_understand: true,
            ..Block::default()
        };
        let blocks = [
            block("unknown"),
            block("known"),
            Block {
                is_declared: true,
                ..block("declared")
            },
            Block {
                role: Some("urn:other".into()),
                ..block("elsewhere")
            },
            Block {
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
