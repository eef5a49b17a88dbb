//! Encoding piece by piece: the interpreter is stopped and resumed.

use crate::plan::program::{LeafRef, PadPlace, Program};
use crate::record::Record;

use super::control::Control;
use super::error::{Error, ErrorKind, Result as Written};
use super::interpreter::Interpreter;
use super::places::{Places, Stuffing};
use super::state::{self, EncoderFrame, Loop, Phase, Position, State};
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

// Exhaustive: a caller must handle each reason to go on.
/// Why a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has the size that was asked for.
    Size,
    /// It reached the State given as `until`.
    Until,
    /// The message is complete.
    End,
}

impl<'r> PieceEncoder<'r> {
    /// An encoder at the start of the message.
    pub fn new(record: &'r Record, options: EncodeOptions) -> Self {
        Self {
            record,
            options,
            state: State::start(),
            error: None,
        }
    }

    /// An encoder at a State whose slot and loops belong to this Record.
    ///
    /// # Errors
    /// [`ErrorKind::Mismatch`] if the State does not fit the Record.
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
            Err(encoder.error(ErrorKind::Mismatch, encoder.state.slot))
        }
    }

    /// The State at the end of the last piece.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The State at the end of the last piece.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Appends the next piece. It ends at the first possible place from `size` bytes on, or where its State has the slot of
    /// `until` and [agrees](State::agrees) with it, or at the end of the message.
    ///
    /// It cannot stop between a value and its end tag, nor inside a value or a list. (A buffer with space for `size` and
    /// 512 more bytes does not grow, unless there is a long value.) A piece is empty only if it ends at `until` or at the
    /// end of the message at once. Locations are counted from the start of the piece.
    ///
    /// # Errors
    /// As [`Encoder::encode`](super::Encoder::encode). The text of the piece is removed; locations may have been reported.
    /// Further calls give the same error.
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

    /// The error of an earlier call, if there was one.
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
        let control = PieceControl {
            stuffing,
            program: self.record.plan.program(),
            size: begin.saturating_add(size.max(1)),
            until,
            until_slot: until.map_or(usize::MAX, |until| until.slot),
            stop: Stop::End,
        };
        let depth = self.options.depth;
        let mut interpreter = Interpreter::new(self.record, out, control, places, depth);
        let state = std::mem::replace(&mut self.state, State::start());
        match piece(&mut interpreter, self.record, self.options, state) {
            Ok(phase) => {
                let stop = interpreter.control.stop;
                self.state = interpreter.into_state(phase);
                Ok(stop)
            }
            Err(kind) => {
                let slot = interpreter.at.saturating_sub(1);
                out.truncate(begin);
                let error = self.error(kind, slot);
                self.error = Some(error.clone());
                Err(error)
            }
        }
    }

    fn error(&self, kind: ErrorKind, slot: usize) -> Error {
        Error::new(kind, slot, crate::record::path::of_slot(self.record, slot))
    }

    /// Whether the State fits the Record: no index is out of bounds, and each loop has an occurrence left.
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
                EncoderFrame::Return(to) => is_instruction(*to),
                EncoderFrame::Repeat(the_loop) => is_left(the_loop),
            })
    }
}

/// Runs the interpreter from its State on. Returns where it stopped.
fn piece<S: Stuffing, P: Places>(
    interpreter: &mut Interpreter<'_, '_, PieceControl<'_, S>, P>,
    record: &Record,
    options: EncodeOptions,
    state: State,
) -> Written<Phase> {
    let phase = state.phase;
    let table = state.table_of(&record.plan);
    interpreter.restore(state);
    let pc = match phase {
        Phase::End => return Ok(Phase::End),
        Phase::Start => {
            if options.declaration {
                interpreter.out.extend_from_slice(DECLARATION);
            }
            interpreter.start(record.root)?
        }
        Phase::Before { pc } => Some(pc),
        Phase::Rows { pc, rows } => {
            let table = table.ok_or(ErrorKind::Mismatch)?;
            if let Some(rows) = interpreter.rows(pc, table, Some(rows))? {
                return Ok(Phase::Rows { pc, rows });
            }
            Some(pc + 1)
        }
    };
    if let Some(pc) = pc
        && let Some(stopped) = interpreter.run(pc)?
    {
        return Ok(stopped);
    }
    interpreter.end(record.root)?;
    Ok(Phase::End)
}

impl<C: Control, P: Places> Interpreter<'_, '_, C, P> {
    /// Sets the interpreter to a State that [fits](PieceEncoder::fits).
    fn restore(&mut self, state: State) {
        self.at = state.slot;
        let is_call = |frame: &&EncoderFrame| matches!(frame, EncoderFrame::Return(_));
        self.depth = state.frames.iter().filter(is_call).count();
        self.stack = state.frames.into();
        self.scope.restore(state.declared);
    }

    /// The State of the interpreter.
    fn into_state(self, phase: Phase) -> State {
        State {
            phase,
            slot: self.at,
            is_blind: state::is_blind(&self.stack, self.at),
            frames: self.stack.to_vec(),
            declared: self.scope.into_declared(),
        }
    }
}

/// Decides where a piece ends, and the widths of its values.
struct PieceControl<'a, S> {
    stuffing: &'a S,
    program: &'a Program,
    /// The length of the text from which on it stops.
    size: usize,
    /// The State at which it stops, at any size.
    until: Option<&'a State>,
    until_slot: usize,
    stop: Stop,
}

impl<S: Stuffing> Control for PieceControl<'_, S> {
    const STOPS: bool = true;
    const STUFFS: bool = S::STUFFS;

    #[inline(always)]
    fn limits(&self) -> (usize, usize) {
        (self.size, self.until_slot)
    }

    fn stops(&mut self, position: &Position<'_>) -> bool {
        // It does not stop between a value and its end tag.
        let last = position.pc.checked_sub(1);
        if !position.in_rows && last.is_some_and(|last| self.program.is_open_behind(last)) {
            return false;
        }
        if position.slot > self.until_slot {
            self.until_slot = usize::MAX;
        } else if self.until.is_some_and(|until| until.is_at(position)) {
            self.stop = Stop::Until;
            return true;
        }
        if position.length >= self.size {
            self.stop = Stop::Size;
            return true;
        }
        false
    }

    #[inline]
    fn width(&self, leaf: LeafRef, length: usize) -> (usize, Option<usize>) {
        let place = self.stuffing.place();
        // With a pad inside, the element of an empty value would not be empty, and a reader would not use its default.
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
    fn fixed_width(&self, leaf: LeafRef) -> Option<(usize, usize)> {
        let place = self.stuffing.place();
        let form = self.program.form(leaf)?;
        let (width, widest) = (self.stuffing.fixed_width(form)?, form.widest()?);
        let close = match place {
            PadPlace::AfterTag => form.close(),
            PadPlace::Inside => 0,
        };
        (form.may_pad(place) && width >= widest).then_some((width, close))
    }
}
