//! Record → text, piece by piece: the machine, stopped and resumed.

use crate::record::Record;

use super::error::{Error, ErrorKind};
use super::leaf::LeafRef;
use super::machine::{self, Machine};
use super::places::{CellPlace, PadPlace, Places, Rows, Stuffing};
use super::program::{Program, Span, Table};
use super::state::{self, Frame, Loop, Phase, State};
use super::watch::{Standing, Watch};
use super::{DECLARATION, EncodeOptions};

/// Writes a Record piece by piece. The pieces joined are what [`Encoder`](super::Encoder) writes at once.
///
/// ```
/// use bsoap_codec::Record;
/// use bsoap_codec::encode::{EncodeOptions, Error, PieceEncoder, State, Stop};
///
/// /// Pieces of 8 KB, each with the State from which it can be made again.
/// fn pieces(record: &Record) -> Result<Vec<(State, Vec<u8>)>, Error> {
///     let mut encoder = PieceEncoder::new(record, EncodeOptions::default());
///     let mut pieces = Vec::new();
///     loop {
///         let (state, mut text) = (encoder.state().clone(), Vec::new());
///         let stop = encoder.run(&mut text, 8192, None, &(), &mut ())?;
///         pieces.push((state, text));
///         if stop == Stop::End {
///             return Ok(pieces);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct PieceEncoder<'r> {
    record: &'r Record,
    options: EncodeOptions,
    state: State,
    error: Option<Error>,
}

/// Why a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has the size asked for.
    Size,
    /// It ends where it was to end.
    Until,
    /// The message is at its end.
    End,
}

impl<'r> PieceEncoder<'r> {
    /// Begins with the first byte.
    pub fn new(record: &'r Record, options: EncodeOptions) -> Self {
        Self {
            record,
            options,
            state: State::start(),
            error: None,
        }
    }

    /// Goes on from a State, whose slot and loops are those of this Record.
    ///
    /// # Errors
    /// [`ErrorKind::Misfit`] if the Record cannot be there.
    pub fn resume(record: &'r Record, state: State, options: EncodeOptions) -> Result<Self, Error> {
        let encoder = Self {
            record,
            options,
            state,
            error: None,
        };
        if encoder.fits() {
            Ok(encoder)
        } else {
            Err(encoder.error(ErrorKind::Misfit, encoder.state.slot))
        }
    }

    /// Where it stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Where it stands.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Appends the next piece: up to the first place from `size` bytes on where it can stop, or to where it stands as
    /// `until` says (same slot, and [agrees](State::agrees)), or to the end.
    ///
    /// It cannot stop between a value and its end tag, nor inside a value or a list. (A buffer with room for 512
    /// bytes more than `size` does not grow, unless there is a long value.) A piece is not empty, but for one that ends at
    /// `until` or at the end at once. Places are counted from the start of the piece.
    ///
    /// # Errors
    /// As [`Encoder::encode`](super::Encoder::encode). What was written of the piece is taken back; places have been told
    /// all the same. The encoder cannot go on: further calls give the same error.
    pub fn run<S: Stuffing, P: Places>(
        &mut self,
        out: &mut Vec<u8>,
        size: usize,
        until: Option<&State>,
        stuffing: &S,
        places: &mut P,
    ) -> Result<Stop, Error> {
        let until = match until {
            Some(until) if until.slot == self.state.slot && until.agrees(&self.state) => {
                return self.check().map(|()| Stop::Until);
            }
            Some(until) if !until.is_start() && !until.is_end() => Some(until),
            _ => None,
        };
        self.write(out, size, until, stuffing, places)
    }

    /// Whether it can go on.
    fn check(&self) -> Result<(), Error> {
        self.error.clone().map_or(Ok(()), Err)
    }

    fn write<S: Stuffing, P: Places>(
        &mut self,
        out: &mut Vec<u8>,
        size: usize,
        until: Option<&State>,
        stuffing: &S,
        places: &mut P,
    ) -> Result<Stop, Error> {
        self.check()?;
        if self.state.is_end() {
            return Ok(Stop::End);
        }
        let begin = out.len();
        let program = self.record.plan.program();
        let watch = PieceWatch {
            size: begin.saturating_add(size.max(1)),
            until,
            until_slot: until.map_or(usize::MAX, |until| until.slot),
            ..PieceWatch::new(program, stuffing, places)
        };
        let mut machine = Machine::new(self.record, program, out, begin, watch, self.options.depth);
        let state = std::mem::replace(&mut self.state, State::start());
        match piece(&mut machine, self.record, self.options, state) {
            Ok(phase) => {
                let stop = machine.places.stop;
                self.state = machine.into_state(phase);
                Ok(stop)
            }
            Err(kind) => {
                let slot = machine.at.saturating_sub(1);
                out.truncate(begin);
                let error = self.error(kind, slot);
                self.error = Some(error.clone());
                Err(error)
            }
        }
    }

