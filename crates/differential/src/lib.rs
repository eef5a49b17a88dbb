//! What need not be sent or read again: differential serialization and deserialization.
//!
//! An empty front door for now. The machinery will stand on three things that `bsoap-codec` already
//! has: a [`Record`](bsoap_codec::Record) whose slots can be compared, an
//! [`Index`](bsoap_codec::Index) from slots to places in the text, and a decoder whose state is data.

#![forbid(unsafe_code)]

pub mod receive;
pub mod send;
pub mod stats;
