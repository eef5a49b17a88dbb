//! The attributes of a start tag: those of the type, in schema order; `xsi:nil` and `xsi:type`; and all others.

use bsoap_datatypes::{Datatype, NAMESPACE as XSD, Variety, boolean, qname, trim};
use bsoap_xml::{Attribute as Found, NameId, Tag, XML_NAMESPACE};

use super::sink::Sink;
use crate::expanded::XSI;
use crate::plan::{Attribute, Content, Element, LeafKind, Plan, Type, TypeId};
use crate::record::marker;

use super::builder::{Builder, FormLocation, InTag, Lexical};
use super::declared::allows_absence;
use super::encoded::size_in;
use super::error::{Error, ErrorKind, Name, bounded};
use super::frame::{Frame, NO_PARTICLE};
use super::options::Validation;
use super::skeleton::{LoggedAttribute, LoggedValue, Written};
use super::tolerance::Deviation;
use super::{fragment, leaf};

impl<S: Sink> Builder<'_, S> {
    /// Reads `xsi:nil` and `xsi:type`. Returns whether the element is nil, and its actual type.
    pub(super) fn instance_attributes(
        &mut self,
        element: &Element,
        tag: &Tag<'_>,
    ) -> Result<(bool, TypeId), Error> {
        let (mut nil, mut ty) = (false, element.ty);
        for attribute in tag.attributes().filter(is_instance) {
            match attribute.local {
                "nil" => {
                    let value = attribute.value();
                    nil = match boolean::parse(trim(&value).as_bytes()) {
                        Ok(nil) => nil,
                        Err(error) => {
                            self.report_attribute(error.into(), &attribute)?;
                            false
                        }
                    };
                    if nil && !element.nillable {
                        self.not_nillable(&attribute)?;
                    }
                }
                "type" => match actual_type(self.plan, element, tag, &attribute.value()) {
                    Ok(actual) => ty = actual,
                    Err(kind) => self.report_type(kind, &attribute)?,
                },
                _ => {}
            }
        }
        Ok((nil, ty))
    }

    #[cold]
    fn not_nillable(&mut self, attribute: &Found<'_>) -> Result<(), Error> {
        let path = format!("{}/@{}", self.path(), attribute.local);
        let error = Error::new(ErrorKind::NotNillable, path, attribute.offset);
        let plan = self.plan;
        let frame = self.innermost();
        let is_accepted = frame.is_some_and(|it| {
            let particle = (it.particle != NO_PARTICLE).then_some(it.particle);
            allows_absence(plan, it.element, particle)
        });
        self.refuse(error.about(is_accepted.then_some(Deviation::NilValue)))
    }

    /// Reports an `xsi:type` that the element cannot have.
    #[cold]
    fn report_type(&mut self, kind: ErrorKind, attribute: &Found<'_>) -> Result<(), Error> {
        let is_readable = match &kind {
            ErrorKind::UnknownType(name) => !has_own_form(&name.namespace, &name.local),
            _ => false,
        };
        let path = format!("{}/@{}", self.path(), attribute.local);
        let error = Error::new(kind, path, attribute.offset);
        match is_readable {
            true => {
                let deviation = Deviation::OtherType;
                self.deviate(deviation, error.about(Some(deviation)))
            }
            false => self.refuse(error),
        }
    }

    #[cold]
    fn report_attribute(&mut self, kind: ErrorKind, attribute: &Found<'_>) -> Result<(), Error> {
        let path = format!("{}/@{}", self.path(), attribute.local);
        self.report_at(kind, path, attribute.offset)
    }

    /// Reads the attributes that an element's type declares, in schema order, and checks the others as the type says.
    pub(super) fn attributes(&mut self, ty: &Type, tag: &Tag<'_>, any: bool) -> Result<(), Error> {
        let plan = self.plan;
        for id in ty.attribute_ids() {
            let declared = plan.attribute(id);
            match if any {
                tag.attribute(declared.name)
            } else {
                None
            } {
                Some(attribute) => self.attribute(declared, &attribute, tag)?,
                None => self.missing_attribute(declared, tag)?,
            }
        }
        if any {
            self.other_attributes(ty, tag)?;
        }
        if ty.any_attribute.is_some() {
            self.keep_attributes(ty, tag)?;
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        declared: &Attribute,
        attribute: &Found<'_>,
        tag: &Tag<'_>,
    ) -> Result<(), Error> {
        let leaf = self.plan.leaf(declared.leaf);
        if !declared.required {
            self.record.push(marker::PRESENT);
        }
        let mut value = attribute.value();
        let mut from = attribute.offset;
        if let Some(array) = declared.array.as_deref() {
            let size = size_in(&value, array);
            if array.item_type.is_none() {
                from += attribute.raw.rfind('[').unwrap_or(0) as u64;
            }
            value = size.to_owned().into();
        }
        if let (Validation::Full, Some(fixed)) =
            (self.options.validation, declared.fixed.as_deref())
            && let Err(kind) = leaf::check_fixed(leaf, fixed, &value, &InTag(tag))
        {
            self.report_attribute(*kind, attribute)?;
        }
        let to = attribute.offset + attribute.raw.len() as u64;
        let is_checked = self.options.validation == Validation::Full && declared.fixed.is_some();
        let lexical = Lexical {
            text: &value,
            from,
            to,
            location: if is_checked || declared.array.is_some() {
                FormLocation::Somewhere
            } else {
                FormLocation::Attribute
            },
        };
        let before = Written::of(self.record);
        let pushed = self.push_leaf(declared.leaf, lexical, &InTag(tag));
        if !self.deviations.is_empty() {
            self.warn_of_value(Some(attribute.local), attribute.offset);
        }
        if self.is_long_list {
            let path = format!("{}/@{}", self.path(), attribute.local);
            self.note_long_list(path, attribute.offset);
        }
        match pushed {
            Ok(()) => {
                if self.log.is_on && !is_checked {
                    self.log.attributes.push(LoggedAttribute {
                        value: LoggedValue {
                            from,
                            to,
                            after: Written::of(self.record),
                        },
                        before,
                        leaf: declared.leaf,
                        is_size: declared.array.is_some(),
                        scope: tag.scope,
                    });
                }
                Ok(())
            }
            Err(kind) => self.report_attribute(*kind, attribute),
        }
    }

    fn missing_attribute(&mut self, declared: &Attribute, tag: &Tag<'_>) -> Result<(), Error> {
        if declared.required {
            let name = Name::known(self.plan, declared.name);
            self.report(ErrorKind::MissingAttribute(name), tag.offset)?;
            self.record.push(0);
            return Ok(());
        }
        let Some(value) = declared.default.as_deref().or(declared.fixed.as_deref()) else {
            self.record.push(marker::ABSENT);
            self.record.push(0);
            return Ok(());
        };
        self.record.push(marker::DEFAULTED);
        let pushed = self.push_given(declared.leaf, value, tag.offset, &InTag(tag));
        if !self.deviations.is_empty() {
            self.warn_of_value(Some(self.plan.vocabulary.local(declared.name)), tag.offset);
        }
        if self.is_long_list {
            self.note_long_list(self.path(), tag.offset);
        }
        match pushed {
            Ok(()) => Ok(()),
            Err(kind) => self.report(*kind, tag.offset),
        }
    }

    /// Checks the attributes that no declaration takes: they are errors, unless a wildcard or the options allow them.
    fn other_attributes(&mut self, ty: &Type, tag: &Tag<'_>) -> Result<(), Error> {
        for attribute in tag.attributes() {
            if is_declared(self.plan, ty, &attribute) || is_instance(&attribute) {
                continue;
            }
            let namespace = attribute.namespace();
            if (namespace, attribute.local) == (SOAP12, "encodingStyle")
                && !STYLES12.contains(&trim(&attribute.value()))
            {
                let kind = ErrorKind::UnknownEncoding(bounded(&attribute.value(), 100));
                self.refuse(Error::new(kind, self.path(), attribute.offset))?;
            }
            let admitted = ty
                .any_attribute
                .as_ref()
                .is_some_and(|wildcard| wildcard.namespaces.admits(namespace));
            if admitted || self.is_encoding_attribute(&attribute) {
                continue;
            }
            let deviation = match self.options.validation {
                Validation::Lexical if OF_PROTOCOL.contains(&namespace) => continue,
                Validation::Lexical if !namespace.is_empty() => Deviation::ForeignAttribute,
                _ => Deviation::UnknownAttribute,
            };
            let name = Name::new(namespace, attribute.local);
            let path = format!("{}/@{}", self.path(), attribute.local);
            let kind = ErrorKind::UnknownAttribute(name);
            let error = Error::new(kind, path, attribute.offset).about(Some(deviation));
            self.deviate(deviation, error)?;
        }
        Ok(())
    }

    /// Whether an attribute belongs to the encoding of the innermost element. Some peers write the `id` of SOAP 1.1 in
    /// messages of SOAP 1.2 too.
    fn is_encoding_attribute(&self, attribute: &Found<'_>) -> bool {
        let Some(Frame::Element(frame)) = self.machine.frames.last() else {
            return false;
        };
        let encoded = self.plan.encoded(frame.element);
        encoded.is_some()
            && match attribute.namespace() {
                "" => attribute.local == "id",
                namespace => attribute.local == "encodingStyle" || ENCODINGS.contains(&namespace),
            }
    }

    /// Writes the slot of `anyAttribute`: the attributes that no declaration took, as XML.
    fn keep_attributes(&mut self, ty: &Type, tag: &Tag<'_>) -> Result<(), Error> {
        let Some(wildcard) = &ty.any_attribute else {
            return Ok(());
        };
        // An `anyType` has no alternatives to choose from, so its `xsi:type` is kept with its attributes.
        let keeps_type = ty.content == Content::Any;
        let mut kept = Vec::new();
        for attribute in tag.attributes() {
            let keeps = match is_instance(&attribute) {
                true => keeps_type && attribute.local == "type",
                false => {
                    !is_declared(self.plan, ty, &attribute)
                        && wildcard.namespaces.admits(attribute.namespace())
                }
            };
            kept.push(keeps);
        }
        let text = match kept.contains(&true) {
            true => fragment::attributes(tag, |index| kept.get(index) == Some(&true)),
            false => String::new(),
        };
        self.push_text(Lexical::of_schema(&text, tag.offset), tag.offset)
    }
}

