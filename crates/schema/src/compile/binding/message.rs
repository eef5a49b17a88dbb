//! The messages of a binding: the parts in the Body, the header blocks and the declared faults.

use bsoap_codec::plan::{Content, ElementId, PlanBuilder, TypeId};
use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::super::encoded::EncodedVariants;
use super::super::envelope::{Accessors, part_element, rpc_wrapper};
use super::super::parts::undefined;
use super::super::profile;
use super::action;
use super::{Binder, COMPARED_PER_UNIT, Direction, Matched, PART_RULE, Placed, Work, is_loose_end};
use crate::definitions::{Body, FaultMessage, HeaderPart, Message, Part, SoapVersion, Style};
use crate::document::Position;
use crate::work::CHARACTERS_PER_UNIT;
use crate::wsdl::{self, BindingFault, BindingMessage, BindingOperation, PartContent, SoapHeader};
use crate::{Error, ExpandedName, Result, Sort};

impl<'a> Binder<'a> {
    pub(super) fn message(
        &mut self,
        work: &mut Work<'_>,
        (bound, declared): Matched<'a>,
        direction: Direction,
        (side, used): (&'a BindingMessage, &'a wsdl::Use),
    ) -> Result<Message> {
        let (name, _) = self.abstract_message(&used.message)?;
        let headers = self.header_parts(work, direction, &side.headers)?;
        let header_faults = self.header_parts(work, Direction::Response, &side.header_faults)?;
        let parts = self.body_parts(work.version, side, used, bound.style)?;
        let arrays = self.arrays;
        let independent = self
            .variants(work.version, side.body.encoded)
            .map(|(variants, builder)| variants.independent(builder, arrays));
        let (body, elements) = match (bound.style, &parts[..]) {
            (Style::Rpc, _) => {
                let wrapper = self.wrapper(work, bound, direction, side.body.encoded);
                let parts = named(&parts);
                (Body::Rpc { wrapper, parts }, vec![wrapper])
            }
            (Style::Document, []) => (Body::Empty, Vec::new()),
            (Style::Document, [(part, element)])
                if matches!(part.content, PartContent::Element(_)) && self.is_wrapper(*element) =>
            {
                (Body::Wrapped { wrapper: *element }, vec![*element])
            }
            (Style::Document, parts) => (
                Body::Bare {
                    parts: named(parts),
                },
                parts.iter().map(|&(_, element)| element).collect(),
            ),
        };
        let branch = work
            .traffic(direction)
            .branch(self.builder, &elements, independent);
        Ok(Message {
            name: name.local.to_string(),
            body,
            headers,
            header_faults,
            attachments: side.attachments.clone(),
            branch,
            action: action::of_message(work.port_type, (bound, declared), direction, used),
            policies: self.joined(&side.policies, &used.policies, used.message.place)?,
        })
    }

    /// The header blocks that are declared for a message, without those that are only notes.
    fn header_parts(
        &mut self,
        work: &mut Work<'_>,
        direction: Direction,
        headers: &'a [SoapHeader],
    ) -> Result<Vec<HeaderPart>> {
        let mut parts = Vec::new();
        for header in headers {
            let block = self.header_block(work.version, header);
            let Some(block) = self.unless_loose_header(header, block)? else {
                continue;
            };
            parts.push(HeaderPart {
                name: header.part.clone(),
                element: block,
                branch: work.traffic(direction).header(block),
            });
        }
        Ok(parts)
    }

    /// The wrapper element of an rpc message, with its parts as children.
    fn wrapper(
        &mut self,
        work: &mut Work<'_>,
        bound: &BindingOperation,
        direction: Direction,
        encoded: bool,
    ) -> ElementId {
        let (namespace, local) = self.wrapper_name(work, bound, direction);
        let children = &work.shapes[&(direction, namespace.clone(), local.clone())];
        let children = children.clone();
        let accessors = match encoded {
            true => Accessors::Named(work.version),
            false => Accessors::InOrder,
        };
        if encoded {
            // Some peers qualify the parts as they do the wrapper.
            for &(part, _) in &children {
                self.builder.alias(part, &namespace);
            }
        }
        let wrapper = self.rpc_wrapper(namespace, local, accessors, children);
        if let Some((variants, builder)) = self.variants(work.version, encoded) {
            variants.wrapper(builder, wrapper);
        }
        wrapper
    }

