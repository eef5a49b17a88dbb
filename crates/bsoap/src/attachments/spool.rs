//! Stores the attachments of a package while it arrives: short ones in memory, others in temporary files.
//!
//! ```text
//! bytes ─► package::Reader ─► parts in memory ── more than allowed, or the part is in the file ──► a temporary file
//! ```
//!
//! Writing may block, so it is done on blocking threads, with many chunks at once, while the next ones arrive. The parts of a package
//! arrive one after the other, so one file has them all, each in one piece.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::Attachment;
use bsoap_codec::attachment::Content;
use bsoap_http::{
    BodyReader, BodyRefusal, Bytes, Extensions, FinishedReading, ReadBody, Reading, StatusCode,
};
use bsoap_protocol::package::{Event, PartHead, Reader};
use bytes::BytesMut;
use tokio::task::JoinHandle;

use super::disk::DiskCharge;
use super::received::{Received, refusal};
use super::{Attachments, disk};

/// Chunks of fewer bytes are copied: they may be small parts of a connection's buffer, all of which would stay in memory.
const MAX_COPIED_BYTES: usize = 16 << 10;

/// Copied chunks are collected in buffers of this many bytes.
const COPY_BUFFER: usize = 64 << 10;

/// At most this many bytes are written to a file at once, of a part that has begun to be in it.
const WRITE_STEP: u64 = 512 << 10;

/// The state of receiving one package. Nothing in it blocks: others write what is for the file.
pub(super) struct Spool {
    reader: Reader,
    options: Attachments,
    parts: Vec<Part>,
    /// The octets in memory of all parts.
    in_memory: u64,
    /// The octets that were given out for the file.
    in_file: u64,
}

/// An attachment that arrives.
struct Part {
    head: PartHead,
    chunks: Vec<Bytes>,
    /// Copied chunks, which follow the others.
    copied: BytesMut,
    /// The octets in memory.
    in_memory: u64,
    /// Where the others are in the file; `None` if all are in memory.
    in_file: Option<Range<u64>>,
}

/// A file with parts of a package. It has no name, so that nothing of it is left even if the process is killed.
pub(super) struct PartFile {
    file: File,
    charge: DiskCharge,
}

impl Spool {
    pub(super) fn new(content_type: &str, options: &Attachments) -> Result<Self, BodyRefusal> {
        if !options.are_accepted {
            return Err(BodyRefusal {
                status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
                reason: "messages with attachments (multipart/related) are not accepted here: send the message alone".into(),
            });
        }
        Ok(Self {
            reader: Reader::new(content_type, options.limits).map_err(refusal)?,
            options: options.clone(),
            parts: Vec::new(),
            in_memory: 0,
            in_file: 0,
        })
    }

    /// Takes the next bytes of the package.
    pub(super) fn feed(&mut self, bytes: Bytes) -> Result<(), BodyRefusal> {
        self.reader.feed(bytes).map_err(refusal)?;
        self.take_events()
    }

    fn take_events(&mut self) -> Result<(), BodyRefusal> {
        while let Some(event) = self.reader.next().map_err(refusal)? {
            match event {
                Event::Attachment(head) => self.parts.push(Part::new(head)),
                Event::Octets(octets) => {
                    let Some(part) = self.parts.last_mut() else {
                        continue;
                    };
                    self.in_memory += octets.len() as u64;
                    part.push(octets);
                }
                Event::EndOfAttachment => {}
            }
        }
        Ok(())
    }

    /// How many octets may be in memory.
    fn allowed(&self) -> u64 {
        self.options.memory as u64
    }

    /// How many octets of a part are written at once. With the chunk that exceeds it, half of what is allowed: the other half
    /// arrives meanwhile.
    fn step(&self) -> u64 {
        WRITE_STEP.min(self.allowed() / 4)
    }

    /// True if something should be written.
    fn should_flush(&self) -> bool {
        self.parts.last().is_some_and(|part| match part.in_file {
            Some(_) => part.in_memory > self.step(),
            None => self.in_memory > self.allowed(),
        })
    }

    /// Gives out what is to be written behind what the file has.
    pub(super) fn for_file(&mut self) -> Vec<Bytes> {
        let is_too_much = self.in_memory > self.allowed();
        let last = self.parts.len().saturating_sub(1);
        let mut chunks = Vec::new();
        for (index, part) in self.parts.iter_mut().enumerate() {
            let is_written = part.in_file.is_some() || is_too_much && index == last;
            if is_written && part.in_memory > 0 {
                let from = self.in_file;
                self.in_file += part.in_memory;
                self.in_memory -= part.in_memory;
                // What was written before is right in front of it.
                part.in_file.get_or_insert(from..from).end = self.in_file;
                chunks.append(&mut part.take());
            }
        }
        chunks
    }