/// Whether values of a type of XML Schema, or of an encoding, must not be read as those of other types: their text is encoded, or has
/// prefixes.
fn has_own_form(namespace: &str, local: &str) -> bool {
    let is_standard = namespace == XSD || ENCODINGS.contains(&namespace);
    let own = ["base64Binary", "base64", "hexBinary", "QName", "NOTATION"];
    is_standard && own.contains(&local)
}

/// Whether an attribute is in the XML Schema instance namespace.
fn is_instance(attribute: &Found<'_>) -> bool {
    !attribute.prefix.is_empty() && attribute.namespace() == XSI
}

fn is_declared(plan: &Plan, ty: &Type, attribute: &Found<'_>) -> bool {
    attribute
        .name
        .is_some_and(|name| ty.attribute_ids().any(|id| plan.attribute(id).name == name))
}

/// The type that the `xsi:type` of a tag names for an element; `None` if it has none.
pub(super) fn stated_type(
    plan: &Plan,
    element: &Element,
    tag: &Tag<'_>,
) -> Option<Result<TypeId, ErrorKind>> {
    let mut stated = tag.attributes().filter(is_instance);
    let stated = stated.find(|it| it.local == "type")?;
    Some(actual_type(plan, element, tag, &stated.value()))
}

/// The type that an `xsi:type` names. It is an error if that may not replace the declared type.
fn actual_type(
    plan: &Plan,
    element: &Element,
    tag: &Tag<'_>,
    value: &str,
) -> Result<TypeId, ErrorKind> {
    let value = trim(value);
    let Some((prefix, local)) = qname::split(value) else {
        return Err(ErrorKind::Lexical {
            datatype: Datatype::QName,
            found: bounded(value, 100),
        });
    };
    let Some(namespace) = tag.resolve(prefix) else {
        return Err(ErrorKind::UnboundPrefix(bounded(prefix, 100)));
    };
    let declared = plan.ty(element.ty);
    let name = plan.vocabulary.lookup(namespace.uri, local);
    if name.is_some() {
        if declared.name == name {
            return Ok(element.ty);
        }
        if let Some(&ty) = declared
            .alternatives
            .iter()
            .find(|&&ty| plan.ty(ty).name == name)
        {
            return Ok(ty);
        }
    }
    // A simple type of a validator's Plan lists all types that may replace it.
    let is_listed = !declared.alternatives.is_empty() && declared.attribute_ids().next().is_none();
    let is_of_encoding = ENCODINGS.contains(&namespace.uri);
    let is_derived = match name {
        _ if is_listed => false,
        // The encodings have a type for each built-in type of XML Schema. (SOAP 1.1 §5.2.3)
        _ if is_of_encoding && element.encoded.is_some() => {
            is_derived_builtin(plan, declared, local)
        }
        Some(name) => is_derived_simple(plan, declared, element.ty, name),
        None => namespace.uri == XSD && is_derived_builtin(plan, declared, local),
    };
    let is_array = matches!(local, "Array" | "Struct") && is_of_encoding;
    if declared.content == Content::Any || is_derived || is_array && is_elements(declared) {
        return Ok(element.ty);
    }
    Err(ErrorKind::UnknownType(Name::new(namespace.uri, local)))
}

