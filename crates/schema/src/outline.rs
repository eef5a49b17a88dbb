//! What a message carries, as a tree: every header block, element and attribute with its type, the values of enumerations, and
//! the types that may be used instead of a declared one. As text it has a line for each member:
//!
//! ```text
//! point: types:Point* (or types:Point3D) {
//!   @color?: types:Color ("red" | "green")
//!   x: xsd:double
//!   y: xsd:double
//! }
//! type types:Point3D (derived from types:Point) {
//!   z: xsd:double
//! }
//! ```
//!
//! The signs are those of [signatures](Definitions::signature).

use std::collections::VecDeque;
use std::fmt;

use bsoap_codec::plan::{Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId};
use bsoap_datatypes::{SimpleType, Variety};
use foldhash::{HashSet, HashSetExt as _};

use crate::definitions::{Body, Definitions, Message};
use crate::label::{is_soap, leaf_label, local, occurrence, spelled, type_label};
use crate::limits::{EXPANDED_DEPTH, EXPANDED_LINES, LISTED_TYPES, LISTED_VALUES};

/// The namespace of the type `swaRef`.
const SWA_REF_NAMESPACE: &str = "http://ws-i.org/profiles/basic/1.1/xsd";

/// What a message or an element carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The declared header blocks, by the names of their parts.
    pub headers: Vec<Member>,
    /// The arguments: the children of the wrapper, or the parts.
    pub members: Vec<Member>,
    /// The types that `xsi:type` may name somewhere in the message, each once.
    pub types: Vec<DerivedType>,
    /// True if the message has more than an outline may have.
    pub is_cut: bool,
}

/// An element, an attribute, or another part of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// What it is.
    pub kind: MemberKind,
    /// The local name. Empty unless it is an element or an attribute.
    pub name: String,
    /// The name of its type, or a short description. `None` for anonymous complex types, wildcards and groups.
    pub ty: Option<String>,
    /// Whether it may be absent.
    pub is_optional: bool,
    /// Whether it may occur more than once.
    pub repeats: bool,
    /// Whether it may be nil.
    pub is_nillable: bool,
    /// Whether its type is abstract: then `xsi:type` must name one of `derived`.
    pub is_abstract: bool,
    /// The values that its type lists. Empty if it lists none.
    pub values: Vec<String>,
    /// The types that may be used instead of the declared one.
    pub derived: Vec<String>,
    /// The media types that its binary value may have (`xmime:expectedContentTypes`), such as `image/*`.
    pub media_types: Option<String>,
    /// Whether it may be an attachment, and how.
    pub attached: Option<Attached>,
    /// The documentation of the element, or else that of its type.
    pub documentation: Option<String>,
    /// Its attributes and children, or the members of a group.
    pub members: Vec<Member>,
    /// True if it has members that are not shown: its type contains itself, or the outline would be too deep.
    pub is_cut: bool,
}

/// How an element may be an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attached {
    /// With MTOM: it is of `xs:base64Binary`.
    Binary,
    /// By its address: it is of `swaRef`. (WS-I Attachments Profile 1.0 §4.4)
    Reference,
}

/// The kind of a [`Member`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberKind {
    /// An element.
    Element,
    /// An attribute.
    Attribute,
    /// The text of an element that has attributes.
    Text,
    /// Text between the children of an element.
    Mixed,
    /// Elements that a wildcard allows.
    Any,
    /// A group of which one member occurs.
    Choice,
    /// A group whose members occur together.
    Sequence,
}

/// A type that may be used instead of a declared one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DerivedType {
    /// Its name.
    pub name: String,
    /// The name of the type it is derived from.
    pub base: Option<String>,
    /// Its documentation.
    pub documentation: Option<String>,
    /// Its attributes and children, with those of its base.
    pub members: Vec<Member>,
}

/// A line of an [`Outline`] as text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineLine<'o> {
    /// The number of members around it.
    pub depth: usize,
    /// The text, without indentation.
    pub text: String,
    /// The documentation of the member.
    pub documentation: Option<&'o str>,
}

impl Definitions {
    /// What a message carries. Types are expanded except for recursion.
    pub fn outline(&self, message: &Message) -> Outline {
        let mut tree = Tree::new(self);
        let headers = message.headers.iter();
        let headers = headers
            .filter_map(|header| tree.part(&header.name, header.element))
            .collect();
        let members = match &message.body {
            Body::Empty => Vec::new(),
            Body::Wrapped { wrapper } => tree.content(self.plan().element(*wrapper).ty),
            Body::Bare { parts } | Body::Rpc { parts, .. } => parts
                .iter()
                .filter_map(|part| tree.part(&part.name, part.element))
                .collect(),
        };
        tree.finish(headers, members)
    }

