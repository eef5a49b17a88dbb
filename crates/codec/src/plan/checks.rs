//! Which parts of a Plan have values that are checked before they are sent: texts whose datatype does not take every text,
//! values with an enumeration, and with full validation those with other facets.

use bsoap_datatypes::qname::{ExpandedName, NoNamespaces};
use bsoap_datatypes::{AtomicValue, Datatype, SimpleType, Value, Variety};

use crate::decode::Validation;
use crate::expanded;
use crate::plan::{Content, ElementId, Leaf, LeafId, ParticleId, Plan, Term, TypeId};

/// The parts of a Plan whose values have to be looked at.
#[derive(Debug)]
pub(crate) struct Checks {
    leaves: Vec<bool>,
    types: Vec<bool>,
    particles: Vec<bool>,
    /// The segments of each sequence that has values to check; empty for other particles.
    segments: Vec<Box<[Segment]>>,
}

/// A part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A number of slots that have nothing to check.
    Skip(u32),
    /// A value of one slot.
    Value(LeafId),
    /// A marker, and a value of one slot.
    OptionalValue(LeafId),
    /// A particle with its markers.
    Particle(ParticleId),
}

impl Checks {
    pub(super) fn new(plan: &Plan, validation: Validation) -> Self {
        let leaves = plan.leaves.iter();
        let mut checks = Self {
            leaves: leaves.map(|leaf| leaf.is_checked_by(validation)).collect(),
            types: vec![false; plan.types.len()],
            particles: vec![false; plan.particles.len()],
            segments: Vec::new(),
        };
        // Types contain each other: repeat until nothing is added.
        while checks.add_particles(plan) | checks.add_types(plan) {}
        let particles = (0..plan.particles.len() as u32).map(ParticleId);
        checks.segments = particles.map(|id| checks.segments_of(plan, id)).collect();
        checks
    }

    fn segments_of(&self, plan: &Plan, id: ParticleId) -> Box<[Segment]> {
        let mut segments: Vec<Segment> = Vec::new();
        let Term::Sequence(children) = &plan.particle(id).term else {
            return Box::default();
        };
        if !self.particle(id) {
            return Box::default();
        }
        for &child in plan.group(children) {
            let segment = self.segment(plan, child);
            match (segments.last_mut(), segment) {
                (Some(Segment::Skip(slots)), Segment::Skip(more)) => *slots += more,
                _ => segments.push(segment),
            }
        }
        segments.into()
    }

    fn segment(&self, plan: &Plan, id: ParticleId) -> Segment {
        let particle = plan.particle(id);
        if let (false, Some(stride)) = (self.particle(id), particle.stride) {
            return Segment::Skip(stride);
        }
        let Term::Element(element) = particle.term else {
            return Segment::Particle(id);
        };
        let element = plan.element(element);
        match plan.ty(element.ty).content {
            // A scalar has no attributes, and is no list.
            Content::Simple(leaf)
                if element.is_scalar && !element.has_state && !particle.repeats() =>
            {
                match particle.min {
                    0 => Segment::OptionalValue(leaf),
                    _ => Segment::Value(leaf),
                }
            }
            _ => Segment::Particle(id),
        }
    }

    /// The segments of a sequence; `None` if it has nothing to check.
    #[inline]
    pub(crate) fn segments(&self, id: ParticleId) -> Option<&[Segment]> {
        let segments = self.segments.get(id.index())?;
        (!segments.is_empty()).then_some(segments)
    }

    fn add_particles(&mut self, plan: &Plan) -> bool {
        let mut has_changed = false;
        for (index, particle) in plan.particles.iter().enumerate() {
            let is_wanted = match &particle.term {
                Term::Element(element) => self.element(plan, *element),
                Term::Sequence(children) | Term::Choice(children) | Term::All(children) => {
                    let mut children = plan.group(children).iter();
                    children.any(|&child| self.particle(child))
                }
                Term::Any(_) => false,
            };
            has_changed |= is_wanted && !self.particles[index];
            self.particles[index] |= is_wanted;
        }
        has_changed
    }

