//! Places children whose names say where they belong: each is that of one particle, which is reached at most once
//! ([`Shape::is_direct`]). One pass over the content model asks the object for each key.
//!
//! [`Placer`](super::place::Placer) gives the same Record for the same children, by a queue for each name. This pass pays in
//! benchmark `api-out` (`order`).

use crate::plan::shape::{Child, Shape};
use crate::plan::{ElementId, ParticleId, Plan, Term, UNBOUNDED};
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

impl<'a, 'p, 'v> DirectPlacer<'a, 'p, 'v> {
    pub(super) fn new(out: &'a mut Builder<'p>, shape: &'p Shape, object: &'v Object) -> Self {
        Self {
            plan: out.plan,
            out,
            shape,
            object,
            cursor: object.children(),
            used: 0,
        }
    }

    /// Places the children of a content model.
    pub(super) fn content(&mut self, root: ParticleId) -> Result<()> {
        match self.shape.is_flat {
            true => {
                let mut children = self.shape.children.iter();
                children.try_for_each(|child| self.child(child))
            }
            false => self.particle(root),
        }
    }

    /// Places the children of a particle, with its markers.
    fn particle(&mut self, id: ParticleId) -> Result<()> {
        let particle = self.plan.particle(id);
        match particle.term {
            Term::Element(element) => match self.child_of(element) {
                Some(child) => self.child(child),
                None => self.out.missing(element, Presence::Named),
            },
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

    fn child_of(&self, element: ElementId) -> Option<&'p Child> {
        let index = self.shape.index(self.plan.element(element).name)?;
        self.shape.children.get(index)
    }

    /// Places the elements of a name.
    #[inline]
    fn child(&mut self, child: &Child) -> Result<()> {
        let value = self.object.get_next(&child.key, &mut self.cursor);
        self.used += usize::from(value.is_some());
        if let (Some(leaf), Some(value)) = (child.plain, value)
            && value.is_single()
        {
            if child.is_optional {
                self.out.record.push(marker::PRESENT);
            }
            let built = self.out.leaf(leaf, value);
            return built.map_err(|error| error.inside(&*child.key));
        }
        self.other(child, given(value, child))
    }

    /// Places the elements of a name, by whatever is given.
    #[inline(never)]
    fn other(&mut self, child: &Child, given: Option<&Value>) -> Result<()> {
        let Term::Element(element) = self.plan.particle(child.particle).term else {
            return Ok(());
        };
        if child.repeats {
            return self.array(child, element, given);
        }
        let presence = match child.is_optional {
            true => Presence::Optional,
            false => Presence::Named,
        };
        let Some(value) = given else {
            return self.absent(element, presence);
        };
        let built = match is_one(value, child) {
            true => self.out.element(element, value, presence),
            false => self.only(element, value, presence),
        };
        built.map_err(|error| error.inside(&*child.key))
    }

    /// Places an element that is not given and does not repeat.
    fn absent(&mut self, id: ElementId, presence: Presence) -> Result<()> {
        if presence == Presence::Named {
            return self.out.missing(id, presence);
        }
        self.out.record.push(marker::ABSENT);
        if self.plan.element(id).is_scalar {
            self.out.record.push(0);
        }
        Ok(())
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
                let child = self.child_of(element)?;
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
    fn array(&mut self, child: &Child, id: ElementId, given: Option<&Value>) -> Result<()> {
        let particle = self.plan.particle(child.particle);
        let count_slot = self.out.record.slots.len();
        self.out.record.push(0);
        let mut count = 0;
        if let Some(values) = given {
            self.items(child, id, values)?;
            count = values.len() as u64;
            if particle.max != UNBOUNDED && count > particle.max.into() {
                let left = values.len() - particle.max as usize;
                let error = BuildError::from(BuildErrorKind::TooMany { left });
                return Err(error.inside(&*child.key));
            }
        }
        // A missing occurrence is an error, unless it has a default.
        while count < particle.min.into() {
            let missing = self.out.missing(id, Presence::Named);
            missing.map_err(|error| error::or_too_few(error, self.plan, child.particle, count))?;
            count += 1;
        }
        error::check_count(self.plan, child.particle, count)
            .map_err(|error| error.inside(&*child.key))?;
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