/// The namespaces of the encodings of SOAP 1.1 and 1.2. Peers that use them often give an array the type `Array`, from
/// which all arrays are derived; the type of its items is then that of the declaration. (SOAP 1.1 §5.4.2)
const ENCODINGS: [&str; 2] = [
    "http://schemas.xmlsoap.org/soap/encoding/",
    "http://www.w3.org/2003/05/soap-encoding",
];

/// The namespace of the Envelope of SOAP 1.2.
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

/// What an `encodingStyle` of SOAP 1.2 may be: an encoding, or none. (SOAP 1.2 Part 1 §5.1.1)
const STYLES12: [&str; 4] = [
    ENCODINGS[1],
    ENCODINGS[0],
    "http://www.w3.org/2003/05/soap-envelope/encoding/none",
    "",
];

/// The namespaces of attributes that SOAP and XML allow everywhere, such as `encodingStyle`, `id` and `xml:lang`.
const OF_PROTOCOL: [&str; 5] = [
    "http://schemas.xmlsoap.org/soap/envelope/",
    SOAP12,
    ENCODINGS[0],
    ENCODINGS[1],
    XML_NAMESPACE,
];

fn is_elements(declared: &Type) -> bool {
    matches!(declared.content, Content::Particle(_))
}

/// Whether `name` names a simple type, of the schema or built in, that is derived from the declared one.
fn is_derived_simple(plan: &Plan, declared: &Type, id: TypeId, name: NameId) -> bool {
    let Content::Simple(_) = declared.content else {
        return false;
    };
    let mut next = plan
        .types
        .iter()
        .find(|ty| ty.name == Some(name))
        .and_then(|ty| ty.base);
    let mut steps = 0;
    while let Some(base) = next.filter(|_| steps < plan.types.len()) {
        if base == id {
            return true;
        }
        (next, steps) = (plan.ty(base).base, steps + 1);
    }
    let vocabulary = &plan.vocabulary;
    vocabulary.namespace(name) == XSD && is_derived_builtin(plan, declared, vocabulary.local(name))
}

/// Whether a built-in datatype may replace a simple type: it is the built-in type that this one is derived from, or is
/// itself derived from that.
fn is_derived_builtin(plan: &Plan, declared: &Type, local: &str) -> bool {
    let (Content::Simple(leaf), Some(found)) = (&declared.content, Datatype::from_name(local))
    else {
        return false;
    };
    let leaf = plan.leaf(*leaf);
    match (leaf.kind, leaf.simple.variety()) {
        // A list can be replaced only by itself, and its own name has been compared before.
        (LeafKind::List(_), _) => false,
        (_, Variety::Atomic(datatype)) => found.is_derived_from(*datatype),
        _ => true,
    }
}
