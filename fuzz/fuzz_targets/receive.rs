//! Whatever came before, and however it comes in: a message is read as a fresh decoder reads it, or refused for the same
//! reason; and a Record that was handed out stays as it was.

#![cfg_attr(feature = "libfuzzer", no_main)]

mod streams;

use bsoap_differential::receive::{Policy, Way};
use bsoap_fuzz::fuzz_target;

fn way(seed: u64) -> Way {
    let mut policy = Policy::default();
    policy.may_bypass = seed & 8 != 0;
    policy.spacing = [None, Some(16), Some(64), Some(500)][(seed >> 4 & 3) as usize];
    Way::Exact(policy)
}

fuzz_target!(|input: &[u8]| streams::receive(input, way));
