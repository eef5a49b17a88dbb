//! Compresses a message with gzip, chunk by chunk: chunks of the previous message are not compressed again.
//!
//! ```text
//! chunk           kept                                    sent
//! A (as before)   deflate(A), crc(A)                      header · deflate(A) · deflate(B′) · deflate(C) · end
//! B → B′          –                  compressed now                                  end = empty last block,
//! C (as before)   deflate(C), crc(C)                                                 crc(A)+crc(B′)+crc(C), length
//! ```
//!
//! Each chunk is a raw deflate stream of its own that ends on a byte boundary (an empty stored block, RFC 1951 §3.2.4)
//! and refers to nothing before it, so streams can be concatenated. The CRC-32 of a concatenation follows from those of its
//! parts. (RFC 1952 §2.3.1)
//!
//! A chunk is identified by its address. Its compressed form is kept together with the [`Bytes`] it was made of, and shared
//! bytes never change: a template that patches a shared chunk patches a copy, which has another address.

use std::collections::HashMap;
use std::fmt;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::cache::ByteCount;

/// The gzip header: no name, no time stamp, fastest algorithm, unknown system.
const HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// An empty last block with fixed codes.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// The compressed chunks of the previous message.
///
/// ```
/// use bsoap_differential::send::GzipCache;
/// use bytes::Bytes;
///
/// let (head, mut tail) = (Bytes::from("<a>".repeat(1000)), Bytes::from("</a>".repeat(1000)));
/// let mut cache = GzipCache::default();
/// assert_eq!(cache.compress(&[head.clone(), tail]).compressed, 7000);
///
/// tail = Bytes::from("</a> ".repeat(1000));
/// assert_eq!(cache.compress(&[head, tail]).compressed, 5000);
/// ```
#[derive(Default)]
pub struct GzipCache {
    chunks: HashMap<Address, CompressedChunk>,
    /// Where its bytes are counted, since messages are compressed after their template has been checked in.
    account: ByteCount,
    /// The bytes that it has added to the account.
    charged: usize,
}

/// The address and length of bytes. As long as the bytes are held, no others have the same.
type Address = (usize, usize);

struct CompressedChunk {
    /// Holds the bytes, so that their address is not used again.
    text: Bytes,
    deflated: Bytes,
    crc: Crc,
}

/// A gzip stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GzipStream {
    /// The bytes of the stream, in order.
    pub chunks: Vec<Bytes>,
    /// The number of bytes of the text that were compressed now; the others were cached.
    pub compressed: u64,
}

impl GzipCache {
    /// An empty cache whose bytes are counted in `account`.
    pub(super) fn of(account: &ByteCount) -> Self {
        Self {
            chunks: HashMap::new(),
            account: account.clone(),
            charged: 0,
        }
    }

    /// Makes one gzip stream of the chunks. Only those that were not in the previous message are compressed.
    pub fn compress(&mut self, chunks: &[Bytes]) -> GzipStream {
        let mut before = std::mem::take(&mut self.chunks);
        // The compressor has tables of some hundred kilobytes, so it is made only when needed.
        let mut deflate = None;
        let mut crc = Crc::new();
        let mut compressed = 0;
        let mut stream = Vec::with_capacity(chunks.len() + 2);
        stream.push(Bytes::from_static(HEADER));
        for text in chunks.iter().filter(|text| !text.is_empty()) {
            let address = (text.as_ptr() as usize, text.len());
            let chunk = self.chunks.entry(address).or_insert_with(|| {
                before.remove(&address).unwrap_or_else(|| {
                    compressed += text.len() as u64;
                    CompressedChunk::of(text, &mut deflate)
                })
            });
            debug_assert_eq!(chunk.text, *text, "bytes that were held have changed");
            crc.combine(&chunk.crc);
            stream.push(chunk.deflated.clone());
        }
        // The old entries are dropped before the bytes are counted.
        drop(before);
        self.charge();
        let length: u64 = chunks.iter().map(|text| text.len() as u64).sum();
        let end = [
            &LAST_BLOCK[..],
            &crc.sum().to_le_bytes(),
            &(length as u32).to_le_bytes(),
        ];
        stream.push(end.concat().into());
        GzipStream {
            chunks: stream,
            compressed,
        }
    }

    /// The memory it holds in bytes, with the texts: when a template changes a chunk, only this cache still holds the old
    /// text.
    pub fn size(&self) -> usize {
        let entries = self.chunks.capacity() * size_of::<(Address, CompressedChunk)>();
        let chunks = self.chunks.values();
        let chunks = chunks.map(|chunk| chunk.text.len() + chunk.deflated.len());
        entries + chunks.sum::<usize>()
    }

    /// Removes everything, and releases the texts.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.charge();
    }

    /// Brings the account up to date.
    fn charge(&mut self) {
        let size = self.size();
        self.account.replace(self.charged, size);
        self.charged = size;
    }
}

impl Drop for GzipCache {
    fn drop(&mut self) {
        self.account.replace(self.charged, 0);
    }
}

impl fmt::Debug for GzipCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GzipCache")
            .field("chunks", &self.chunks.len())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

impl CompressedChunk {
    fn of(text: &Bytes, deflate: &mut Option<Compress>) -> Self {
        let deflate = deflate.get_or_insert_with(|| Compress::new(Compression::fast(), false));
        deflate.reset();
        let mut crc = Crc::new();
        crc.update(text);
        Self {
            text: text.clone(),
            deflated: compress(deflate, text).into(),
            crc,
        }
    }
}

