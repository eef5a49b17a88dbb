//! Arrays that are encoded while they are sent, so that they are never in memory as a whole.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bsoap_codec::Record;
use bsoap_codec::frame::Frame;
use bsoap_differential::send::{Layout, Offer, Overlay, OverlayError, Piece, Row};
use bsoap_http::{AnyError, Body, BodySource, Bytes};
use futures_core::Stream;

use crate::Error;

/// The rows of an array, produced while the message is sent. A row is a number, or a tuple of numbers if the array's
/// elements are flat structs. The memory used is that of a few chunks and does not depend on the number of rows.
///
/// ```
/// use bsoap::Streamed;
///
/// let squares = (0..10_000_000).map(|number: i64| (number * number) as f64);
/// let streamed = Streamed::new("values.item", squares);
/// ```
///
/// The message is sent with `Transfer-Encoding: chunked`, unless the number of rows is known: see
/// [`exactly`](Self::exactly) and [`at_most`](Self::at_most).
pub struct Streamed {
    path: String,
    layout: Layout,
    rows: Option<u64>,
    make: Make,
}

type Make = Box<dyn FnOnce(Overlay) -> Result<Box<dyn BodySource>, OverlayError> + Send>;

impl Streamed {
    /// Takes the rows from an iterator. `path` has the names of the elements that lead to the repeating element, separated
    /// by dots; the first names may be left out. The elements around the array must be in the message. Rows in the message
    /// are ignored.
    pub fn new<I>(path: impl Into<String>, rows: I) -> Self
    where
        I: IntoIterator<Item: Row, IntoIter: Send + 'static>,
    {
        let mut rows = rows.into_iter();
        Self::of(path.into(), move |_| {
            rows.next().map_or(Offer::End, Offer::Row)
        })
    }

    /// Takes the rows from an asynchronous stream. Available rows are sent while the stream waits for more.
    pub fn from_stream<S>(path: impl Into<String>, rows: S) -> Self
    where
        S: Stream<Item: Row> + Send + 'static,
    {
        let mut rows = Box::pin(rows);
        Self::of(path.into(), move |context| {
            match Pin::new(&mut rows).poll_next(context) {
                Poll::Ready(Some(row)) => Offer::Row(row),
                Poll::Ready(None) => Offer::End,
                Poll::Pending => Offer::Later,
            }
        })
    }

    fn of<R, F>(path: String, next: F) -> Self
    where
        R: Row,
        F: FnMut(&mut Context<'_>) -> Offer<R> + Send + 'static,
    {
        let make = move |overlay: Overlay| -> Result<Box<dyn BodySource>, OverlayError> {
            overlay.check::<R>()?;
            Ok(Box::new(RowSource { overlay, next }))
        };
        Self {
            path,
            layout: Layout::Plain,
            rows: None,
            make: Box::new(make),
        }
    }

    /// Declares that there are exactly `rows` rows. Each is padded to the maximum length of a row, so that the message has a
    /// `Content-Length`.
    #[must_use]
    pub fn exactly(mut self, rows: u64) -> Self {
        self.layout = Layout::Stuffed;
        self.rows = Some(rows);
        self
    }

    /// Declares that there are at most `rows` rows. The `Content-Length` of the message is that of the longest possible
    /// message; a shorter one is padded with white space at its end.
    #[must_use]
    pub fn at_most(mut self, rows: u64) -> Self {
        self.layout = Layout::Plain;
        self.rows = Some(rows);
        self
    }

    /// The message as a body.
    pub(crate) fn body(self, record: &Record) -> Result<Body, Error> {
        let frame = Frame::around(record, &self.path).map_err(|error| Error::Type(error.into()))?;
        let mut overlay = Overlay::new(frame, self.layout);
        let length = self.rows.map(|rows| overlay.announce(rows));
        let source = (self.make)(overlay).map_err(|error| Error::Type(error.into()))?;
        Ok(Body::from_source(source, length))
    }
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// A chunk overlay, and the source of its rows.
struct RowSource<F> {
    overlay: Overlay,
    next: F,
}

impl<R, F> BodySource for RowSource<F>
where
    R: Row,
    F: FnMut(&mut Context<'_>) -> Offer<R> + Send,
{
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        match self.overlay.next(|| (self.next)(context)) {
            Ok(Piece::Text(text)) => Poll::Ready(Some(Ok(text))),
            Ok(Piece::Later) => Poll::Pending,
            Ok(Piece::End) => Poll::Ready(None),
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}
