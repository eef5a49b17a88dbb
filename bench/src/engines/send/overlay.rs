//! Chunk overlaying: the text of an array is never in memory as a whole.

use std::sync::Arc;

use bsoap_codec::frame::Frame;
use bsoap_codec::{Record, View};
use bsoap_differential::send::{Layout, Overlay, Row};

use super::sender::Sender;
use crate::shape::{Mesh, Values};
use crate::wire::Wire;
use crate::workload::Workload;

/// Sends arrays as they are written.
pub(crate) struct Overlaid {
    frame: Frame,
    layout: Layout,
    messages: Vec<Rows>,
    next: usize,
}

/// The array of one message, as a program has it.
enum Rows {
    Doubles(Arc<Workload>),
    Of(Values),
}

impl Overlaid {
    /// Of the messages of a stream; `None` if they are no arrays of numbers.
    ///
    /// # Errors
    /// There is no array where it should be.
    pub(crate) fn new(work: &Arc<Workload>, layout: Layout) -> Result<Option<Self>, String> {
        let Some(record) = work.records.first() else {
            return Ok(None);
        };
        if !matches!(
            work.values,
            Values::Doubles(_) | Values::Ints(_) | Values::Mesh(_)
        ) {
            return Ok(None);
        }
        let messages = if work.messages.is_empty() {
            vec![Rows::Doubles(Arc::clone(work))]
        } else {
            let rows = work
                .records
                .iter()
                .map(|record| values(work, record).map(Rows::Of));
            rows.collect::<Option<_>>()
                .ok_or("the Record has no rows")?
        };
        let frame = Frame::around(record, &format!("{}.item", work.body_element()))
            .map_err(|error| error.to_string())?;
        Ok(Some(Self {
            frame,
            layout,
            messages,
            next: 0,
        }))
    }

    /// Hands each piece of the message on; before the first, the length if it is known.
    fn pieces<R: Row>(
        &self,
        rows: impl ExactSizeIterator<Item = R>,
        wire: &mut Wire,
    ) -> Result<(), String> {
        let mut overlay = Overlay::new(self.frame.clone(), self.layout);
        let is_known = self.layout == Layout::Stuffed;
        wire.begin(is_known.then(|| overlay.announce(rows.len() as u64)));
        for piece in overlay.pieces(rows) {
            wire.piece(&piece.map_err(|error| error.to_string())?)?;
        }
        wire.end()
    }
}

/// The values in a Record.
fn values(work: &Workload, record: &Record) -> Option<Values> {
    let body = View::of(record).child("Body")?.child(work.body_element())?;
    Some(match &work.values {
        Values::Doubles(_) => Values::Doubles(body.column::<f64>("item")?.to_vec()),
        Values::Ints(_) => Values::Ints(
            body.column::<i64>("item")?
                .iter()
                .map(|one| one as i32)
                .collect(),
        ),
        _ => {
            let rows = body.rows("item")?;
            let (x, y) = (rows.column::<i64>("x")?, rows.column::<i64>("y")?);
            let points = x
                .iter()
                .zip(y.iter())
                .zip(rows.column::<f64>("value")?.iter());
            let mesh = |((x, y), value)| Mesh {
                x: x as i32,
                y: y as i32,
                value,
            };
            Values::Mesh(points.map(mesh).collect())
        }
    })
}

impl Sender for Overlaid {
    /// Nothing is made ready: the first piece leaves before the second is written.
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        self.next = message;
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        let values = match &self.messages[self.next] {
            Rows::Doubles(work) => &work.values,
            Rows::Of(values) => values,
        };
        match values {
            Values::Doubles(all) => self.pieces(all.iter(), wire),
            Values::Ints(all) => self.pieces(all.iter(), wire),
            Values::Mesh(all) => self.pieces(all.iter().map(|one| (one.x, one.y, one.value)), wire),
            _ => Ok(()),
        }
    }
}