    /// True if the children of this element are the arguments: the element has a complex type without text. (Stricter
    /// definitions of "wrapped" also require that it has the operation's name; the message is the same.)
    fn is_wrapper(&self, element: ElementId) -> bool {
        let def = self.builder.element_def(element);
        let Some(ty) = self.builder.type_def(def.ty) else {
            return false;
        };
        !def.is_abstract
            && !ty.is_abstract
            && matches!(ty.content, Content::Particle(_) | Content::Empty)
    }

    fn rpc_wrapper(
        &mut self,
        namespace: String,
        local: String,
        accessors: Accessors,
        parts: Vec<(ElementId, bool)>,
    ) -> ElementId {
        let builder = &mut *self.builder;
        *self
            .wrappers
            .entry((namespace, local, accessors, parts))
            .or_insert_with_key(|(namespace, local, accessors, parts)| {
                rpc_wrapper(builder, namespace, local, *accessors, parts)
            })
    }

    fn abstract_message(
        &self,
        reference: &wsdl::RawReference,
    ) -> Result<(&'a ExpandedName, &'a wsdl::RawMessage)> {
        wsdl::resolve(
            &self.wsdl.messages,
            reference,
            Sort::Message,
            self.schemas.documents(),
        )
    }

    /// The parts in the Body: those that `soap:body` selects, or all except attachments and header blocks.
    pub(super) fn body_parts(
        &mut self,
        version: SoapVersion,
        side: &'a BindingMessage,
        used: &'a wsdl::Use,
        style: Style,
    ) -> Result<Vec<Placed<'a>>> {
        let (name, message) = self.abstract_message(&used.message)?;
        if self.is_strict {
            profile::of_body(self.schemas, side, style, message, used.message.place)?;
        }
        let mut parts = Vec::new();
        // Each operation of each binding has elements for all parts of its messages.
        let selected = side.body.parts.as_ref().map_or(0, Vec::len);
        let names = side.headers.len() + side.attachments.len() + selected;
        let compared = names.saturating_mul(message.parts.len()) / COMPARED_PER_UNIT;
        self.schemas
            .charge(4 * message.parts.len() + compared, used.message.place)?;
        for part in self.select_parts(side, name, message, used)? {
            let element = match (&part.content, style) {
                (PartContent::Neither, _) => {
                    self.notes.push((
                        Some(part.place),
                        format!(
                            "part \"{}\" has neither the attribute element nor type; the part is ignored",
                            part.name
                        ),
                    ));
                    continue;
                }
                (PartContent::Element(reference), style) => {
                    let element = self.element(reference)?;
                    let encoded = style == Style::Document && side.body.encoded;
                    self.root_of(version, element, encoded)
                }
                (PartContent::Type(reference), Style::Document) => {
                    let ty = self.ty(reference)?;
                    let namespace = side.body.namespace.as_deref();
                    let namespace = namespace.filter(|_| side.body.encoded).unwrap_or("");
                    let element = self.part_element(namespace, &part.name, ty, false);
                    self.root_of(version, element, side.body.encoded)
                }
                (PartContent::Type(reference), Style::Rpc) => {
                    let ty = self.ty(reference)?;
                    // Encoded messages may omit any value. (SOAP 1.1 §5.1)
                    let encoded = side.body.encoded;
                    let element = self.part_element("", &part.name, ty, encoded);
                    let arrays = self.arrays;
                    match self.variants(version, encoded) {
                        Some((variants, builder)) => variants.part(builder, arrays, element),
                        None => element,
                    }
                }
            };
            parts.push((part, element));
        }
        Ok(parts)
    }

    /// An element in the Body, in a detail or in the Header: its variant if that is encoded.
    fn root_of(&mut self, version: SoapVersion, element: ElementId, encoded: bool) -> ElementId {
        let arrays = self.arrays;
        match self.variants(version, encoded) {
            Some((variants, builder)) => variants.root(builder, arrays, element),
            None => element,
        }
    }

    /// The variants of types for encoded messages, if this one is encoded.
    fn variants(
        &mut self,
        version: SoapVersion,
        encoded: bool,
    ) -> Option<(&mut EncodedVariants, &mut PlanBuilder)> {
        let encoding = self.encoding.filter(|_| encoded)?;
        let builder = &mut *self.builder;
        let variants = self.encoded.entry(version);
        let variants = variants.or_insert_with(|| EncodedVariants::new(builder, version, encoding));
        Some((variants, builder))
    }

    fn select_parts(
        &mut self,
        side: &'a BindingMessage,
        name: &ExpandedName,
        message: &'a wsdl::RawMessage,
        used: &wsdl::Use,
    ) -> Result<Vec<&'a wsdl::RawPart>> {
        if let Some(names) = &side.body.parts {
            let mut parts = Vec::with_capacity(names.len());
            for part in names {
                let found = message.parts.iter().find(|one| one.name == *part);
                let found = found.ok_or_else(|| self.no_part(name, part, used.message.place));
                match found {
                    Err(error) if !self.is_strict => self.notes.push((
                        Some(used.message.place),
                        format!("a part of soap:body is ignored: {}", error.kind()),
                    )),
                    found => parts.push(found?),
                }
            }
            return Ok(parts);
        }
        let in_header = |part: &wsdl::RawPart| {
            let same = |header: &SoapHeader| {
                header.message.name == *name || header.message.fallback.as_ref() == Some(name)
            };
            side.headers
                .iter()
                .any(|header| header.part == part.name && same(header))
        };
        let is_body = |part: &&wsdl::RawPart| !side.is_attachment(&part.name) && !in_header(part);
        let parts: Vec<_> = message.parts.iter().filter(is_body).collect();
        // The Body has all parts if `parts` is missing (WSDL 1.1 §3.5). Those of header blocks are meant to be in the Header alone,
        // unless that leaves nothing: then the part is in both.
        match (&parts[..], &message.parts[..]) {
            ([], [only]) if in_header(only) => Ok(vec![only]),
            _ => Ok(parts),
        }
    }

    fn no_part(&self, message: &ExpandedName, part: &str, place: Position) -> Error {
        self.schemas.broken(
            PART_RULE,
            format!("message \"{message}\" has no part \"{part}\""),
            place,
        )
    }

    fn part_element(
        &mut self,
        namespace: &str,
        local: &str,
        ty: TypeId,
        nillable: bool,
    ) -> ElementId {
        let builder = &mut *self.builder;
        let key = (namespace.to_owned(), local.to_owned(), ty, nillable);
        *self
            .parts
            .entry(key)
            .or_insert_with(|| part_element(builder, namespace, local, ty, nillable))
    }

    fn header_block(&mut self, version: SoapVersion, header: &'a SoapHeader) -> Result<ElementId> {
        let (name, message) = self.abstract_message(&header.message)?;
        let compared = message.parts.len() / COMPARED_PER_UNIT;
        self.schemas.charge(1 + compared, header.message.place)?;
        let part = message.parts.iter().find(|part| part.name == header.part);
        let part = part.ok_or_else(|| self.no_part(name, &header.part, header.message.place))?;
        let namespace = header.namespace.as_deref().unwrap_or("");
        let element = self.part_as_element(part, namespace, header.encoded)?;
        let element = element.ok_or_else(|| {
            let label = &header.part;
            let neither =
                format!("part \"{label}\" of message \"{name}\" has neither an element nor a type");
            self.schemas.broken(PART_RULE, neither, part.place)
        })?;
        let element = self.root_of(version, element, header.encoded);
        Ok(self.envelopes.header_block(self.builder, version, element))
    }

    /// A header block with an undefined reference is ignored; its operation is kept.
    fn unless_loose_header(
        &mut self,
        header: &SoapHeader,
        made: Result<ElementId>,
    ) -> Result<Option<ElementId>> {
        match made {
            Err(error) if is_loose_end(&error) && !self.is_strict => {
                let note = format!("header block \"{}\" is ignored: {error}", header.part);
                self.ignored(note, header.message.place)?;
                Ok(None)
            }
            made => made.map(Some),
        }
    }

    /// The element of a part outside of an rpc wrapper. `None` if the part has neither element nor type.
    fn part_as_element(
        &mut self,
        part: &'a wsdl::RawPart,
        namespace: &str,
        encoded: bool,
    ) -> Result<Option<ElementId>> {
        Ok(match &part.content {
            PartContent::Element(reference) => Some(self.element(reference)?),
            PartContent::Type(reference) => {
                if self.is_strict && !encoded {
                    return Err(profile::of_header_or_fault(self.schemas, part));
                }
                let ty = self.ty(reference)?;
                Some(self.part_element(namespace, &part.name, ty, false))
            }
            PartContent::Neither => None,
        })
    }

    pub(super) fn faults(
        &mut self,
        work: &mut Work<'_>,
        (bound, declared): Matched<'a>,
    ) -> Result<Vec<FaultMessage>> {
        let names = declared.faults.iter().filter_map(|it| it.name.as_deref());
        let names: HashSet<&str> = names.collect();
        for fault in &bound.faults {
            if !names.contains(&*fault.name) {
                let message = format!(
                    "the binding has a fault \"{}\" that the port type's operation \"{}\" does not have; the fault is ignored",
                    fault.name, declared.name
                );
                self.ignored(message, bound.place)?;
            }
        }
        let mut stated: HashMap<&str, Vec<&BindingFault>> = HashMap::new();
        for fault in &bound.faults {
            let of_name = stated.entry(&fault.name).or_default();
            // Only the first, and the first that is encoded, say something.
            if of_name.is_empty() || fault.encoded && !of_name.iter().any(|it| it.encoded) {
                of_name.push(fault);
            }
        }
        let faults = declared.faults.iter();
        faults
            .map(|fault| self.fault(work, declared, fault, &stated))
            .collect()
    }

    /// A declared fault, with what the binding states of each name.
    fn fault(
        &mut self,
        work: &mut Work<'_>,
        declared: &'a wsdl::RawOperation,
        fault: &'a wsdl::Use,
        stated: &HashMap<&str, Vec<&BindingFault>>,
    ) -> Result<FaultMessage> {
        let place = fault.message.place;
        // Each binding has the faults of its port type, and a detail is searched among those before it.
        let compared = work.details.len() / COMPARED_PER_UNIT;
        let copied = work.port_type.namespace.len() / CHARACTERS_PER_UNIT;
        self.schemas.charge(4 + compared + copied, place)?;
        let of_name = |name: &str| stated.get(name).map_or(&[][..], Vec::as_slice);
        let mut same = fault.name.as_deref().map_or(&[][..], of_name).iter();
        let encoded = same.find(|one| one.encoded);
        let namespace = encoded.and_then(|one| one.namespace.as_deref());
        let encoded = encoded.is_some();
        let (name, message) = self.abstract_message(&fault.message)?;
        let mut detail = match message.parts.first() {
            Some(part) => self.part_as_element(part, namespace.unwrap_or(""), encoded)?,
            None => None,
        };
        if let Some(declared) = detail.filter(|_| encoded) {
            detail = Some(self.root_of(work.version, declared, true));
            let arrays = self.arrays;
            if let Some((variants, builder)) = self.variants(work.version, true) {
                work.independent = Some(variants.independent(builder, arrays));
            }
        }
        if let Some(detail) = detail.filter(|detail| !work.details.contains(detail)) {
            work.details.push(detail);
        }
        let name = fault.name.clone().unwrap_or_else(|| name.local.to_string());
        let action = fault
            .action
            .clone()
            .unwrap_or_else(|| action::default(work.port_type, &[&declared.name, "Fault", &name]));
        let of_binding = of_name(&name).first().map_or(&[][..], |it| &it.policies);
        Ok(FaultMessage {
            policies: self.joined(of_binding, &fault.policies, place)?,
            name,
            detail,
            action,
            documentation: fault.documentation.clone(),
        })
    }

    fn element(&self, reference: &wsdl::RawReference) -> Result<ElementId> {
        self.lookup(self.elements, reference, Sort::Element)
    }

    fn ty(&self, reference: &wsdl::RawReference) -> Result<TypeId> {
        self.lookup(self.types, reference, Sort::Type)
    }

    fn lookup<T: Copy>(
        &self,
        map: &HashMap<ExpandedName, T>,
        reference: &wsdl::RawReference,
        sort: Sort,
    ) -> Result<T> {
        reference
            .candidates()
            .find_map(|name| map.get(name))
            .copied()
            .ok_or_else(|| undefined(self.schemas, sort, reference))
    }
}

/// The parts of a Body by name.
fn named(parts: &[Placed<'_>]) -> Vec<Part> {
    let part = |&(part, element): &Placed<'_>| Part {
        name: part.name.clone(),
        element,
    };
    parts.iter().map(part).collect()
}
