//! Whatever way checkpoints are kept, how far apart they are, and however it comes in: a message is read as a fresh
//! decoder reads it, or refused for the same reason; and a Record that was handed out stays as it was.

#![cfg_attr(feature = "libfuzzer", no_main)]

mod streams;

use bsoap_differential::receive::{Portioning, Sameness, Way};
use bsoap_fuzz::fuzz_target;

/// Bits 16 to 31 of the seed choose it: the Plan is of others as well.
fn way(seed: u64) -> Way {
    let choice = |from: u32, of: u64| ((seed >> from) % of) as usize;
    let ways = [Portioning::full, Portioning::differential, Portioning::lightweight, Portioning::hashed];
    let mut way = ways[choice(16, 4)]();
    way.interrupt = [16, 32, 64, 128, 300, 512, 1024, 4096][choice(18, 8)];
    way.buffer = [16, 100, 1000, 32 << 10][choice(21, 4)];
    way.may_bypass = choice(23, 8) == 0;
    way.sameness = match choice(26, 4) {
        0 => Sameness::Keyed,
        1 => Sameness::Text,
        _ => way.sameness,
    };
    Way::Portions(way)
}

fuzz_target!(|input: &[u8]| streams::receive(input, way));
