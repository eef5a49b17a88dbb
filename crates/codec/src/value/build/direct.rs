//! Places children whose names say where they belong: each is that of one particle, which is reached at most once
//! ([`Shape::is_direct`]). One pass over the content model asks the object for each key.
//!
//! [`Placer`](super::place::Placer) gives the same Record for the same children, by a queue for each name. This pass pays in
//! benchmark `api-out` (`order`).

use crate::plan::shape::{Child, Shape};
use crate::plan::{ElementId, Particle, ParticleId, Plan, Term, UNBOUNDED};
use crate::record::marker;
use crate::value::object::Cursor;
use crate::value::{Object, Value};

use super::place::Presence;
use super::{BuildError, BuildErrorKind, Builder, Result, error};

/// Walks a content model and takes the children of an object.
pub(super) struct DirectPlacer<'a, 'p, 'v> {
    plan: &'p Plan,
    out: &'a mut Builder<'p>,
    shape: &'p Shape,
    object: &'v Object,
    cursor: Cursor,
    /// The index in the shape at which the next child is expected.
    near: usize,
    /// The number of members found in the object.
    pub(super) used: usize,
}

/// The value of a child, if it says that there is one.
fn given<'v>(value: Option<&'v Value>, child: &Child) -> Option<&'v Value> {
    value.filter(|value| match value {
        // Null means absent if the child is not nillable.
        Value::Nil => child.nillable,
        value => is_one(value, child) || !value.is_empty(),
    })
}

/// Whether a value is that of one child, not an array with a value for each.
fn is_one(value: &Value, child: &Child) -> bool {
    !value.is_array() || child.is_list && !child.repeats
}

fn presence(particle: &Particle) -> Presence {
    match particle.min {
        0 => Presence::Optional,
        _ => Presence::Named,
    }
}

impl<'a, 'p, 'v> DirectPlacer<'a, 'p, 'v> {
    pub(super) fn new(out: &'a mut Builder<'p>, shape: &'p Shape, object: &'v Object) -> Self {
        Self {
            plan: out.plan,
            out,
            shape,
            object,
            cursor: Cursor::default(),
            near: 0,
            used: 0,
        }
    }

    /// Places the children of a particle, with its markers.
    pub(super) fn particle(&mut self, id: ParticleId) -> Result<()> {
        let particle = self.plan.particle(id);
        match &particle.term {
            Term::Element(element) if particle.repeats() => self.array(id, *element),
            Term::Element(element) => self.element(particle, *element),
            Term::Choice(_) => self.group(id),
            _ if particle.min > 0 => self.group(id),
            _ if self.enters(id) => {
                self.out.record.push(marker::PRESENT);
                self.group(id)
            }
            _ => {
                self.out.record.push(marker::ABSENT);
                Ok(())
            }
        }
    }

    fn group(&mut self, id: ParticleId) -> Result<()> {
        self.out.enter_group()?;
        let children = self.plan.children_of(id);
        let result = match self.plan.particle(id).term {
            Term::Choice(_) => self.choice(id, children),
            _ => children.iter().try_for_each(|&child| self.particle(child)),
        };
        self.out.groups -= 1;
        result
    }

    fn choice(&mut self, id: ParticleId, branches: &[ParticleId]) -> Result<()> {
        let mut entered = (1..)
            .zip(branches)
            .filter(|&(_, &branch)| self.enters(branch));
        let (chosen, other) = (entered.next(), entered.next());
        let Some((number, &branch)) = chosen else {
            return self.nothing_chosen(id);
        };
        self.out.record.push(number);
        self.particle(branch)?;
        other.map_or(Ok(()), |(_, &other)| Err(self.too_many(other)))
    }

    fn nothing_chosen(&mut self, id: ParticleId) -> Result<()> {
        if !self.plan.particle(id).is_emptiable {
            return Err(error::missing_choice(self.plan, id));
        }
        self.out.record.push(0);
        Ok(())
    }

    /// Whether the object has children of a particle. (Groups nest no deeper than a schema document does.)
    fn enters(&self, id: ParticleId) -> bool {
        self.first(id).is_some()
    }

    /// The first child of a particle that the object has.
    fn first(&self, id: ParticleId) -> Option<(&'p Child, &'v Value)> {
        match self.plan.particle(id).term {
            Term::Element(element) => {
                let child = self.child(element)?.1;
                Some((child, given(self.object.get(&child.key), child)?))
            }
            _ => {
                let children = self.plan.children_of(id);
                children.iter().find_map(|&child| self.first(child))
            }
        }
    }

