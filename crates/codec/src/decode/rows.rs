//! Arrays of flat structs: what stands between one value and the next is always the same.
//!
//! ```text
//! <item><x>  1  </x><y>  2  </y><v>  0.5  </v></item><item><x>  3  </x>…
//!  head          └ after 0 ┘  └ after 1 ┘     └──── after 2 ────┘
//! ```
//!
//! Once the tags of a row are known, so are these stretches: each is one compare, and a row is a loop over its fields.

use bsoap_datatypes::kernel::Column;

use crate::plan::{Content, ElementId, LeafId, ParticleId, Plan, RealRange, Term, TypeId};
use crate::record::marker;

use super::frame::Last;
use super::learned::{Known, Learned, Start, What};
use super::options::{DecodeOptions, Validation};
use super::plain::{Plain, number};
use super::spelling::Spelling;
use super::trace::Site;

/// A row that can be read in one go.
#[derive(Debug)]
pub(super) struct Rows {
    /// What stands between the start of a row and its first value.
    pub(super) head: Spelling,
    pub(super) fields: Box<[Field]>,
    /// How much of what stands between two rows belongs to the next one: the gap before it, its tag, and the first field's.
    pub(super) lead: usize,
    /// Slots of a row,
    pub(super) slots: usize,
    /// and how each of them can be read again.
    pub(super) sites: Box<[Site]>,
    /// The fields as kernels read them, if all are numbers; else none.
    pub(super) columns: Box<[Column]>,
    /// Which slots of a row must be in a range.
    pub(super) ranges: Box<[(usize, RealRange)]>,
}

/// A value of a row.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) particle: ParticleId,
    pub(super) element: ElementId,
    pub(super) leaf: LeafId,
    /// How its numbers are read; `None` if its text must be looked at.
    plain: Option<Plain>,
    pub(super) site: Site,
    /// What precedes the value in the Record.
    pub(super) marker: Option<u64>,
    /// What stands between this value and the next one, be it of the next row.
    pub(super) after: Spelling,
    /// Whether an empty text stands for another value.
    pub(super) has_default: bool,
    /// The end tag alone.
    pub(super) close: Spelling,
    pub(super) qname: Box<str>,
}

impl Field {
    /// The slot of the number at the front of a text, and its length.
    #[inline(always)]
    pub(super) fn number(&self, text: &[u8]) -> Option<(u64, usize)> {
        let plain = self.plain?;
        number(plain.kind, text).filter(|(slot, _)| plain.has(*slot))
    }

    fn column(&self) -> Option<Column> {
        Some(Column {
            number: self.plain?.kind.number()?,
            marker: self.marker,
            separator: self.after.separator().clone(),
        })
    }
}

/// Where rows came to their end: before the value of this field.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) rows: u64,
    pub(super) field: usize,
    pub(super) at: usize,
}

/// More fields are not worth a loop of their own.
const MOST: usize = 256;

