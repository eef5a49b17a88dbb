//! Decoding up to a place, and resuming at one.

use crate::record::Record;

use super::checkpoint::{Checkpoint, Loop};
use super::frame::Frame;
use super::piece::Piece;
use super::place::{Place, Places, Until, Varies};
use super::{Decoder, Error};

impl Places {
    /// Adds a group with one place: where the decoder is, anywhere in the message.
    pub fn add(&mut self, decoder: &Decoder, record: &Record) -> Place {
        // Groups whose outer levels have changed since the last place are not around this one.
        self.shut(&decoder.machine, decoder.depth());
        let checkpoint = decoder.checkpoint(record);
        let group = self.push(&decoder.plan, checkpoint, Varies::Nothing);
        self.start(decoder.offset());
        Place { group, at: 0 }
    }

    /// Sets the decoder to a place at this offset of the text. Returns `false`, without a change, if the namespaces of its
    /// group have been forgotten.
    ///
    /// If the decoder is in the group of the place, only the number of the place is set.
    #[must_use]
    pub fn resume(&mut self, decoder: &mut Decoder, place: Place, offset: u64) -> bool {
        if !self.is_in_group(decoder, place.group) {
            let Some(shape) = self.shape(place.group) else {
                return false;
            };
            if !decoder.resume(&shape.checkpoint) {
                return false;
            }
            decoder.renumber(self.renumber(place.group));
            decoder.machine.frames.watch();
            self.reopen(place.group);
        }
        self.set(decoder, place);
        decoder.move_to(offset);
        decoder.machine.tag_end = offset;
        self.start(offset);
        true
    }

    /// Whether the decoder is at some place of this group. Then its state need not be compared with the group's.
    pub fn is_in_group(&mut self, decoder: &mut Decoder, group: u32) -> bool {
        let (plan, machine) = (&decoder.plan, &mut decoder.machine);
        let levels = machine.frames.len();
        let Some(Frame::Group(top)) = machine.frames.last().copied() else {
            return false;
        };
        if !(decoder.reader.is_between() && machine.is_between()) {
            return false;
        }
        self.prune(machine, levels);
        let open = self.open.last();
        open.is_some_and(|open| {
            (open.levels, open.group) == (levels, group) && self.is_of(plan, open, &top)
        })
    }

    fn set(&self, decoder: &mut Decoder, place: Place) {
        let varies = self.shape(place.group).map(|shape| shape.varies);
        if let Some(Frame::Group(top)) = decoder.machine.frames.last_mut() {
            match varies {
                Some(Varies::Count) => top.count = place.at,
                Some(Varies::Child) => top.at = place.at,
                _ => {}
            }
        }
    }

    /// Whether the decoder's state agrees with that of a place, apart from the counts of loops. If the decoder is in the
    /// group of the place, only the number of the place is compared.
    pub fn agree(&mut self, decoder: &mut Decoder, place: Place) -> bool {
        let is_inside = self.is_in_group(decoder, place.group);
        let Some(varies) = self.shape(place.group).map(|shape| shape.varies) else {
            return false;
        };
        match decoder.machine.frames.last() {
            Some(Frame::Group(top)) if is_inside => {
                let number = match varies {
                    Varies::Child => top.at,
                    _ => top.count,
                };
                let may_differ =
                    varies == Varies::Count && decoder.plan.particle(top.particle).is_unlimited();
                number == place.at || may_differ
            }
            _ => {
                let checkpoint = self.checkpoint(&decoder.plan, place.group, place.at);
                checkpoint.is_some_and(|checkpoint| decoder.is_at(&checkpoint))
            }
        }
    }
}

impl Decoder {
    /// As [`read`](Self::read), but it stops at `until`, if that comes first, and notes places.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn read_until(
        &mut self,
        piece: Piece<'_>,
        record: &mut Record,
        until: Until,
        places: Option<&mut Places>,
    ) -> Result<(), Error> {
        self.until = until;
        let read = match places {
            None => self.run(piece, record, (), None),
            Some(places) => self.run(piece, record, places, None),
        };
        self.until = Until::END;
        read
    }

    /// Whether its state agrees with a checkpoint, apart from the counts of loops.
    pub fn is_at(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.agrees_with(&self.reader, &self.machine, &self.plan, &self.scopes)
    }

    /// The open loops, outermost first.
    pub fn loops(&self) -> Vec<Loop> {
        self.machine.loops(&self.plan)
    }

    /// Changes the slots and counts of the open loops.
    pub fn renumber(&mut self, change: impl FnMut(&mut Loop)) {
        self.machine.renumber(&self.plan, change);
    }

    /// Whether its state depends only on the text before its offset, and it is inside the root element. This is not so at
    /// an incomplete tag; inside a text it is.
    pub fn is_steady(&self) -> bool {
        self.reader.is_between() && !self.machine.done
    }

    /// Whether the message has been read to its end.
    pub fn is_finished(&self) -> bool {
        self.reader.is_finished()
    }

    /// Sets its offset, as if it had read `offset` bytes of text.
    pub fn move_to(&mut self, offset: u64) {
        let by = offset.wrapping_sub(self.reader.offset());
        self.reader.move_by(by);
        self.machine.move_by(by);
    }

    /// The number of open levels: elements, and groups in them.
    pub fn depth(&self) -> usize {
        self.machine.frames.len()
    }
}
