//! The children given: a queue of values for each name, and the order between names if there is one.

use std::borrow::Cow;
use std::cell::Cell;

use smallvec::SmallVec;

use crate::plan::shape::Shape;
use crate::plan::{ElementId, NamespaceConstraint, ParticleId, Plan, Term};
use crate::value::Value;

use super::super::{BuildError, BuildErrorKind, Result, leaf};

/// The next child: by its index in the [`Shape`], or an element of a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Child(usize),
    Any,
}

/// The order of children.
pub(crate) struct Order {
    heads: Vec<Head>,
    next: usize,
}

impl Order {
    pub(crate) fn new(heads: Vec<Head>) -> Self {
        Self { heads, next: 0 }
    }
}

/// The values of one name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue<'v> {
    pub(super) value: Option<&'v Value>,
    pub(super) next: usize,
    pub(super) length: usize,
    /// Whether an array counts as one value.
    pub(super) whole: bool,
}

impl<'v> Queue<'v> {
    pub(crate) fn new(value: Option<&'v Value>) -> Self {
        Self {
            value,
            length: value.map_or(0, Value::len),
            ..Self::default()
        }
    }

    /// A queue of one value, which may be an array.
    pub(super) fn one(value: &'v Value) -> Self {
        Self {
            length: 1,
            whole: true,
            ..Self::new(Some(value))
        }
    }

    pub(super) fn left(&self) -> usize {
        self.length - self.next
    }

    pub(super) fn take(&mut self) -> Option<Cow<'v, Value>> {
        let index = self.next;
        if index >= self.length {
            return None;
        }
        self.next += 1;
        match self.value {
            Some(list) if self.whole => Some(Cow::Borrowed(list)),
            Some(values) => values.item(index),
            None => Some(Cow::Owned(Value::Nil)),
        }
    }
}

/// The children given.
pub(crate) struct GivenChildren<'v> {
    pub(super) shape: &'v Shape,
    pub(super) queues: SmallVec<[Queue<'v>; 12]>,
    /// Where the next child is expected among those of the shape.
    pub(super) near: Cell<usize>,
    pub(super) any: Queue<'v>,
    pub(crate) order: Option<Order>,
    /// The children taken so far, if they are wanted.
    pub(super) log: Option<Vec<Head>>,
}

impl<'v> GivenChildren<'v> {
    /// The children that `get` returns for the keys of a shape.
    pub(crate) fn new(shape: &'v Shape, mut get: impl FnMut(&str) -> Option<&'v Value>) -> Self {
        let queues = shape.children.iter().map(|child| match get(&child.key) {
            // Null means absent if the child is not nillable.
            Some(Value::Nil) if !child.nillable => Queue::default(),
            Some(value) if child.is_list && !child.repeats => Queue::one(value),
            value => Queue::new(value),
        });
        let queues = queues.collect();
        let any = if shape.has_any {
            Queue::new(get("#any"))
        } else {
            Queue::default()
        };
        Self {
            shape,
            queues,
            near: Cell::new(0),
            any,
            order: None,
            log: None,
        }
    }

    pub(super) fn index(&self, plan: &Plan, element: ElementId) -> Option<usize> {
        let name = plan.element(element).name;
        let index = self.shape.index_near(name, self.near.get())?;
        self.near.set(index);
        Some(index)
    }

    /// The index of the child that comes next in the order given; `None` if it is no declared element.
    pub(super) fn next_child(&self) -> Option<usize> {
        let order = self.order.as_ref()?;
        match order.heads.get(order.next)? {
            Head::Child(index) => Some(*index),
            Head::Any => None,
        }
    }

    /// Whether a child of this kind comes next.
    pub(super) fn has(&self, head: Head) -> bool {
        if let Some(order) = &self.order
            && order.heads.get(order.next) != Some(&head)
        {
            return false;
        }
        match head {
            Head::Child(index) => self.queues[index].left() > 0,
            Head::Any => self.any.left() > 0,
        }
    }

