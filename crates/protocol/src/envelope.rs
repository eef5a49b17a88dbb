//! The parts of a decoded Envelope, found without a walk over the Body: the schema crate makes all Envelopes alike.
//!
//! ```text
//! Envelope: any attributes, marker of Header [, Header: any attributes, blocks], Body: any attributes, branch, content
//! ```

use bsoap_codec::plan::{Content, ElementId, Plan, Term};
use bsoap_codec::{Record, View};

/// The elements that an Envelope may contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children {
    pub(crate) header: ElementId,
    pub(crate) body: ElementId,
}

impl Children {
    /// The Header and the Body of the Envelope `root`. `None` if it is no Envelope.
    pub(crate) fn of(plan: &Plan, root: ElementId) -> Option<Self> {
        let Content::Particle(content) = plan.ty(plan.element(root).ty).content else {
            return None;
        };
        let &[header, body] = plan.children_of(content) else {
            return None;
        };
        let element = |particle| match plan.particle(particle).term {
            Term::Element(element) => Some(element),
            _ => None,
        };
        Some(Self {
            header: element(header)?,
            body: element(body)?,
        })
    }
}

/// The Header and the Body of a decoded Envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened<'r> {
    pub(crate) header: Option<View<'r>>,
    pub(crate) body: View<'r>,
}

impl<'r> Opened<'r> {
    /// The parts of an Envelope. `None` if the Record is none.
    pub(crate) fn of(record: &'r Record) -> Option<Self> {
        let children = Children::of(record.plan(), record.root())?;
        let marker = View::of(record).first_slot() + 1;
        let header = match *record.slots().get(marker)? {
            0 => None,
            _ => Some(View::at(record, children.header, marker + 1)?),
        };
        let end = header.map_or(marker + 1, |header| header.slots().end);
        let body = View::at(record, children.body, end)?;
        Some(Self { header, body })
    }

    /// The elements of the Body.
    pub(crate) fn elements(&self) -> impl Iterator<Item = View<'r>> + use<'r> {
        self.body.children()
    }

    /// The first element of the Body. `None` if the Body is empty.
    pub(crate) fn first(&self) -> Option<View<'r>> {
        let (record, at) = (self.body.record(), self.body.first_slot() + 1);
        let plan: &Plan = record.plan();
        let branch = usize::try_from(*record.slots().get(at)?).ok()?;
        let Content::Particle(choice) = plan.ty(self.body.type_id()).content else {
            return None;
        };
        let particle = plan.particle(*plan.children_of(choice).get(branch.checked_sub(1)?)?);
        match particle.term {
            Term::Element(element) if particle.is_required_once() => {
                View::at(record, element, at + 1)
            }
            _ => self.body.children().next(),
        }
    }
}
