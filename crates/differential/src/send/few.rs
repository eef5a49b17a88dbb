//! Few values of mixed segments: each is written as soon as it is looked at, and those behind it are moved if need be. Of a
//! small message one that changed costs as much to find as to write, and a list of those that do not fit as much again.

use super::compare::Values;
use super::leaves::{Leaves, Segment};
use super::lexical::{self, Unwritable};
use super::misfit::{fits, take_room, width};
use super::patch::Patched;
use super::policy::Policy;
use super::shift::Resize;
use super::stuff;

/// Writes the values of these slots, given as segment and slot in it: no more than the policy may shift. `new` is of the
/// chunk's slots.
pub(crate) fn patch(
    text: &mut impl Resize,
    segments: &mut [Segment],
    policy: &Policy,
    leaves: &[(u32, u32)],
    new: &Values<'_>,
    escaped: &mut Vec<u8>,
    patched: &mut Patched,
) -> Result<(), Unwritable> {
    let mut is_moved = false;
    for &(number, index) in leaves {
        let (number, index) = (number as usize, index as usize);
        let segment = &segments[number];
        let Leaves::Mixed(mixed) = &segment.leaves else {
            continue;
        };
        let Some(mut place) = mixed.place(index) else {
            continue;
        };
        let slot = new.slots.get(segment.first + index);
        let (kind, slot) = (mixed.entries[index].kind, *slot.ok_or(Unwritable)?);
        let mut digits = [0; 32];
        let lexical = lexical::form(kind, slot, new, &mut digits, escaped)?;
        patched.values += 1;
        if !fits(policy, place, lexical.len()) {
            is_moved = true;
            if text.len() + lexical.len() > u32::MAX as usize {
                // Places of mixed segments have 32 bits.
                patched.too_large = true;
                return Ok(());
            }
            let room = (lexical.len(), width(policy, place, lexical.len()));
            if take_room(text, segments, policy, (number, index), room)? {
                patched.stolen += 1;
            } else {
                patched.shifted += 1;
            }
            place = segments[number].place(index).ok_or(Unwritable)?;
        }
        let segment = &mut segments[number];
        stuff::place(&mut text[segment.start..], place, lexical);
        segment.resize(index, lexical.len(), place.width);
    }
    patched.too_large = is_moved && text.len() > policy.chunks.split;
    Ok(())
}