/// Compresses a text to a deflate stream that ends at a byte boundary, without a last block.
fn compress(deflate: &mut Compress, text: &[u8]) -> Vec<u8> {
    let mut deflated = Vec::with_capacity(text.len() / 4 + 64);
    loop {
        let read = deflate.total_in() as usize;
        let status = deflate
            .compress_vec(&text[read..], &mut deflated, FlushCompress::Sync)
            .expect("raw deflate has no state that input could upset");
        // A flush is complete when it leaves capacity unused. (zlib's manual, deflate())
        let is_done =
            deflate.total_in() as usize == text.len() && deflated.len() < deflated.capacity();
        if is_done || status == Status::StreamEnd {
            deflated.shrink_to_fit();
            return deflated;
        }
        deflated.reserve(deflated.capacity().max(1024));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::Arc;

    use flate2::read::GzDecoder;

    use super::*;

    fn text(chunks: &[Bytes]) -> Vec<u8> {
        chunks.concat()
    }

    fn decompressed(stream: &GzipStream) -> Vec<u8> {
        let mut found = Vec::new();
        // The decoder checks checksum and length, and must stop exactly at the end.
        let stream = text(&stream.chunks);
        let mut decoder = GzDecoder::new(&stream[..]);
        decoder.read_to_end(&mut found).expect("a gzip stream");
        assert!(decoder.into_inner().is_empty(), "bytes after the stream");
        found
    }

    /// Chunks of many kinds and lengths, from a generator that repeats itself.
    fn chunk(seed: u64, length: usize) -> Bytes {
        let mut state = seed | 1;
        let mut bytes = Vec::with_capacity(length + 32);
        while bytes.len() < length {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            match seed % 3 {
                0 => bytes.extend_from_slice(&state.to_le_bytes()),
                1 => bytes.extend_from_slice(b"<item>1</item>"),
                _ => bytes.extend_from_slice(format!("<item>{state}</item>").as_bytes()),
            }
        }
        bytes.truncate(length);
        bytes.into()
    }

    #[test]
    fn what_was_compressed_decompresses_to_the_text_whatever_its_chunks() {
        let mut cache = GzipCache::default();
        for lengths in [
            &[][..],
            &[0],
            &[1],
            &[1, 0, 2],
            &[100_000],
            &[32_768, 32_768, 5],
            &[63, 64, 65, 200_000, 1],
        ] {
            for seed in 0..3 {
                let chunks: Vec<Bytes> = (seed..)
                    .zip(lengths)
                    .map(|(seed, length)| chunk(seed, *length))
                    .collect();
                assert_eq!(
                    decompressed(&cache.compress(&chunks)),
                    text(&chunks),
                    "{lengths:?} {seed}"
                );
            }
        }
    }

    #[test]
    fn only_chunks_that_were_not_in_the_last_message_are_compressed() {
        let mut cache = GzipCache::default();
        let mut chunks: Vec<Bytes> = (0..9).map(|seed| chunk(seed, 10_000)).collect();
        assert_eq!(cache.compress(&chunks).compressed, 90_000);
        assert_eq!(cache.compress(&chunks).compressed, 0);
        // One changes, one moves, one goes, one comes twice.
        chunks[4] = chunk(77, 10_001);
        chunks.swap(0, 8);
        chunks.remove(2);
        chunks.push(chunks[0].clone());
        let stream = cache.compress(&chunks);
        assert_eq!(stream.compressed, 10_001);
        assert_eq!(decompressed(&stream), text(&chunks));
    }

    #[test]
    fn equal_bytes_elsewhere_are_other_bytes_and_a_held_chunk_is_not_written_over() {
        let owner = Arc::new(vec![b'x'; 5000]);
        let mut shared = Arc::clone(&owner);
        struct Owner(Arc<Vec<u8>>);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        let mut cache = GzipCache::default();
        cache.compress(&[Bytes::from_owner(Owner(owner))]);
        // What a template does: patch in place if nobody else holds the chunk.
        assert!(Arc::get_mut(&mut shared).is_none());
        Arc::make_mut(&mut shared)[0] = b'y';
        let patched = [Bytes::from_owner(Owner(shared.clone()))];
        let stream = cache.compress(&patched);
        assert_eq!(stream.compressed, 5000);
        assert_eq!(decompressed(&stream)[0], b'y');
        cache.clear();
        drop((stream, patched));
        assert!(Arc::get_mut(&mut shared).is_some());
    }

    #[test]
    fn the_size_kept_is_that_of_the_last_message() {
        let mut cache = GzipCache::default();
        cache.compress(&[chunk(0, 100_000)]);
        assert!(cache.size() >= 100_000, "noise does not shrink");
        cache.compress(&[chunk(1, 100)]);
        assert!(cache.size() < 1000);
    }

    #[test]
    fn the_systems_gzip_reads_it() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let chunks: Vec<Bytes> = (0..4).map(|seed| chunk(seed, 40_000)).collect();
        let stream = text(&GzipCache::default().compress(&chunks).chunks);
        let child = Command::new("gzip")
            .arg("-dc")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("there is no gzip on this system: not tested");
            return;
        };
        let mut input = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || input.write_all(&stream).expect("written"));
        let output = child.wait_with_output().expect("gzip ends");
        writer.join().expect("written");
        assert!(output.status.success());
        assert_eq!(output.stdout, text(&chunks));
    }
}