    fn error(&self, kind: ErrorKind, slot: usize) -> Error {
        Error::new(kind, slot, crate::path::of_slot(self.record, slot))
    }

    /// Whether the Record can be where the State says: no index is out of bounds, every loop has an occurrence left.
    fn fits(&self) -> bool {
        let (record, state) = (self.record, &self.state);
        let ops = record.plan.program().ops.len();
        let is_instruction = |pc: u32| (pc as usize) < ops;
        let is_left = |the_loop: &Loop| {
            let count = record.slots.get(the_loop.count);
            the_loop.count < state.slot && count.is_some_and(|&count| the_loop.done < count)
        };
        let phase_fits = match state.phase {
            Phase::Start => state.slot == 0 && state.frames.is_empty(),
            Phase::End => state.slot == record.slots.len() && state.frames.is_empty(),
            Phase::Before { pc } => is_instruction(pc),
            Phase::Rows { rows, .. } => {
                let table = state.table_of(&record.plan);
                table.is_some() && rows.done > 0 && is_left(&rows)
            }
        };
        phase_fits
            && state.slot <= record.slots.len()
            && state.frames.iter().all(|frame| match frame {
                Frame::Return(to) => is_instruction(*to),
                Frame::Repeat(the_loop) => is_left(the_loop),
            })
    }
}

/// Runs the machine from a State on. Returns how far it has come.
fn piece<S: Stuffing, P: Places>(
    machine: &mut Machine<'_, '_, PieceWatch<'_, S, P>>,
    record: &Record,
    options: EncodeOptions,
    state: State,
) -> machine::Result<Phase> {
    let phase = state.phase;
    let table = state.table_of(&record.plan);
    machine.restore(state);
    let pc = match phase {
        Phase::End => return Ok(Phase::End),
        Phase::Start => {
            if options.declaration {
                machine.out.extend_from_slice(DECLARATION);
            }
            machine.start(record.root)?
        }
        Phase::Before { pc } => Some(pc),
        Phase::Rows { pc, rows } => {
            let (_, table) = table.ok_or(ErrorKind::Misfit)?;
            if let Some(rows) = machine.rows_in_pieces(pc, table, Some(rows))? {
                return Ok(Phase::Rows { pc, rows });
            }
            Some(pc + 1)
        }
    };
    if let Some(pc) = pc
        && let Some(stopped) = machine.run(pc)?
    {
        return Ok(stopped);
    }
    machine.end(record.root)?;
    Ok(Phase::End)
}

impl<P: Watch> Machine<'_, '_, P> {
    /// Whether to stop before the instruction at `pc`.
    #[inline(always)]
    pub(super) fn is_to_stop(&mut self, pc: u32) -> bool {
        let (length, slot) = self.places.limits();
        (self.out.len() >= length || self.at >= slot) && self.asks(pc, false)
    }

    /// Asks whether to stop before the instruction at `pc`, or between its rows.
    #[cold]
    pub(super) fn asks(&mut self, pc: u32, in_rows: bool) -> bool {
        self.places.stops(&Standing {
            pc,
            in_rows,
            slot: self.at,
            length: self.out.len(),
            stack: &self.stack,
            declared: self.scope.declared(),
        })
    }

    /// Writes the pad of the value written last, as far as it stands inside its element.
    pub(super) fn pad(&mut self) {
        let length = self.out.len() + self.places.pad();
        self.out.resize(length, b' ');
    }

    /// Writes a literal that begins with an end tag, behind which stands a pad.
    pub(super) fn padded_literal(&mut self, span: Span, (close, pad): (usize, usize)) {
        let bytes = self.program.literal(span);
        let (close, rest) = bytes.split_at(close.min(bytes.len()));
        self.out.extend_from_slice(close);
        self.out.resize(self.out.len() + pad, b' ');
        self.out.extend_from_slice(rest);
    }
}

impl<S: Stuffing, P: Places> Machine<'_, '_, PieceWatch<'_, S, P>> {
    /// Goes where a State says that [fits](PieceEncoder::fits).
    fn restore(&mut self, state: State) {
        self.at = state.slot;
        for frame in state.frames {
            self.stack.push(match frame {
                Frame::Return(to) => {
                    self.depth += 1;
                    machine::Frame::Return(to)
                }
                Frame::Repeat(Loop { count, done }) => {
                    self.places.counts.push(count);
                    let all = self.slots.get(count).copied().unwrap_or_default();
                    machine::Frame::Repeat(all.saturating_sub(done))
                }
            });
        }
        self.scope.restore(state.declared);
    }

    /// Where it stands.
    fn into_state(self, phase: Phase) -> State {
        let mut counts = self.places.counts.iter().copied();
        let frames = self.stack.iter().map(|frame| match *frame {
            machine::Frame::Return(to) => Frame::Return(to),
            machine::Frame::Repeat(left) => {
                let count = counts.next().unwrap_or_default();
                let all = self.slots.get(count).copied().unwrap_or_default();
                let done = all.saturating_sub(left);
                Frame::Repeat(Loop { count, done })
            }
        });
        let frames: Vec<Frame> = frames.collect();
        State {
            phase,
            slot: self.at,
            is_blind: state::is_blind(&frames, self.at),
            frames,
            declared: self.scope.into_declared(),
        }
    }
}