    /// Ends the package: nothing more will be fed.
    pub(super) fn end(&mut self) -> Result<(), BodyRefusal> {
        self.reader.finish();
        self.take_events()
    }

    /// The package, after its end, and the file with all that was given out for it.
    pub(super) fn into_received(self, file: Option<PartFile>) -> Result<Received, BodyRefusal> {
        let file = file.map(Arc::new);
        let parts = self.parts.into_iter();
        Ok(Received {
            package: self.reader.into_package().map_err(refusal)?,
            attachments: parts
                .map(|part| part.into_attachment(file.as_ref()))
                .collect(),
        })
    }
}

impl Part {
    fn new(head: PartHead) -> Self {
        Self {
            head,
            chunks: Vec::new(),
            copied: BytesMut::new(),
            in_memory: 0,
            in_file: None,
        }
    }

    fn push(&mut self, octets: Bytes) {
        self.in_memory += octets.len() as u64;
        if octets.len() < MAX_COPIED_BYTES {
            self.copied.extend_from_slice(&octets);
            if self.copied.len() < COPY_BUFFER {
                return;
            }
        }
        if !self.copied.is_empty() {
            self.chunks.push(self.copied.split().freeze());
        }
        if octets.len() >= MAX_COPIED_BYTES {
            self.chunks.push(octets);
        }
    }

    /// Takes the octets in memory.
    fn take(&mut self) -> Vec<Bytes> {
        self.in_memory = 0;
        let mut chunks = std::mem::take(&mut self.chunks);
        if !self.copied.is_empty() {
            chunks.push(self.copied.split().freeze());
        }
        chunks
    }

    fn into_attachment(mut self, file: Option<&Arc<PartFile>>) -> Attachment {
        let chunks = self.take();
        let attachment = match (self.in_file, file) {
            (Some(range), Some(file)) => Attachment::new(InTempFile {
                file: Arc::clone(file),
                range,
            }),
            _ => Attachment::new(Chunks(chunks)),
        };
        let PartHead {
            content_id,
            content_type,
            ..
        } = self.head;
        let attachment = match content_id {
            Some(id) => attachment.with_content_id(id),
            None => attachment,
        };
        match content_type {
            Some(content_type) => attachment.with_media_type(content_type),
            None => attachment,
        }
    }
}

/// Octets in memory, in the chunks in which they arrived.
pub(super) struct Chunks(pub(super) Vec<Bytes>);

impl Content for Chunks {
    fn length(&self) -> Option<u64> {
        Some(self.0.iter().map(|chunk| chunk.len() as u64).sum())
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        struct Reading(std::vec::IntoIter<Bytes>, Bytes);

        impl Read for Reading {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                while self.1.is_empty() {
                    match self.0.next() {
                        Some(chunk) => self.1 = chunk,
                        None => return Ok(0),
                    }
                }
                let count = self.1.len().min(buffer.len());
                buffer[..count].copy_from_slice(&self.1.split_to(count));
                Ok(count)
            }
        }

