//! A message that is kept, changed in places that are known, and sent again.

use std::sync::Arc;

use bsoap_codec::plan::{Leaf, LeafId, LeafKind};
use bsoap_codec::{LeafView, Plan, Record, Value, View, build_leaf};
use bsoap_differential::send::{Match, SendCounts, Template};
use bsoap_protocol::Target;

use crate::Error;

/// A request that is kept, changed in places that are known, and sent again: nothing has to be compared to find out what has
/// changed.
///
/// ```no_run
/// # async fn example(client: bsoap::Client, field: bsoap::Value) -> Result<(), bsoap::Error> {
/// let mut draft = client.draft("jacobiStep", &field)?;
/// client.send(&mut draft).await?;
/// draft.set("field.item[17]", 3.5)?;
/// client.send(&mut draft).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) target: Target,
    pub(super) template: Template,
}

impl Draft {
    /// Sets a value: an element by its path from the arguments on, `[n]` for one of several (the first has the number 0),
    /// `@name` at the end for an attribute. It must be in the message.
    ///
    /// # Errors
    /// If it is not, or the value is none of its type.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<(), Error> {
        let place = self.place(path)?;
        self.set_at(&place, value)
    }

    /// Where the value at a path stands, for [`set_at`](Self::set_at): a path that is needed again and again is looked up once.
    ///
    /// # Errors
    /// If it is not in the message.
    pub fn place(&self, path: &str) -> Result<DraftPlace, Error> {
        let record = self.record()?;
        let leaf = find(record, path).ok_or_else(|| {
            Error::Setup(format!(
                "the message has no single value {path} that could be set"
            ))
        })?;
        Ok(DraftPlace {
            plan: Arc::clone(record.plan()),
            slot: leaf.slot(),
            leaf: leaf.leaf_id(),
        })
    }

    /// Sets the value at a place.
    ///
    /// # Errors
    /// If the value is none of its type, or the place is one of another draft and this has no such value there.
    pub fn set_at(&mut self, place: &DraftPlace, value: impl Into<Value>) -> Result<(), Error> {
        let DraftPlace { plan, slot, leaf } = place;
        if !Arc::ptr_eq(plan, self.record()?.plan()) {
            return Err(Error::Setup(
                "a place of another service's message cannot be set in this".into(),
            ));
        }
        let (slot, template, value) = (*slot, &mut self.template, value.into());
        let Leaf {
            kind, has_facets, ..
        } = *plan.leaf(*leaf);
        let set = match (kind, &value) {
            (LeafKind::Double, &Value::Double(value)) if !has_facets => template.set(slot, value),
            (LeafKind::Signed { min, max }, &Value::Int(value))
                if !has_facets && (min..=max).contains(&value) =>
            {
                template.set(slot, value)
            }
            (LeafKind::Boolean, &Value::Bool(value)) if !has_facets => template.set(slot, value),
            (kind, value) => {
                let made = build_leaf(plan, *leaf, value);
                let made = made.map_err(|error| Error::Type(error.into()))?;
                let bits = made.slots().first().copied().unwrap_or(0);
                match kind {
                    LeafKind::Boolean => template.set(slot, bits != 0),
                    LeafKind::Signed { .. } => template.set(slot, bits as i64),
                    LeafKind::Unsigned { .. } => template.set(slot, bits),
                    LeafKind::Float => template.set(slot, f32::from_bits(bits as u32)),
                    LeafKind::Double => template.set(slot, f64::from_bits(bits)),
                    _ => template.set_text(slot, made.text(bits)),
                }
            }
        };
        set.map_err(|error| Error::Type(error.into()))
    }

    /// The values of the message as it is to be sent next.
    ///
    /// # Errors
    /// If it could not be written the last time: then there is none any more.
    pub fn record(&self) -> Result<&Record, Error> {
        self.template.record().ok_or_else(|| {
            Error::Setup("the draft could not be written and is lost: make another one".into())
        })
    }

    /// Makes the text what the values are.
    pub(super) fn write(&mut self) -> Result<SendCounts, Error> {
        self.record()?;
        let before = *self.template.stats();
        let matched = self
            .template
            .commit()
            .map_err(|error| Error::Type(error.into()))?;
        let mut counts = SendCounts::default();
        counts.matches = self.template.stats().since(&before);
        debug_assert!(matched != Match::FirstTime || counts.matches.first_time > 0);
        Ok(counts)
    }
}

/// Where a value stands in a [`Draft`].
///
/// ```no_run
/// # async fn example(client: bsoap::Client, field: bsoap::Value) -> Result<(), bsoap::Error> {
/// let mut draft = client.draft("jacobiStep", &field)?;
/// let place = draft.place("field.item[17]")?;
/// for step in 0..1000 {
///     draft.set_at(&place, f64::from(step) / 8.0)?;
///     client.send(&mut draft).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DraftPlace {
    plan: Arc<Plan>,
    slot: usize,
    leaf: LeafId,
}

/// The value at a path from the arguments on: from the first element of the Body, whose children they are.
fn find<'r>(record: &'r Record, path: &str) -> Option<LeafView<'r>> {
    let mut view = View::of(record).child("Body")?.children().next()?;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        if let Some(name) = step.strip_prefix('@') {
            return view.attribute(name).filter(|_| steps.peek().is_none());
        }
        let (name, index) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
            Some((name, index)) => (name, index.parse::<usize>().ok()?),
            None => (step, 0),
        };
        view = match view.rows(name) {
            Some(rows) => rows.row(index)?,
            None => view.all(name).nth(index)?,
        };
    }
    view.leaf()
        .filter(|leaf| !matches!(leaf.kind(), LeafKind::List(_)))
}
