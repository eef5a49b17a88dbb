//! The waist of bsoap: what a message is ([`plan`]), and its values.

#![forbid(unsafe_code)]

pub mod plan;
