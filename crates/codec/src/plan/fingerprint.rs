//! A fingerprint of the layout of an element in a Record, which generated code checks.

use std::sync::OnceLock;

use crate::plan::{Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId};

impl Plan {
    /// A number that distinguishes layouts: a hash of the names, types, markers and leaves of all
    /// that an element can contain. Equal layouts have equal fingerprints in every process; it is no
    /// proof against forgery.
    pub fn fingerprint(&self, element: ElementId) -> u64 {
        let mut known = self
            .derived
            .fingerprints
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *known
            .entry(element)
            .or_insert_with(|| Fingerprint::of(self, element))
    }
}

impl Plan {
    /// The fingerprint of a type's layout: of its attributes and its content. Generated structs know theirs.
    pub fn type_fingerprint(&self, ty: TypeId) -> u64 {
        let all = self.derived.type_fingerprints.get_or_init(|| {
            let none = |_: &_| OnceLock::new();
            self.types.iter().map(none).collect()
        });
        *all[ty.index()].get_or_init(|| {
            let mut this = Fingerprint::new(self);
            this.meet(ty);
            this.finish()
        })
    }

    /// A fingerprint without the name of the element: elements with the same one have the same layout in a Record.
    pub fn content_fingerprint(&self, element: ElementId) -> u64 {
        let found = self.element(element);
        let mut this = Fingerprint::new(self);
        this.number(u64::from(found.nillable) | u64::from(found.has_state) << 1);
        this.meet_type_of(element);
        this.finish()
    }
}

/// FNV-1a over a description, type after type in the order they are met.
struct Fingerprint<'p> {
    plan: &'p Plan,
    hash: u64,
    /// The number of each type by its index, in the order in which they were met; 0 for those that were not.
    met: Vec<u32>,
    todo: Vec<TypeId>,
}

impl<'p> Fingerprint<'p> {
    fn of(plan: &'p Plan, element: ElementId) -> u64 {
        let mut this = Self::new(plan);
        this.element(element);
        this.finish()
    }

    fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            hash: 0xcbf2_9ce4_8422_2325,
            met: vec![0; plan.types.len()],
            todo: Vec::new(),
        }
    }

    fn finish(mut self) -> u64 {
        let mut next = 0;
        while let Some(&ty) = self.todo.get(next) {
            self.ty(ty);
            next += 1;
        }
        self.hash
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn name(&mut self, name: bsoap_xml::NameId) {
        self.bytes(self.plan.vocabulary.namespace(name).as_bytes());
        self.bytes(b"\0");
        self.bytes(self.plan.vocabulary.local(name).as_bytes());
        self.bytes(b"\0");
    }

    fn meet(&mut self, ty: TypeId) {
        let met = &mut self.met[ty.index()];
        if *met == 0 {
            self.todo.push(ty);
            *met = self.todo.len() as u32;
        }
        let number = u64::from(*met) - 1;
        self.number(number);
    }

    fn element(&mut self, id: ElementId) {
        let element = self.plan.element(id);
        self.name(element.name);
        self.number(
            u64::from(element.nillable)
                | u64::from(element.has_state) << 1
                | u64::from(element.is_scalar) << 2,
        );
        self.meet_type_of(id);
    }

    fn meet_type_of(&mut self, id: ElementId) {
        let element = self.plan.element(id);
        self.meet(element.ty);
        if element.has_state {
            // State markers contain type numbers, so these must be the same.
            self.number(element.ty.0.into());
            for &ty in &self.plan.ty(element.ty).alternatives {
                self.number(ty.0.into());
                self.meet(ty);
            }
        }
    }

    fn leaf(&mut self, id: LeafId) {
        let mut kind = self.plan.leaf(id).kind;
        if let LeafKind::List(item) = kind {
            self.bytes(b"list");
            kind = self.plan.leaf(item).kind;
        }
        let (tag, min, max) = match kind {
            LeafKind::Boolean => (0, 0, 0),
            LeafKind::Signed { min, max } => (1, min as u64, max as u64),
            LeafKind::Unsigned { max } => (2, 0, max),
            LeafKind::Float => (3, 0, 0),
            LeafKind::Double => (4, 0, 0),
            LeafKind::Text => (5, 0, 0),
            LeafKind::Base64 => (6, 0, 0),
            LeafKind::Hex => (7, 0, 0),
            LeafKind::Name => (8, 0, 0),
            LeafKind::List(_) => (9, 0, 0),
        };
        [tag, min, max]
            .into_iter()
            .for_each(|number| self.number(number));
    }

    fn ty(&mut self, id: TypeId) {
        let ty = self.plan.ty(id);
        for attribute in ty.attribute_ids() {
            let attribute = self.plan.attribute(attribute);
            self.name(attribute.name);
            self.number(u64::from(attribute.required));
            self.leaf(attribute.leaf);
        }
        self.number(u64::from(ty.any_attribute.is_some()));
        match &ty.content {
            Content::Empty => self.bytes(b"empty"),
            Content::Simple(leaf) => self.leaf(*leaf),
            Content::Particle(particle) => self.particle(*particle),
            Content::Mixed { elements, .. } => {
                self.bytes(b"mixed");
                self.plan
                    .group(elements)
                    .iter()
                    .for_each(|&particle| self.particle(particle));
            }
            Content::Any => self.bytes(b"any"),
        }
    }

    /// (Groups nest no deeper than a schema document does.)
    fn particle(&mut self, id: ParticleId) {
        let particle = self.plan.particle(id);
        self.number(u64::from(particle.min == 0) | u64::from(particle.repeats()) << 1);
        match &particle.term {
            Term::Element(element) => {
                self.bytes(b"element");
                self.element(*element);
            }
            Term::Sequence(_) => self.bytes(b"sequence"),
            Term::Choice(_) => self.bytes(b"choice"),
            Term::All(_) => self.bytes(b"all"),
            Term::Any(_) => self.bytes(b"wildcard"),
        }
        let children = self.plan.children_of(id);
        self.number(children.len() as u64);
        children.iter().for_each(|&child| self.particle(child));
    }
}