/// What the machine asks and tells when it writes a piece.
pub(super) struct PieceWatch<'a, S, P> {
    places: &'a mut P,
    stuffing: &'a S,
    program: &'a Program,
    /// The length of the text from which on to stop.
    size: usize,
    /// Where to stop, whatever the size.
    until: Option<&'a State>,
    until_slot: usize,
    /// The instruction that was begun last.
    pc: u32,
    /// The pad of the value told last: inside its element, or behind an end tag of so many bytes.
    pads: Pads,
    /// The count slots of the loops on the machine's stack.
    counts: Vec<usize>,
    stop: Stop,
}

#[derive(Default)]
struct Pads {
    inside: usize,
    behind: Option<(usize, usize)>,
}

impl<'a, S: Stuffing, P: Places> PieceWatch<'a, S, P> {
    /// One that does not stop.
    pub(super) fn new(program: &'a Program, stuffing: &'a S, places: &'a mut P) -> Self {
        Self {
            places,
            stuffing,
            program,
            size: usize::MAX,
            until: None,
            until_slot: usize::MAX,
            pc: u32::MAX,
            pads: Pads::default(),
            counts: Vec::new(),
            stop: Stop::End,
        }
    }

    /// The room of a value, and whether its pad stands behind the end tag of so many bytes.
    #[inline]
    fn room_of(&self, leaf: LeafRef, length: usize) -> (usize, Option<usize>) {
        let place = self.stuffing.place();
        // With a pad inside, the element of an empty value would not be empty: a default would not be taken for it.
        let is_empty_inside = length == 0 && place == PadPlace::Inside;
        match self.program.form(leaf) {
            Some(form) if form.may_pad(place) && !is_empty_inside => {
                let width = self.stuffing.width(form, length).max(length);
                let close = (place == PadPlace::AfterTag).then(|| form.close());
                (width, close)
            }
            _ => (length, None),
        }
    }
}

impl<S: Stuffing, P: Places> Watch for PieceWatch<'_, S, P> {
    const STOPS: bool = true;
    const STUFFS: bool = S::STUFFS;

    #[inline(always)]
    fn place(&mut self, slot: usize, offset: u64, length: usize) {
        if !P::LISTENS && !S::STUFFS {
            return;
        }
        let Some(leaf) = self.program.leaf_of(self.pc) else {
            // A QName.
            return self.places.hidden(slot);
        };
        let mut width = length;
        if S::STUFFS {
            let close;
            (width, close) = self.room_of(leaf, length);
            let pad = width - length;
            match close {
                _ if pad == 0 => {}
                Some(close) => self.pads.behind = Some((close, pad)),
                None => self.pads.inside = pad,
            }
        }
        if P::LISTENS {
            self.places
                .value(slot, offset as usize, length, width, leaf);
        }
    }

    #[inline(always)]
    fn hidden(&mut self, slot: usize) {
        if P::LISTENS {
            self.places.hidden(slot);
        }
    }

    #[inline(always)]
    fn instruction(&mut self, pc: u32) {
        self.pc = pc;
    }

    #[inline(always)]
    fn limits(&self) -> (usize, usize) {
        (self.size, self.until_slot)
    }

    fn stops(&mut self, standing: &Standing<'_>) -> bool {
        // Not between a value and its end tag.
        if self.program.is_open_behind(self.pc) && standing.pc == self.pc + 1 {
            return false;
        }
        if standing.slot > self.until_slot {
            self.until_slot = usize::MAX;
        } else if self.until.is_some_and(|until| until.is_at(standing)) {
            self.stop = Stop::Until;
            return true;
        }
        if standing.length >= self.size {
            self.stop = Stop::Size;
            return true;
        }
        false
    }

    #[inline(always)]
    fn begin_loop(&mut self, count: usize) {
        self.counts.push(count);
    }

    #[inline(always)]
    fn end_loop(&mut self) {
        self.counts.pop();
    }

    #[inline(always)]
    fn pad(&mut self) -> usize {
        std::mem::take(&mut self.pads.inside)
    }

    #[inline(always)]
    fn take_pad_behind(&mut self) -> Option<(usize, usize)> {
        self.pads.behind.take()
    }

    #[inline(always)]
    fn room(&self, leaf: LeafRef, length: usize) -> (usize, Option<usize>) {
        self.room_of(leaf, length)
    }

    #[inline(always)]
    fn rows(&mut self, table: &Table, slot: usize, offset: usize, places: &[CellPlace]) {
        if P::LISTENS {
            self.places.rows(Rows {
                slot,
                leaf: table.leaf,
                cells: table.cells.len(),
                offset,
                places,
            });
        }
    }
}
