//! Plans made by hand and at random, and messages for them.
#![allow(dead_code, unreachable_pub)] // each test uses some of it

pub mod message;
pub mod random;
pub mod roads;
pub mod schema;
