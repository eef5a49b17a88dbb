//! A message as gzip, chunk by chunk: what was compressed for the message before is not compressed again.
//!
//! ```text
//! chunk           kept                                    sent
//! A (as before)   deflate(A), crc(A)                      header · deflate(A) · deflate(B′) · deflate(C) · end
//! B → B′          –                  compressed now                                  end = empty last block,
//! C (as before)   deflate(C), crc(C)                                                 crc(A)+crc(B′)+crc(C), length
//! ```
//!
//! Each chunk is a raw deflate stream of its own that ends on a byte boundary (an empty stored block, RFC 1951 §3.2.4)
//! and refers to nothing before it, so that streams can be put one after another. A CRC-32 of two stretches follows
//! from those of both. (RFC 1952 §2.3.1)
//!
//! A chunk is known by where it lies: what was compressed is kept together with the [`Bytes`] it was made of, and bytes
//! that somebody holds do not change. Whoever patches a chunk finds it shared and patches a copy, which lies elsewhere.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// No name, no time stamp, fastest algorithm, unknown system.
const HEADER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// An empty block that is the last one, in fixed codes.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// What a message was compressed to, by chunks.
///
/// ```
/// use bsoap_differential::send::Folds;
/// use bytes::Bytes;
///
/// let (head, mut tail) = (Bytes::from("<a>".repeat(1000)), Bytes::from("</a>".repeat(1000)));
/// let mut folds = Folds::default();
/// assert_eq!(folds.fold(&[head.clone(), tail]).compressed, 7000);
///
/// tail = Bytes::from("</a> ".repeat(1000));
/// assert_eq!(folds.fold(&[head, tail]).compressed, 5000);
/// ```
#[derive(Default)]
pub struct Folds {
    kept: HashMap<Place, Fold>,
    account: Account,
    /// What of the account is its own.
    charged: usize,
}

/// Where what is kept is counted as soon as it is: messages are compressed when whoever keeps their templates has long got
/// those back.
#[derive(Clone, Debug, Default)]
pub(super) struct Account(Arc<AtomicUsize>);

impl Account {
    /// Bytes that all kept together take.
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where bytes lie and how many; as long as they are held, no others can lie there.
type Place = (usize, usize);

struct Fold {
    /// Holds the bytes where they lie.
    text: Bytes,
    folded: Bytes,
    crc: Crc,
}

/// A gzip stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Folded {
    /// Its bytes, one after another.
    pub chunks: Vec<Bytes>,
    /// How many bytes of the text were compressed for it; the others had been before.
    pub compressed: u64,
}

impl Folds {
    /// None yet; what they will take is counted there.
    pub(super) fn of(account: &Account) -> Self {
        Self {
            kept: HashMap::new(),
            account: account.clone(),
            charged: 0,
        }
    }

    /// The chunks as one gzip stream. Compresses those that were not in the last one.
    pub fn fold(&mut self, chunks: &[Bytes]) -> Folded {
        let mut before = std::mem::take(&mut self.kept);
        let mut compressor = Compressor::default();
        let mut crc = Crc::new();
        let mut compressed = 0;
        let mut stream = Vec::with_capacity(chunks.len() + 2);
        stream.push(Bytes::from_static(HEADER));
        for text in chunks.iter().filter(|text| !text.is_empty()) {
            let place = place(text);
            let fold = self.kept.entry(place).or_insert_with(|| {
                before.remove(&place).unwrap_or_else(|| {
                    compressed += text.len() as u64;
                    compressor.fold(text)
                })
            });
            debug_assert_eq!(fold.text, *text, "bytes that were held have changed");
            crc.combine(&fold.crc);
            stream.push(fold.folded.clone());
        }
        // Those that are kept no longer go before what they take is counted.
        drop(before);
        self.charge();
        let length = chunks.iter().map(|text| text.len() as u64).sum();
        stream.push(end(crc.sum(), length));
        Folded {
            chunks: stream,
            compressed,
        }
    }

    /// How many bytes are kept, texts included: as soon as a template changes a chunk, the text it was is held by nobody
    /// else.
    pub fn size(&self) -> usize {
        let entries = self.kept.capacity() * (size_of::<Place>() + size_of::<Fold>());
        let texts = self.kept.values();
        entries
            + texts
                .map(|fold| fold.text.len() + fold.folded.len())
                .sum::<usize>()
    }

    /// Forgets everything, and lets go of the texts.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.charge();
    }

    /// Brings the account up to date.
    fn charge(&mut self) {
        let size = self.size();
        // Wraps to what is less.
        let more = size.wrapping_sub(self.charged);
        self.account.0.fetch_add(more, Ordering::Relaxed);
        self.charged = size;
    }
}

