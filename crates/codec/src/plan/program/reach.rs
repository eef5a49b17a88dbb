//! The namespaces that the markup of an element or a type can need.

use bsoap_xml::{NameId, NamespaceId};

use super::Program;
use crate::plan::{Content, ElementId, Plan, Role, Term, TypeId};

/// A bounded walk over all that an element can contain.
pub(super) struct Reach<'p> {
    plan: &'p Plan,
    program: &'p Program,
    found: Vec<bool>,
    types: Vec<bool>,
    todo: Vec<TypeId>,
}

impl<'p> Reach<'p> {
    pub(super) fn new(plan: &'p Plan, program: &'p Program) -> Self {
        let found = vec![false; program.declarations.len().max(program.xsi.0 as usize + 1)];
        Self {
            plan,
            program,
            found,
            types: vec![false; plan.type_count()],
            todo: Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> Box<[NamespaceId]> {
        while let Some(ty) = self.todo.pop() {
            self.ty(ty);
        }
        let found = self.found.iter().enumerate().filter(|(_, found)| **found);
        found
            .map(|(id, _)| NamespaceId(id as u32))
            .filter(|id| !self.program.declarations[id.0 as usize].is_empty())
            .collect()
    }

    fn name(&mut self, name: NameId) {
        let namespace = self.plan.vocabulary.namespace_of(name);
        self.found[namespace.0 as usize] = true;
    }

    pub(super) fn element(&mut self, id: ElementId, soap: bool) {
        let element = self.plan.element(id);
        if soap && element.role != Role::Soap {
            return; // it declares its own
        }
        self.name(element.name);
        self.found[self.program.xsi.0 as usize] |= element.has_state;
        if let Some(encoded) = &element.encoded {
            let style = encoded.style.as_ref().map(|(name, _)| *name);
            // The start tag states the type.
            let ty = self.plan.ty(element.ty).name;
            ty.into_iter().chain(style).for_each(|name| self.name(name));
            self.found[self.program.xsi.0 as usize] = true;
        }
        if !std::mem::replace(&mut self.types[element.ty.index()], true) {
            self.todo.push(element.ty);
        }
    }

    /// Walks over all that a type can contain.
    pub(super) fn ty_of(&mut self, id: TypeId) {
        self.types[id.index()] = true;
        self.todo.push(id);
    }

    fn ty(&mut self, id: TypeId) {
        let ty = self.plan.ty(id);
        for attribute in ty.attribute_ids() {
            let attribute = self.plan.attribute(attribute);
            self.name(attribute.name);
            if let Some(array) = &attribute.array {
                let names = [array.item].into_iter().chain(array.item_type);
                names.for_each(|name| self.name(name));
            }
        }
        let soap = self.program.soap_types[id.index()];
        let (Content::Particle(particle) | Content::Mixed { particle, .. }) = ty.content else {
            return;
        };
        let mut particles = vec![particle];
        while let Some(id) = particles.pop() {
            match self.plan.particle(id).term {
                Term::Element(element) => self.element(element, soap),
                _ => particles.extend_from_slice(self.plan.children_of(id)),
            }
        }
    }
}