    fn add_types(&mut self, plan: &Plan) -> bool {
        let mut has_changed = false;
        for (index, ty) in plan.types.iter().enumerate() {
            let in_attribute = |id| self.leaf(plan.attribute(id).leaf);
            let is_wanted = match &ty.content {
                _ if ty.attribute_ids().any(in_attribute) => true,
                Content::Simple(leaf) => self.leaf(*leaf),
                Content::Particle(particle) => self.particle(*particle),
                Content::Mixed { elements, .. } => {
                    let mut elements = plan.group(elements).iter();
                    elements.any(|&element| self.particle(element))
                }
                Content::Empty | Content::Any => false,
            };
            has_changed |= is_wanted && !self.types[index];
            self.types[index] |= is_wanted;
        }
        has_changed
    }

    /// Whether values of this leaf are checked.
    #[inline]
    pub(crate) fn leaf(&self, leaf: LeafId) -> bool {
        self.leaves.get(leaf.index()) == Some(&true)
    }

    /// Whether elements of this actual type have texts to check.
    #[inline]
    pub(crate) fn ty(&self, ty: TypeId) -> bool {
        self.types.get(ty.index()) == Some(&true)
    }

    /// Whether these elements have texts to check, whatever their actual type is.
    #[inline]
    pub(crate) fn element(&self, plan: &Plan, element: ElementId) -> bool {
        let ty = plan.element(element).ty;
        let mut alternatives = plan.ty(ty).alternatives.iter();
        self.ty(ty) || alternatives.any(|&ty| self.ty(ty))
    }

    /// Whether a particle has texts to check.
    #[inline]
    pub(crate) fn particle(&self, particle: ParticleId) -> bool {
        self.particles.get(particle.index()) == Some(&true)
    }
}

/// Whether every text is a lexical form of a type, once its white space has been processed.
pub(super) fn takes_any_text(simple: &SimpleType) -> bool {
    use Datatype as D;
    matches!(
        simple.variety(),
        Variety::Atomic(D::AnySimpleType | D::String | D::NormalizedString | D::Token)
    )
}

impl Leaf {
    fn is_checked_by(&self, validation: Validation) -> bool {
        self.is_checked || validation == Validation::Full && self.has_facets
    }

    /// Checks a value of a single slot by its text, for sending: a lexical form, listed by the enumeration. In a union, some
    /// member must accept the text.
    ///
    /// # Errors
    /// A description of what is wrong.
    pub(crate) fn check_text(&self, text: &str) -> Result<(), String> {
        let Variety::Atomic(datatype) = self.simple.variety() else {
            let checked = self.simple.check(text, &NoNamespaces);
            return checked.map_err(|problem| problem.to_string());
        };
        if !self.is_listed && datatype.check(text).is_ok() {
            return Ok(());
        }
        let processed = self.simple.white_space().apply(text);
        let checked = datatype.check(&processed);
        checked.map_err(|problem| problem.to_string())?;
        self.check_listed(&processed)
    }

    /// Checks that the enumeration, if there is one, lists a value. The text is a lexical form.
    pub(crate) fn check_listed(&self, text: &str) -> Result<(), String> {
        if !self.is_listed {
            return Ok(());
        }
        let checked = self.simple.check_listed(text, &NoNamespaces);
        checked.map_err(|problem| problem.to_string())
    }

    /// As [`check_listed`](Self::check_listed), for a name given as `{namespace}local`.
    pub(crate) fn check_listed_name(&self, name: &str) -> Result<(), String> {
        let Some(enumeration) = self.simple.facets().enumeration() else {
            return Ok(());
        };
        let (namespace, local) = expanded::split(name).unwrap_or(("", name));
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let value = Value::Atomic(AtomicValue::QName(ExpandedName::new(namespace, local)));
        if enumeration.values().contains(&value) {
            return Ok(());
        }
        let listed: Vec<&str> = enumeration.lexical_forms().take(20).collect();
        Err(format!("{name:?} is not one of {}", listed.join(", ")))
    }
}