impl Drop for Folds {
    fn drop(&mut self) {
        self.account.0.fetch_sub(self.charged, Ordering::Relaxed);
    }
}

impl fmt::Debug for Folds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folds")
            .field("chunks", &self.kept.len())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

fn place(text: &Bytes) -> Place {
    (text.as_ptr() as usize, text.len())
}

/// The last block, the checksum and the length modulo 2^32.
fn end(crc: u32, length: u64) -> Bytes {
    let mut end = Vec::with_capacity(LAST_BLOCK.len() + 8);
    end.extend_from_slice(&LAST_BLOCK);
    end.extend_from_slice(&crc.to_le_bytes());
    end.extend_from_slice(&(length as u32).to_le_bytes());
    end.into()
}

/// Compresses chunks. Its tables are some hundred kilobytes, so they are made when first needed.
#[derive(Default)]
struct Compressor {
    deflate: Option<Compress>,
}

impl Compressor {
    fn fold(&mut self, text: &Bytes) -> Fold {
        let deflate = self
            .deflate
            .get_or_insert_with(|| Compress::new(Compression::fast(), false));
        deflate.reset();
        let mut crc = Crc::new();
        crc.update(text);
        Fold {
            text: text.clone(),
            folded: compress(deflate, text).into(),
            crc,
        }
    }
}

/// One deflate stream up to a byte boundary, without a last block.
fn compress(deflate: &mut Compress, text: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(text.len() / 4 + 64);
    loop {
        let read = deflate.total_in() as usize;
        let status = deflate
            .compress_vec(&text[read..], &mut folded, FlushCompress::Sync)
            .expect("raw deflate has no state that input could upset");
        // A flush is complete when it leaves room unused. (zlib's manual, deflate())
        let is_done = deflate.total_in() as usize == text.len() && folded.len() < folded.capacity();
        if is_done || status == Status::StreamEnd {
            folded.shrink_to_fit();
            return folded;
        }
        folded.reserve(folded.capacity().max(1024));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn text(chunks: &[Bytes]) -> Vec<u8> {
        chunks.concat()
    }

    fn unfolded(folded: &Folded) -> Vec<u8> {
        let mut found = Vec::new();
        // The decoder checks checksum and length, and must stop exactly at the end.
        let stream = text(&folded.chunks);
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
    fn what_was_folded_unfolds_to_the_text_whatever_its_chunks() {
        let mut folds = Folds::default();
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
                    unfolded(&folds.fold(&chunks)),
                    text(&chunks),
                    "{lengths:?} {seed}"
                );
            }
        }
    }

    #[test]
    fn only_chunks_that_were_not_in_the_last_message_are_compressed() {
        let mut folds = Folds::default();
        let mut chunks: Vec<Bytes> = (0..9).map(|seed| chunk(seed, 10_000)).collect();
        assert_eq!(folds.fold(&chunks).compressed, 90_000);
        assert_eq!(folds.fold(&chunks).compressed, 0);
        // One changes, one moves, one goes, one comes twice.
        chunks[4] = chunk(77, 10_001);
        chunks.swap(0, 8);
        chunks.remove(2);
        chunks.push(chunks[0].clone());
        let folded = folds.fold(&chunks);
        assert_eq!(folded.compressed, 10_001);
        assert_eq!(unfolded(&folded), text(&chunks));
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
        let mut folds = Folds::default();
        folds.fold(&[Bytes::from_owner(Owner(owner))]);
        // What a template does: patch in place if nobody else holds the chunk.
        assert!(Arc::get_mut(&mut shared).is_none());
        Arc::make_mut(&mut shared)[0] = b'y';
        let patched = [Bytes::from_owner(Owner(shared.clone()))];
        let folded = folds.fold(&patched);
        assert_eq!(folded.compressed, 5000);
        assert_eq!(unfolded(&folded)[0], b'y');
        folds.clear();
        drop((folded, patched));
        assert!(Arc::get_mut(&mut shared).is_some());
    }

    #[test]
    fn the_size_kept_is_that_of_the_last_message() {
        let mut folds = Folds::default();
        folds.fold(&[chunk(0, 100_000)]);
        assert!(folds.size() >= 100_000, "noise does not shrink");
        folds.fold(&[chunk(1, 100)]);
        assert!(folds.size() < 1000);
    }

    #[test]
    fn the_systems_gzip_reads_it() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let chunks: Vec<Bytes> = (0..4).map(|seed| chunk(seed, 40_000)).collect();
        let folded = text(&Folds::default().fold(&chunks).chunks);
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
        let writer = std::thread::spawn(move || input.write_all(&folded).expect("written"));
        let output = child.wait_with_output().expect("gzip ends");
        writer.join().expect("written");
        assert!(output.status.success());
        assert_eq!(output.stdout, text(&chunks));
    }
}