    /// What an element carries, such as that of a fault's detail.
    pub fn outline_of(&self, element: ElementId) -> Outline {
        let mut tree = Tree::new(self);
        let members = tree.element(element, ("", "")).into_iter().collect();
        tree.finish(Vec::new(), members)
    }
}

/// Makes outlines.
struct Tree<'d> {
    definitions: &'d Definitions,
    plan: &'d Plan,
    /// The members that may still be added.
    left: usize,
    /// The types around the current member.
    open: Vec<TypeId>,
    /// The derived types found, and those of them that are still to be expanded.
    found: HashSet<TypeId>,
    waiting: VecDeque<TypeId>,
    is_cut: bool,
}

impl<'d> Tree<'d> {
    fn new(definitions: &'d Definitions) -> Self {
        Self {
            definitions,
            plan: definitions.plan(),
            left: EXPANDED_LINES,
            open: Vec::new(),
            found: HashSet::new(),
            waiting: VecDeque::new(),
            is_cut: false,
        }
    }

    fn finish(mut self, headers: Vec<Member>, members: Vec<Member>) -> Outline {
        let mut types = Vec::new();
        while let Some(ty) = self.waiting.pop_front() {
            if self.take() {
                types.push(self.derived_type(ty));
            }
        }
        Outline {
            headers,
            members,
            types,
            is_cut: self.is_cut,
        }
    }

    fn derived_type(&mut self, id: TypeId) -> DerivedType {
        let label = |id: TypeId| self.plan.ty(id).name.map(|name| spelled(self.plan, name));
        let documentation = self.definitions.type_documentation(id);
        DerivedType {
            name: label(id).unwrap_or_default(),
            base: self.plan.ty(id).base.and_then(label),
            documentation: documentation.map(str::to_owned),
            members: self.content(id),
        }
    }

    /// Whether one more member may be added.
    fn take(&mut self) -> bool {
        self.is_cut |= self.left == 0;
        self.left = self.left.saturating_sub(1);
        !self.is_cut
    }

    /// The element of a part of the message, which goes by the part's name.
    fn part(&mut self, name: &str, element: ElementId) -> Option<Member> {
        Some(Member {
            name: name.to_owned(),
            ..self.element(element, ("", ""))?
        })
    }

    fn element(&mut self, id: ElementId, occurrence: (&str, &str)) -> Option<Member> {
        if !self.take() {
            return None;
        }
        let (element, ty) = (self.plan.element(id), self.plan.element(id).ty);
        let has_members = self.has_members(ty);
        let is_cut = has_members && (self.open.contains(&ty) || self.open.len() >= EXPANDED_DEPTH);
        let documentation = self.definitions.element_documentation(id);
        let documentation = documentation.or_else(|| self.definitions.type_documentation(ty));
        let def = self.plan.ty(ty);
        let values = match def.content {
            Content::Simple(leaf) if def.attributes.is_empty() => self.values(leaf),
            _ => Vec::new(),
        };
        Some(Member {
            ty: type_label(self.plan, ty),
            is_nillable: element.nillable,
            is_abstract: def.is_abstract,
            values,
            derived: self.derived(ty),
            media_types: self.definitions.expected_media_types(id).map(str::to_owned),
            attached: self.attached(ty),
            documentation: documentation.map(str::to_owned),
            members: match has_members && !is_cut {
                true => self.content(ty),
                false => Vec::new(),
            },
            is_cut,
            ..Member::new(MemberKind::Element, local(self.plan, id), occurrence)
        })
    }

    /// The names of the types that may be used instead of one. Those with members are expanded later, unless all types may
    /// be used.
    fn derived(&mut self, ty: TypeId) -> Vec<String> {
        let def = self.plan.ty(ty);
        let others = def.alternatives.iter().filter(|&&other| other != ty);
        let mut names = Vec::new();
        for &other in others {
            names.extend(
                self.plan
                    .ty(other)
                    .name
                    .map(|name| spelled(self.plan, name)),
            );
            let is_shown = !matches!(def.content, Content::Any) && self.has_members(other);
            if is_shown && self.found.insert(other) {
                self.waiting.push_back(other);
            }
        }
        names
    }

    /// How elements of a type may be attachments.
    fn attached(&self, ty: TypeId) -> Option<Attached> {
        let def = self.plan.ty(ty);
        let Content::Simple(leaf) = def.content else {
            return None;
        };
        let is_reference = def.name.is_some_and(|name| {
            let vocabulary = self.plan.vocabulary();
            vocabulary.namespace(name) == SWA_REF_NAMESPACE && vocabulary.local(name) == "swaRef"
        });
        match self.plan.leaf(leaf).kind {
            LeafKind::Base64 => Some(Attached::Binary),
            _ if is_reference => Some(Attached::Reference),
            _ => None,
        }
    }

