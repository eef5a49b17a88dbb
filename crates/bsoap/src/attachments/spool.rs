//! Stores the attachments of a package while it arrives: short ones in memory, others in temporary files.
//!
//! ```text
//! bytes ─► package::Reader ─► parts in memory ── more than allowed, or the part has a file ──► its temporary file
//! ```
//!
//! Writing may block, so it is done on blocking threads, with many chunks at once.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use bsoap_codec::Attachment;
use bsoap_codec::attachment::Content;
use bsoap_http::{
    BodyReader, BodyRefusal, Bytes, Extensions, FinishedReading, ReadBody, Reading, StatusCode,
};
use bsoap_protocol::package::{Event, PartHead, Reader};
use bytes::BytesMut;

use super::disk::DiskCharge;
use super::received::{Received, refusal};
use super::{Attachments, disk};

/// Chunks of fewer bytes are copied: they may be small parts of a connection's buffer, all of which would stay in memory.
const MAX_COPIED_BYTES: usize = 16 << 10;

/// Copied chunks are collected in buffers of this many bytes.
const COPY_BUFFER: usize = 64 << 10;

/// This many bytes are written to a file at once.
const WRITE_STEP: u64 = 512 << 10;

/// The state of receiving one package.
pub(super) struct Spool {
    reader: Reader,
    options: Attachments,
    parts: Vec<Part>,
    /// The octets in memory of all parts.
    in_memory: u64,
}

/// An attachment that arrives.
struct Part {
    head: PartHead,
    chunks: Vec<Bytes>,
    /// Copied chunks, which follow the others.
    copied: BytesMut,
    /// The octets in memory.
    in_memory: u64,
    file: Option<PartFile>,
}

struct PartFile {
    file: File,
    length: u64,
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
        })
    }

    /// Takes the next bytes of the package. Nothing blocks.
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

    /// True if something should be written before more is fed.
    fn should_flush(&self) -> bool {
        self.in_memory > self.options.memory as u64
            && self
                .parts
                .last()
                .is_some_and(|part| part.file.is_none() || part.in_memory >= WRITE_STEP)
    }

    /// Writes what is to be in files. It blocks.
    pub(super) fn flush(&mut self) -> Result<(), BodyRefusal> {
        let is_too_much = self.in_memory > self.options.memory as u64;
        let last = self.parts.len().saturating_sub(1);
        for (index, part) in self.parts.iter_mut().enumerate() {
            let is_written = part.file.is_some() || is_too_much && index == last;
            if is_written && part.in_memory > 0 {
                self.in_memory -= part.in_memory;
                part.write(&self.options)?;
            }
        }
        Ok(())
    }

    /// The package, when all has been fed. It blocks.
    pub(super) fn finish(mut self) -> Result<Received, BodyRefusal> {
        self.reader.finish();
        self.take_events()?;
        self.flush()?;
        Ok(Received {
            package: self.reader.into_package().map_err(refusal)?,
            attachments: self.parts.into_iter().map(Part::into_attachment).collect(),
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
            file: None,
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

    /// Writes the octets in memory to the file.
    fn write(&mut self, options: &Attachments) -> Result<(), BodyRefusal> {
        if self.file.is_none() {
            let made = match &options.directory {
                Some(directory) => tempfile::tempfile_in(directory),
                None => tempfile::tempfile(),
            };
            self.file = Some(PartFile {
                file: made.map_err(unstored)?,
                length: 0,
                charge: options.disk.charge(),
            });
        }
        let Some(own) = &mut self.file else {
            return Ok(());
        };
        if !own.charge.add(self.in_memory) {
            return Err(full(&options.disk));
        }
        for chunk in self.chunks.drain(..) {
            own.file.write_all(&chunk).map_err(unstored)?;
        }
        own.file.write_all(&self.copied).map_err(unstored)?;
        self.copied.clear();
        own.length += std::mem::take(&mut self.in_memory);
        Ok(())
    }

    fn into_attachment(mut self) -> Attachment {
        let attachment = match self.file {
            Some(own) => Attachment::new(InTempFile {
                file: Arc::new(own.file),
                length: own.length,
                _charge: own.charge,
            }),
            None => {
                if !self.copied.is_empty() {
                    self.chunks.push(self.copied.freeze());
                }
                Attachment::new(Chunks(self.chunks))
            }
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

/// Octets in a temporary file. The file has no name, so that nothing of it is left even if the process is killed.
pub(super) struct InTempFile {
    file: Arc<File>,
    length: u64,
    _charge: DiskCharge,
}

impl Content for InTempFile {
    fn length(&self) -> Option<u64> {
        Some(self.length)
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        /// Each reader has an offset of its own.
        struct Reading {
            file: Arc<File>,
            offset: u64,
        }

        impl Read for Reading {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                #[cfg(unix)]
                let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.offset)?;
                #[cfg(windows)]
                let count =
                    std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.offset)?;
                self.offset += count as u64;
                Ok(count)
            }
        }

        Ok(Box::new(Reading {
            file: Arc::clone(&self.file),
            offset: 0,
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
    /// `None` only after an error, and while a thread writes.
    spool: Option<Spool>,
}

impl PackageReceiver {
    pub(crate) fn new(content_type: &str, options: &Attachments) -> Result<Self, BodyRefusal> {
        let spool = Some(Spool::new(content_type, options)?);
        Ok(Self { spool })
    }

    async fn take(&mut self, bytes: Bytes) -> Result<(), BodyRefusal> {
        let Some(spool) = &mut self.spool else {
            return Err(gone());
        };
        spool.feed(bytes)?;
        if !spool.should_flush() {
            return Ok(());
        }
        if let Some(mut spool) = self.spool.take() {
            let written = on_blocking_thread(move || spool.flush().map(|()| spool));
            self.spool = Some(written.await?);
        }
        Ok(())
    }
}

impl BodyReader for PackageReceiver {
    fn read(&mut self, bytes: Bytes) -> Reading<'_> {
        Box::pin(self.take(bytes))
    }

    fn memory(&self) -> u64 {
        let spool = self.spool.as_ref();
        spool.map_or(0, |spool| spool.in_memory + spool.reader.memory())
    }

    fn finish(mut self: Box<Self>) -> FinishedReading {
        Box::pin(async move {
            let spool = self.spool.take().ok_or_else(gone)?;
            let received = match spool.parts.iter().any(|part| part.file.is_some()) {
                true => on_blocking_thread(move || spool.finish()).await?,
                false => spool.finish()?,
            };
            let body = received.root().clone();
            let mut extensions = Extensions::new();
            extensions.insert(received);
            let mut read = ReadBody::from(body);
            read.extensions = extensions;
            Ok(read)
        })
    }
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BodyRefusal> + Send + 'static,
) -> Result<T, BodyRefusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(gone()))
}

/// The refusal of a package after an error, which was reported.
fn gone() -> BodyRefusal {
    unstored(io::Error::other("the thread that writes has ended"))
}
