//! Elements without a declaration where a wildcard has its content checked. (XML Schema Part 1 §3.3.4, §3.10.4)
//!
//! Only the Plan of a validator says what they are checked as: an element of any name and of type `anyType`, which an `xsi:type` may
//! replace by any known type ([`PlanBuilder::check_undeclared`](crate::plan::PlanBuilder::check_undeclared)). The element is kept
//! as XML, like every element at a wildcard. Beside the copy, a second machine reads the same events into a Record of its own,
//! which is thrown away:
//!
//! ```text
//! <any xsi:type="t"> <a>1</a> </any>
//!  ├─ fragment:       the XML, for the Record of the message
//!  └─ second machine: Element * of type t ─ Group sequence ─ Element a ─ violations and warnings alone
//! ```
//!
//! The second machine opens undeclared elements at once, so there are two machines, however deep wildcards are nested.

use bsoap_xml::Tag;

use super::attributes::stated_type;
use super::builder::Builder;
use super::content::Sought;
use super::error::{Error, ErrorKind, Name};
use super::fragment::Fragment;
use super::frame::{Check, Frame, Frames, Machine, UndeclaredName};
use super::place::Until;
use super::sink::Sink;
use super::skeleton::Log;
use super::tolerance::Deviation;
use crate::plan::{ElementId, ParticleId, Plan, ProcessContents, Term};
use crate::record::Record;

/// What an element that is checked is inside of.
pub(super) struct Outer<'r> {
    /// The number of warnings kept so far.
    pub(super) warnings: usize,
    /// The levels that are open around the element.
    pub(super) frames: &'r Frames,
    /// The names of the undeclared elements that are open inside of it.
    pub(super) names: &'r mut Vec<UndeclaredName>,
}

/// The path of the open elements. Undeclared elements have no name in the Plan.
#[cold]
pub(super) fn path_of(plan: &Plan, frames: &Frames, names: &[UndeclaredName]) -> String {
    let mut path = String::new();
    for (level, frame) in frames.iter().enumerate() {
        let Frame::Element(frame) = frame else {
            continue;
        };
        let undeclared = match plan.undeclared == Some(frame.element) {
            true => names.binary_search_by_key(&level, |it| it.level).ok(),
            false => None,
        };
        path.push('/');
        path.push_str(match undeclared {
            Some(index) => &names[index].local,
            None => plan.vocabulary.local(plan.element(frame.element).name),
        });
        let before = level.checked_sub(1).and_then(|before| frames.get(before));
        if let Some(Frame::Group(group)) = before
            && group.particle == frame.particle
        {
            path.push_str(&format!("[{}]", group.count));
        }
    }
    path
}

impl<S: Sink> Builder<'_, S> {
    /// Begins an element at a wildcard: it is copied, and checked if the Plan is that of a validator.
    pub(super) fn start_any(&mut self, particle: ParticleId, tag: &Tag<'_>) -> Result<(), Error> {
        let checked = self.checked_as(particle, tag);
        match checked {
            Some(element) if self.machine.root == element => {
                self.note_name(tag);
                return self.open(element, particle, false, tag);
            }
            Some(element) => {
                self.machine.check = Some(Box::new(Check {
                    machine: Machine::new(element),
                    record: Record::new(self.record.plan.clone(), element),
                    names: Vec::new(),
                }));
            }
            None => {}
        }
        let mut fragment = Fragment::new(tag.offset);
        fragment.start(tag);
        self.machine.fragment = Some(Box::new(fragment));
        self.check(|check| check.start_tag(tag))
    }

    /// What an element at a wildcard is checked as. `None` if it is not checked: its wildcard skips it, or is lax and the
    /// `xsi:type` is unknown.
    fn checked_as(&self, particle: ParticleId, tag: &Tag<'_>) -> Option<ElementId> {
        let plan = self.plan;
        let id = plan.undeclared?;
        let Term::Any(wildcard) = &plan.particle(particle).term else {
            return None;
        };
        match wildcard.process {
            ProcessContents::Skip => None,
            ProcessContents::Strict => Some(id),
            ProcessContents::Lax => match stated_type(plan, plan.element(id), tag) {
                Some(Err(_)) => None,
                None | Some(Ok(_)) => Some(id),
            },
        }
    }

    /// Gives an event to the second machine, if there is one.
    pub(super) fn check(
        &mut self,
        give: impl FnOnce(&mut Builder<'_, ()>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(mut check) = self.machine.check.take() else {
            return Ok(());
        };
        let mut log = Log::default();
        let outer = Outer {
            warnings: self.warnings(),
            frames: &self.machine.frames,
            names: &mut check.names,
        };
        let checked = give(&mut Builder {
            plan: self.plan,
            options: self.options,
            space: self.space,
            overruns: self.overruns,
            is_long_list: false,
            machine: &mut check.machine,
            record: &mut check.record,
            outer: Some(outer),
            sink: (),
            violations: self.violations.as_deref_mut(),
            deviations: Vec::new(),
            until: Until::END,
            log: &mut log,
        });
        // What is learned is followed without a check.
        self.log.is_void = true;
        self.record.warnings.append(&mut check.record.warnings);
        self.machine.check = Some(check);
        checked
    }

    /// Keeps the name of an undeclared element that is opened next, for paths.
    pub(super) fn note_name(&mut self, tag: &Tag<'_>) {
        let Some(outer) = &mut self.outer else {
            return;
        };
        let level = self.machine.frames.len();
        while outer.names.pop_if(|it| it.level >= level).is_some() {}
        outer.names.push(UndeclaredName {
            level,
            local: tag.local().into(),
        });
    }

    /// Whether an element that may come next comes to a strict wildcard without a declaration and without an `xsi:type`.
    pub(super) fn lacks_declaration(&self, sought: Sought<'_>, tag: &Tag<'_>) -> bool {
        let Some(id) = self.plan.undeclared else {
            return false;
        };
        let wildcard = self.machine.wildcard_of(self.plan, sought);
        wildcard.is_some_and(|it| it.process == ProcessContents::Strict)
            && stated_type(self.plan, self.plan.element(id), tag).is_none()
    }

    /// Reports such an element, and skips it.
    #[cold]
    pub(super) fn undeclared(&mut self, tag: &Tag<'_>) -> Result<(), Error> {
        let kind = ErrorKind::Undeclared(Name::new(tag.namespace(), tag.local()));
        let error = Error::new(kind, self.path(), tag.offset);
        self.deviate(Deviation::UnknownElement, error)?;
        self.machine.skipping = 1;
        Ok(())
    }
}