    fn values(&self, leaf: LeafId) -> Vec<String> {
        values(&self.plan.leaf(leaf).simple)
    }

    fn has_members(&self, ty: TypeId) -> bool {
        let def = self.plan.ty(ty);
        let has_content = match &def.content {
            Content::Particle(particle) => self.occurs(*particle),
            Content::Mixed { .. } => true,
            Content::Empty | Content::Simple(_) | Content::Any => false,
        };
        let is_own = |id| !is_soap(self.plan, self.plan.attribute(id).name);
        has_content || def.attribute_ids().any(is_own)
    }

    fn occurs(&self, particle: ParticleId) -> bool {
        match self.plan.particle(particle).term {
            Term::Element(_) | Term::Any(_) => true,
            _ => !self.plan.children_of(particle).is_empty(),
        }
    }

    /// The attributes and children of a type.
    fn content(&mut self, ty: TypeId) -> Vec<Member> {
        self.open.push(ty);
        let def = self.plan.ty(ty);
        let mut members = Vec::new();
        for id in def.attribute_ids() {
            let attribute = self.plan.attribute(id);
            if is_soap(self.plan, attribute.name) || !self.take() {
                continue;
            }
            let name = self.plan.vocabulary().local(attribute.name);
            let optional = if attribute.required { "" } else { "?" };
            members.push(self.leaf(MemberKind::Attribute, name, optional, attribute.leaf));
        }
        match &def.content {
            Content::Simple(leaf) if self.take() => {
                members.push(self.leaf(MemberKind::Text, "", "", *leaf));
            }
            Content::Empty | Content::Any | Content::Simple(_) => {}
            Content::Particle(particle) => self.particle(*particle, &mut members, true),
            Content::Mixed { particle, .. } => {
                if self.take() {
                    members.push(Member::new(MemberKind::Mixed, "", ("", "")));
                }
                self.particle(*particle, &mut members, true);
            }
        }
        self.open.pop();
        members
    }

    fn leaf(&self, kind: MemberKind, name: &str, optional: &str, leaf: LeafId) -> Member {
        Member {
            ty: Some(leaf_label(self.plan, leaf)),
            values: self.values(leaf),
            ..Member::new(kind, name, (optional, ""))
        }
    }

    /// Adds a particle to `members`. If `is_plain`, the members of a sequence are added without a group around them. (The
    /// recursion is bounded: the loader limits the nesting depth of groups.)
    fn particle(&mut self, id: ParticleId, members: &mut Vec<Member>, is_plain: bool) {
        let particle = self.plan.particle(id);
        let occurrence = occurrence(particle);
        let kind = match &particle.term {
            Term::Element(element) => return members.extend(self.element(*element, occurrence)),
            Term::Any(_) => {
                if self.take() {
                    members.push(Member::new(MemberKind::Any, "", occurrence));
                }
                return;
            }
            Term::Choice(_) => MemberKind::Choice,
            Term::Sequence(_) | Term::All(_) => MemberKind::Sequence,
        };
        let children = self.plan.children_of(id);
        if kind == MemberKind::Sequence && is_plain && particle.is_required_once() {
            for &child in children {
                self.particle(child, members, true);
            }
        } else if !children.is_empty() && self.take() {
            let mut group = Member::new(kind, "", occurrence);
            for &child in children {
                self.particle(child, &mut group.members, false);
            }
            members.push(group);
        }
    }
}

/// The values that a simple type lists; of a list those of its items, of a union those of its members if all list theirs.
/// (Derivation depth is bounded where types are made.)
fn values(simple: &SimpleType) -> Vec<String> {
    if let Some(listed) = simple.facets().enumeration() {
        return listed.lexical_forms().map(str::to_owned).collect();
    }
    match simple.variety() {
        Variety::Atomic(_) => Vec::new(),
        Variety::List(item) => values(item),
        Variety::Union(members) => {
            let listed: Vec<Vec<String>> = members.iter().map(|one| values(one)).collect();
            match listed.iter().any(Vec::is_empty) {
                true => Vec::new(),
                false => listed.concat(),
            }
        }
    }
}

