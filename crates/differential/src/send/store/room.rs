//! How much a store holds, and who goes when that is too much: those used longest ago.

use super::known::{Known, Seen, oldest};
use super::lent::{Entry, Lent};
use super::streams::Streams;
use super::{Store, StorePolicy};
use crate::send::chunk::Text;
use crate::send::gzip::Account;
use crate::send::likeness::Sample;

/// What a store holds, while one of its streams gets a template back.
pub(super) struct Room<'s> {
    pub(super) policy: &'s StorePolicy,
    pub(super) clock: u64,
    pub(super) account: &'s Account,
    pub(super) held: &'s mut usize,
    pub(super) evicted: &'s mut u64,
}

impl Room<'_> {
    /// Keeps a template, if there is room for it alone.
    #[inline]
    pub(super) fn keep(&mut self, known: &mut Known, mut lent: Box<Lent>) {
        let memory = lent.memory();
        let folded = match self.account.held() {
            0 => 0,
            _ => lent.folded(),
        };
        if memory + folded > self.policy.bytes {
            // It would be made again and again, and given up each time.
            known.aside.hopeless();
            *self.evicted += 1;
            return;
        }
        if known.templates.len() >= self.policy.templates.max(1) {
            let oldest = oldest(&known.templates);
            *self.held -= known.templates.swap_remove(oldest).memory;
            *self.evicted += 1;
        }
        *self.held += memory;
        known.templates.push(Entry {
            lent,
            last_used: self.clock,
            memory,
        });
    }
}

impl Store {
    /// The buffer for the text of a large message.
    pub(super) fn lend_buffer(&mut self) -> Box<Text> {
        let (buffer, memory) = self.buffer.take().unwrap_or_default();
        self.held -= memory;
        buffer
    }

    /// Takes it back, if there is room: before templates, which are worth more.
    pub(super) fn keep_buffer(&mut self, buffer: Box<Text>) {
        self.give_buffer_up();
        let memory = buffer.memory();
        if self.held() + memory <= self.policy.bytes {
            self.held += memory;
            self.buffer = Some((buffer, memory));
        }
    }

    pub(super) fn give_buffer_up(&mut self) {
        drop(self.lend_buffer());
    }

    /// Gives templates up, those used longest ago first, until no more than so many bytes are held.
    pub fn shrink(&mut self, bytes: usize) {
        if self.held() > bytes {
            self.give_buffer_up();
        }
        while self.held() > bytes {
            let oldest = self
                .streams
                .iter_mut()
                .filter(|known| !known.templates.is_empty())
                .min_by_key(|known| known.templates[oldest(&known.templates)].last_used);
            let Some(known) = oldest else {
                return;
            };
            let index = self::oldest(&known.templates);
            self.held -= known.templates.swap_remove(index).memory;
            self.evicted += 1;
        }
    }

    #[inline]
    pub(super) fn held(&self) -> usize {
        self.held + self.account.held()
    }

    /// Bytes held by templates at rest, by the buffer of large messages without one, and by what is known of streams.
    pub fn memory(&self) -> usize {
        let looked_at = self.policy.templates * (size_of::<Seen>() + size_of::<Sample>());
        self.held() + self.streams.memory() + self.streams.len() * looked_at
    }

    /// How many templates are at rest.
    pub fn len(&self) -> usize {
        self.streams.iter().map(|known| known.templates.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything. That templates are given up is told with the next message.
    pub fn clear(&mut self) {
        self.evicted += self.len() as u64;
        self.streams = Streams::default();
        self.buffer = None;
        self.held = 0;
    }
}