    /// The error for the children of a particle that has no place.
    #[cold]
    fn too_many(&self, id: ParticleId) -> BuildError {
        let Some((child, value)) = self.first(id) else {
            return BuildErrorKind::TooMany { left: 0 }.into();
        };
        let left = if is_one(value, child) { 1 } else { value.len() };
        BuildError::from(BuildErrorKind::TooMany { left }).inside(&*child.key)
    }

    fn child(&self, element: ElementId) -> Option<(usize, &'p Child)> {
        match self.shape.children.get(self.near) {
            Some(child) if child.element == element => Some((self.near, child)),
            _ => {
                let index = self.shape.index(self.plan.element(element).name)?;
                Some((index, &self.shape.children[index]))
            }
        }
    }

    /// The child of a particle and its member, which the object is asked for only once.
    #[inline]
    fn take(&mut self, element: ElementId) -> Option<(&'p Child, Option<&'v Value>)> {
        let (index, child) = self.child(element)?;
        self.near = index + 1;
        let value = self.object.get_next(&child.key, &mut self.cursor);
        self.used += usize::from(value.is_some());
        Some((child, value))
    }

    /// Places an element that does not repeat.
    #[inline]
    fn element(&mut self, particle: &Particle, id: ElementId) -> Result<()> {
        let Some((child, value)) = self.take(id) else {
            return self.absent(particle, id);
        };
        if let (Some(leaf), Some(value)) = (child.plain, value)
            && value.is_single()
        {
            if particle.min == 0 {
                self.out.record.push(marker::PRESENT);
            }
            let built = self.out.leaf(leaf, value);
            return built.map_err(|error| error.inside(&*child.key));
        }
        match given(value, child) {
            Some(value) => {
                let presence = presence(particle);
                let built = match is_one(value, child) {
                    true => self.out.element(id, value, presence),
                    false => self.only(id, value, presence),
                };
                built.map_err(|error| error.inside(&*child.key))
            }
            None => self.absent(particle, id),
        }
    }

    /// Places an element that is not given.
    fn absent(&mut self, particle: &Particle, id: ElementId) -> Result<()> {
        if particle.min > 0 {
            return self.out.missing(id, presence(particle));
        }
        self.out.record.push(marker::ABSENT);
        if self.plan.element(id).is_scalar {
            self.out.record.push(0);
        }
        Ok(())
    }

    /// Places the only value of an array.
    fn only(&mut self, id: ElementId, values: &Value, presence: Presence) -> Result<()> {
        if let Some(value) = values.item(0) {
            self.out.element(id, &value, presence)?;
        }
        match values.len() {
            0 | 1 => Ok(()),
            length => Err(BuildErrorKind::TooMany { left: length - 1 }.into()),
        }
    }

    /// Places an element that may repeat.
    fn array(&mut self, id: ParticleId, element: ElementId) -> Result<()> {
        let particle = self.plan.particle(id);
        let count_slot = self.out.record.slots.len();
        self.out.record.push(0);
        let mut count = 0;
        let taken = self.take(element);
        if let Some((child, value)) = taken
            && let Some(values) = given(value, child)
        {
            self.items(child, element, values)?;
            count = values.len() as u64;
            if particle.max != UNBOUNDED && count > particle.max.into() {
                let left = values.len() - particle.max as usize;
                let error = BuildError::from(BuildErrorKind::TooMany { left });
                return Err(error.inside(&*child.key));
            }
        }
        // A missing occurrence is an error, unless it has a default.
        while count < particle.min.into() {
            let missing = self.out.missing(element, Presence::Named);
            missing.map_err(|error| error::too_few(self.plan, id, count).unwrap_or(error))?;
            count += 1;
        }
        self.out.record.slots[count_slot] = count;
        Ok(())
    }

    fn items(&mut self, child: &Child, id: ElementId, values: &Value) -> Result<()> {
        let key = &*child.key;
        let is_done = self.out.numbers(id, values);
        if is_done.map_err(|error| error.inside(key))? {
            return Ok(());
        }
        for (index, value) in values.items().enumerate() {
            let built = self.out.element(id, &value, Presence::Named);
            built.map_err(|error| error.inside(format!("{key}[{}]", index + 1)))?;
        }
        Ok(())
    }
}
