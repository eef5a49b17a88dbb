//! A message that is kept, changed in places that are known, and sent again.

use bsoap_codec::plan::LeafKind;
use bsoap_codec::{LeafView, Record, Value, View, build_leaf};
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
        let record = self.record()?;
        let leaf = find(record, path).ok_or_else(|| {
            Error::Setup(format!(
                "the message has no single value {path} that could be set"
            ))
        })?;
        let (slot, kind) = (leaf.slot(), leaf.kind());
        let plan = record.plan().clone();
        let made = build_leaf(&plan, leaf.leaf_id(), &value.into())
            .map_err(|error| Error::Type(error.into()))?;
        let bits = made.slots().first().copied().unwrap_or(0);
        let template = &mut self.template;
        let set = match kind {
            LeafKind::Boolean => template.set(slot, bits != 0),
            LeafKind::Signed { .. } => template.set(slot, bits as i64),
            LeafKind::Unsigned { .. } => template.set(slot, bits),
            LeafKind::Float => template.set(slot, f32::from_bits(bits as u32)),
            LeafKind::Double => template.set(slot, f64::from_bits(bits)),
            _ => template.set_text(slot, made.text(bits)),
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