        Ok(Box::new(Reading(self.0.clone().into_iter(), Bytes::new())))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        match &self.0[..] {
            [] => Some(&[]),
            [chunk] => Some(chunk),
            _ => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PartFile {
    fn new(options: &Attachments) -> Result<Self, BodyRefusal> {
        let made = match &options.directory {
            Some(directory) => tempfile::tempfile_in(directory),
            None => tempfile::tempfile(),
        };
        Ok(Self {
            file: made.map_err(unstored)?,
            charge: options.disk.charge(),
        })
    }

    /// Writes octets to the end of a file, or of a new one. It blocks.
    pub(super) fn append(
        file: Option<Self>,
        chunks: Vec<Bytes>,
        options: &Attachments,
    ) -> Result<Option<Self>, BodyRefusal> {
        if chunks.is_empty() {
            return Ok(file);
        }
        let mut file = match file {
            Some(file) => file,
            None => Self::new(options)?,
        };
        for chunk in chunks {
            if !file.charge.add(chunk.len() as u64) {
                return Err(full(file.charge.budget()));
            }
            file.file.write_all(&chunk).map_err(unstored)?;
        }
        Ok(Some(file))
    }
}

/// Octets in a temporary file, which is deleted with the last attachment in it.
pub(super) struct InTempFile {
    file: Arc<PartFile>,
    range: Range<u64>,
}

impl Content for InTempFile {
    fn length(&self) -> Option<u64> {
        Some(self.range.end - self.range.start)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.open_at(0)
    }

    fn open_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        /// Each reader has an offset of its own.
        struct Reading {
            file: Arc<PartFile>,
            left: Range<u64>,
        }

        impl Read for Reading {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let left = self.left.end - self.left.start;
                let most =
                    usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
                let buffer = &mut buffer[..most];
                let file = &self.file.file;
                #[cfg(unix)]
                let count = std::os::unix::fs::FileExt::read_at(file, buffer, self.left.start)?;
                #[cfg(windows)]
                let count =
                    std::os::windows::fs::FileExt::seek_read(file, buffer, self.left.start)?;
                self.left.start += count as u64;
                Ok(count)
            }
        }

        let start = self.range.start.saturating_add(offset).min(self.range.end);
        Ok(Box::new(Reading {
            file: Arc::clone(&self.file),
            left: start..self.range.end,
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The refusal of an attachment that could not be written. The reason is logged, but not shown to the peer.
fn unstored(error: io::Error) -> BodyRefusal {
    tracing::error!(%error, "an attachment cannot be written to a temporary file");
    BodyRefusal {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        reason: "an attachment cannot be stored".into(),
    }
}

fn full(budget: &disk::DiskBudget) -> BodyRefusal {
    BodyRefusal {
        status: StatusCode::SERVICE_UNAVAILABLE,
        reason: format!(
            "the attachments in work use the {} bytes of temporary files that they may have (disk): try again later",
            budget.limit()
        ),
    }
}

/// Receives a package as the body of an HTTP message.
pub(crate) struct PackageReceiver {
    spool: Spool,
    file: Writing,
}

/// The file of a package.
enum Writing {
    /// Nothing is being written.
    Idle(Option<PartFile>),
    /// A thread writes this number of octets.
    Busy(u64, JoinHandle<Result<Option<PartFile>, BodyRefusal>>),
    /// It could not be written.
    Lost,
}

impl PackageReceiver {
    pub(crate) fn new(content_type: &str, options: &Attachments) -> Result<Self, BodyRefusal> {
        Ok(Self {
            spool: Spool::new(content_type, options)?,
            file: Writing::Idle(None),
        })
    }

    async fn take(&mut self, bytes: Bytes) -> Result<(), BodyRefusal> {
        self.spool.feed(bytes)?;
        if !self.spool.should_flush() {
            return Ok(());
        }
        self.write().await?;
        // What arrives while it is written needs the other half.
        if self.being_written() > self.spool.allowed() / 2 {
            self.written().await?;
        }
        Ok(())
    }

    /// The octets that a thread has in memory.
    fn being_written(&self) -> u64 {
        match &self.file {
            Writing::Busy(octets, task) if !task.is_finished() => *octets,
            _ => 0,
        }
    }

    /// Begins to write what is for the file, when all before is written.
    async fn write(&mut self) -> Result<(), BodyRefusal> {
        let file = self.written().await?.take();
        let (before, options) = (self.spool.in_file, self.spool.options.clone());
        let chunks = self.spool.for_file();
        let octets = self.spool.in_file - before;
        self.file = match octets {
            0 => Writing::Idle(file),
            _ => {
                let write = move || PartFile::append(file, chunks, &options);
                Writing::Busy(octets, tokio::task::spawn_blocking(write))
            }
        };
        Ok(())
    }

    /// Waits until nothing is being written. Returns the file.
    async fn written(&mut self) -> Result<&mut Option<PartFile>, BodyRefusal> {
        if let Writing::Busy(_, task) = &mut self.file {
            let written = task.await.unwrap_or_else(|_| Err(gone()));
            self.file = Writing::Lost;
            self.file = Writing::Idle(written?);
        }
        match &mut self.file {
            Writing::Idle(file) => Ok(file),
            Writing::Busy(..) | Writing::Lost => Err(gone()),
        }
    }

    async fn received(mut self) -> Result<Received, BodyRefusal> {
        self.spool.end()?;
        self.write().await?;
        let file = self.written().await?.take();
        self.spool.into_received(file)
    }
}

impl BodyReader for PackageReceiver {
    fn read(&mut self, bytes: Bytes) -> Reading<'_> {
        Box::pin(self.take(bytes))
    }

    fn memory(&self) -> u64 {
        self.spool.in_memory + self.being_written() + self.spool.reader.memory()
    }

    fn finish(self: Box<Self>) -> FinishedReading {
        Box::pin(async move {
            let received = self.received().await?;
            let body = received.root().clone();
            let mut extensions = Extensions::new();
            extensions.insert(received);
            let mut read = ReadBody::from(body);
            read.extensions = extensions;
            Ok(read)
        })
    }
}

/// The refusal of a package whose file is lost.
fn gone() -> BodyRefusal {
    unstored(io::Error::other("the thread that writes has ended"))
}