impl Member {
    fn new(kind: MemberKind, name: &str, (optional, repeats): (&str, &str)) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            ty: None,
            is_optional: !optional.is_empty(),
            repeats: !repeats.is_empty(),
            is_nillable: false,
            is_abstract: false,
            values: Vec::new(),
            derived: Vec::new(),
            media_types: None,
            attached: None,
            documentation: None,
            members: Vec::new(),
            is_cut: false,
        }
    }

    /// Adds this member and its members, as far as they may be attachments. (An outline bounds the depth.)
    fn collect_attached<'m>(&'m self, before: &str, found: &mut Vec<(String, &'m Self)>) {
        let path = match (before, &*self.name) {
            (before, "") => before.to_owned(),
            ("", name) => name.to_owned(),
            (before, name) => format!("{before}.{name}"),
        };
        if self.attached.is_some() {
            found.push((path, self));
            return;
        }
        for member in &self.members {
            member.collect_attached(&path, found);
        }
    }

    /// Its line, without its members.
    fn head(&self) -> String {
        let optional = if self.is_optional { "?" } else { "" };
        let repeats = if self.repeats { "[]" } else { "" };
        let name = match self.kind {
            MemberKind::Element => self.name.clone(),
            MemberKind::Attribute => format!("@{}", self.name),
            MemberKind::Text => "#text".to_owned(),
            MemberKind::Mixed => "#mixed".to_owned(),
            MemberKind::Any => return format!("#any{optional}{repeats}"),
            MemberKind::Choice => return format!("one of{optional}{repeats} ("),
            MemberKind::Sequence => return format!("together{optional}{repeats} ("),
        };
        let nil = if self.is_nillable { " | nil" } else { "" };
        let ty = self.ty.as_deref().unwrap_or_default();
        let colon = match [ty, nil, repeats].concat().is_empty() {
            true => "",
            false => ": ",
        };
        let end = match (self.members.is_empty(), self.is_cut) {
            (_, true) => " {…}",
            (false, false) => " {",
            (true, false) => "",
        };
        let (derived, values) = (self.listed_types(), self.listed_values());
        let media_types = match &self.media_types {
            Some(types) => format!(" ({types})"),
            None => String::new(),
        };
        format!("{name}{optional}{colon}{ty}{repeats}{nil}{derived}{values}{media_types}{end}")
    }

    fn listed_types(&self) -> String {
        let before = if self.is_abstract { "as" } else { "or" };
        match listed(&self.derived, LISTED_TYPES, ", ", str::to_owned) {
            Some(names) => format!(" ({before} {names})"),
            None => String::new(),
        }
    }

    fn listed_values(&self) -> String {
        match listed(&self.values, LISTED_VALUES, " | ", |value| {
            format!("{value:?}")
        }) {
            Some(values) => format!(" ({values})"),
            None => String::new(),
        }
    }

    fn lines<'o>(&'o self, depth: usize, before: &str, lines: &mut Vec<OutlineLine<'o>>) {
        lines.push(OutlineLine {
            depth,
            text: format!("{before}{}", self.head()),
            documentation: self.documentation.as_deref(),
        });
        for member in &self.members {
            member.lines(depth + 1, "", lines);
        }
        match self.kind {
            MemberKind::Choice | MemberKind::Sequence => lines.push(OutlineLine::end(depth, ")")),
            _ if !self.members.is_empty() => lines.push(OutlineLine::end(depth, "}")),
            _ => {}
        }
    }
}

/// The first `most` items and how many there are more. `None` if there are none.
fn listed(
    items: &[String],
    most: usize,
    separator: &str,
    show: impl Fn(&str) -> String,
) -> Option<String> {
    let more = items.len().saturating_sub(most);
    let shown = items.iter().take(most).map(|item| show(item));
    let mut shown: Vec<String> = shown.collect();
    if more > 0 {
        shown.push(format!("… {more} more"));
    }
    (!shown.is_empty()).then(|| shown.join(separator))
}

impl OutlineLine<'_> {
    fn end(depth: usize, text: &str) -> Self {
        Self {
            depth,
            text: text.to_owned(),
            documentation: None,
        }
    }
}

impl Outline {
    /// The elements that may be attachments, by their paths from the Body's content, such as `order.photo`.
    pub fn attached(&self) -> Vec<(String, &Member)> {
        let mut found = Vec::new();
        for member in &self.members {
            member.collect_attached("", &mut found);
        }
        found
    }

    /// The outline as text, a line for each member.
    pub fn lines(&self) -> Vec<OutlineLine<'_>> {
        let mut lines = Vec::new();
        for header in &self.headers {
            header.lines(0, "header ", &mut lines);
        }
        for member in &self.members {
            member.lines(0, "", &mut lines);
        }
        for ty in &self.types {
            let base = ty.base.as_ref();
            let base = base.map_or_else(String::new, |base| format!(" (derived from {base})"));
            lines.push(OutlineLine {
                depth: 0,
                text: format!("type {}{base} {{", ty.name),
                documentation: ty.documentation.as_deref(),
            });
            for member in &ty.members {
                member.lines(1, "", &mut lines);
            }
            lines.push(OutlineLine::end(0, "}"));
        }
        if self.is_cut {
            lines.push(OutlineLine::end(0, "…"));
        }
        lines
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.lines().into_iter();
        lines.try_for_each(|OutlineLine { depth, text, .. }| {
            writeln!(f, "{:width$}{text}", "", width = depth * 2)
        })
    }
}