    pub(super) fn take(&mut self, head: Head) -> Option<(Cow<'v, Value>, usize)> {
        if let Some(order) = &mut self.order {
            order.next += 1;
        }
        if let Some(log) = &mut self.log {
            log.push(head);
        }
        let queue = match head {
            Head::Child(index) => &mut self.queues[index],
            Head::Any => &mut self.any,
        };
        let value = queue.take()?;
        Some((value, queue.next))
    }

    /// Whether an occurrence of a particle can begin with the children that are left. (Groups nest no deeper than a schema
    /// document does.)
    pub(super) fn enters(&self, plan: &Plan, id: ParticleId) -> bool {
        match &plan.particle(id).term {
            Term::Element(element) => self
                .index(plan, *element)
                .is_some_and(|index| self.has(Head::Child(index))),
            Term::Any(wildcard) => self.has(Head::Any) && self.is_for(&wildcard.namespaces),
            Term::Sequence(_) if self.order.is_some() => {
                for &child in plan.children_of(id) {
                    if self.enters(plan, child) {
                        return true;
                    }
                    if !plan.particle(child).is_emptiable {
                        return false;
                    }
                }
                false
            }
            _ => plan
                .children_of(id)
                .iter()
                .any(|&child| self.enters(plan, child)),
        }
    }

    /// Whether the next element without a declaration is for a wildcard of these namespaces, and not for another one.
    fn is_for(&self, namespaces: &NamespaceConstraint) -> bool {
        if !self.shape.has_wildcards {
            return true;
        }
        let next = self.any.value.and_then(|value| value.item(self.any.next));
        let xml = next.as_deref().and_then(Value::as_str);
        let namespace = xml.map(|xml| leaf::check_fragment(xml, leaf::Wellformed::OneElement));
        // What is no element is an error elsewhere.
        !matches!(namespace, Some(Ok(namespace)) if !namespaces.admits(&namespace))
    }

    /// Whether what a particle requires is given. (Groups nest no deeper than a schema document does.)
    fn suffices(&self, plan: &Plan, id: ParticleId) -> bool {
        let particle = plan.particle(id);
        let mut children = plan.children_of(id).iter();
        match &particle.term {
            _ if particle.is_emptiable => true,
            Term::Element(_) | Term::Any(_) => self.enters(plan, id),
            Term::Sequence(_) | Term::All(_) => children.all(|&child| self.suffices(plan, child)),
            Term::Choice(_) => children.any(|&child| self.suffices(plan, child)),
        }
    }

    /// The branch of a choice that the children begin: the first, or the first of which all is given.
    pub(super) fn branch(&self, plan: &Plan, children: &[ParticleId]) -> Option<usize> {
        let enters = |child: &ParticleId| self.enters(plan, *child);
        let first = children.iter().position(enters)?;
        let is_element = matches!(plan.particle(children[first]).term, Term::Element(_));
        if is_element || self.suffices(plan, children[first]) {
            return Some(first);
        }
        let mut more = children.iter().skip(first + 1);
        let better = more.position(|child| enters(child) && self.suffices(plan, *child));
        Some(better.map_or(first, |better| first + 1 + better))
    }

    pub(super) fn left(&self) -> usize {
        self.queues.iter().map(Queue::left).sum::<usize>() + self.any.left()
    }

    /// An error if a value was not taken.
    pub(crate) fn finish(&self) -> Result<()> {
        let left = |queue: &Queue<'_>| (queue.left() > 0).then_some(queue.left());
        for (queue, child) in self.queues.iter().zip(&self.shape.children) {
            if let Some(left) = left(queue) {
                return Err(BuildError::from(BuildErrorKind::TooMany { left }).inside(&*child.key));
            }
        }
        match left(&self.any) {
            Some(left) => Err(BuildError::from(BuildErrorKind::TooMany { left }).inside("#any")),
            None => Ok(()),
        }
    }
}