impl Rows {
    /// The rows of an element that repeats, if they are flat and all their tags are known. `start` is how a row begins.
    #[cold]
    pub(super) fn new(
        plan: &Plan,
        options: &DecodeOptions,
        learned: &Learned,
        row: ParticleId,
        start: &Known,
    ) -> Option<Self> {
        let What::Start(row_start) = &start.what else {
            return None;
        };
        let mut fields = fields(plan, options, row)?;
        let scope = row_start.inner;
        let Term::Element(row_element) = plan.particle(row).term else {
            return None;
        };
        let row_element = (row_element, plan.element(row_element).ty);
        let mut next = start_of(learned.likeliest(Last::opened(row))?)?;
        let head = learned.likeliest(Last::opened(row))?.spelling.clone();
        let count = fields.len();
        let mut lead = 0;
        for (index, field) in fields.iter_mut().enumerate() {
            // A name in the text is resolved by the bindings of the row.
            let declared = plan.element(field.element).ty;
            let is_plain = next.is_plain((field.element, declared)) && next.inner == scope;
            if !is_plain || next.name != plan.element(field.element).name {
                return None;
            }
            field.close = next.close.clone();
            field.qname = next.qname.clone();
            let known = learned.likeliest(Last::closed(field.particle))?;
            if known.scope != scope {
                return None;
            }
            field.after = next.close.and(&known.spelling);
            if index + 1 < count {
                next = start_of(known)?;
                continue;
            }
            let What::End(qname) = &known.what else {
                return None;
            };
            // The array of the message before may have ended here.
            let after = learned.after(Last::closed(row)).iter();
            let mut starts = after.filter_map(|&id| learned.tag(id));
            let again = starts.find(|known| start_of(known).is_some())?;
            let again_start = start_of(again)?;
            let is_row = again.scope == start.scope
                && again_start.name == row_start.name
                && again_start.inner == scope;
            if *qname != row_start.qname
                || *qname != again_start.qname
                || !is_row
                || !again_start.is_plain(row_element)
            {
                return None;
            }
            field.after = field.after.and(&again.spelling).and(&head);
            lead = again.spelling.len() + head.len();
        }
        let (mut sites, mut ranges) = (Vec::new(), Vec::new());
        for field in &fields {
            sites.extend(field.marker.map(|_| Site::NONE));
            let slot = sites.len();
            ranges.extend(field.plain.and_then(|plain| Some((slot, plain.range?))));
            sites.push(field.site);
        }
        let columns: Option<Vec<Column>> = fields.iter().map(Field::column).collect();
        Some(Self {
            head,
            fields: fields.into(),
            lead,
            slots: sites.len(),
            sites: sites.into(),
            columns: columns.unwrap_or_default().into(),
            ranges: ranges.into(),
        })
    }
}

impl Start {
    /// Whether it is a start tag without values, and of an element that is what it is declared to be.
    pub(super) fn is_plain(&self, declared: (ElementId, TypeId)) -> bool {
        self.holes.is_empty()
            && !self.is_empty
            && !self.nil
            && self.ty.is_none_or(|ty| ty == declared)
    }
}

fn start_of(known: &Known) -> Option<&Start> {
    match &known.what {
        What::Start(start) => Some(start),
        What::End(_) => None,
    }
}

/// The fields of a flat row, their spelling yet to be found out.
fn fields(plan: &Plan, options: &DecodeOptions, row: ParticleId) -> Option<Vec<Field>> {
    let Term::Element(element) = plan.particle(row).term else {
        return None;
    };
    let element = plan.element(element);
    let ty = plan.ty(element.ty);
    let is_bare = ty.attributes.is_empty()
        && ty.any_attribute.is_none()
        && ty.alternatives.is_empty()
        && !ty.is_abstract;
    if !is_bare || element.has_state || element.is_abstract {
        return None;
    }
    let Content::Particle(sequence) = ty.content else {
        return None;
    };
    let particle = plan.particle(sequence);
    let Term::Sequence(children) = &particle.term else {
        return None;
    };
    let children = plan.group(children);
    if !particle.is_required_once() || children.len() > MOST || children.is_empty() {
        return None;
    }
    children
        .iter()
        .map(|&child| field(plan, options, child))
        .collect()
}

/// A field, its spelling yet to be found out; `None` if it is no single value.
pub(super) fn field(plan: &Plan, options: &DecodeOptions, id: ParticleId) -> Option<Field> {
    let particle = plan.particle(id);
    let Term::Element(element_id) = particle.term else {
        return None;
    };
    let element = plan.element(element_id);
    let ty = plan.ty(element.ty);
    let Content::Simple(leaf_id) = ty.content else {
        return None;
    };
    let leaf = plan.leaf(leaf_id);
    let checked = options.validation == Validation::Full && element.fixed.is_some();
    let plain = Plain::of(leaf, options.validation);
    if particle.repeats()
        || particle.max == 0
        || !element.is_scalar
        || element.is_abstract
        || ty.is_abstract
        || checked
    {
        return None;
    }
    let marker = match (element.has_state, particle.min) {
        (true, _) => Some(marker::state(marker::PRESENT, element.ty)),
        (false, 0) => Some(marker::PRESENT),
        (false, _) => None,
    };
    Some(Field {
        particle: id,
        element: element_id,
        leaf: leaf_id,
        plain,
        site: plain.map_or(Site::NONE, |plain| plain.site(leaf_id)),
        marker,
        has_default: element.default.is_some() || element.fixed.is_some(),
        after: Spelling::default(),
        close: Spelling::default(),
        qname: "".into(),
    })
}
