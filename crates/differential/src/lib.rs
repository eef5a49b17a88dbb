//! What need not be sent or read again: differential serialization and deserialization.
//!
//! [`send`] keeps the text of a message and writes only what changed in the next one; [`receive`] keeps what was read and
//! reads only what changed. Both are built on what `bsoap-codec` offers: a [`Record`](bsoap_codec::Record) whose slots can be
//! compared, places of slots in the text, and an encoder and a decoder whose state is data.

#![forbid(unsafe_code)]

mod bypass;
mod cache;
pub mod hint;
pub mod receive;
pub mod send;
pub mod stats;
mod timing;
