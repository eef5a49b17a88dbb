//! Whatever is done to a template, in whatever order: its text is that of its values, and what was sent stays as it was.
//!
//! The input is a seed, which gives a Plan and a policy, and a list of operations of four bytes.

#![cfg_attr(feature = "libfuzzer", no_main)]

use std::sync::Arc;

use bsoap_codec::{DecodeOptions, Decoder, EncodeOptions, Record};
use bsoap_differential::send::{Chunks, Outgoing, Pad, Policy, Template};
use bsoap_testkit::message::{Style, message};
use bsoap_testkit::random::Random;
use bsoap_testkit::template::assert_consistent;
use bsoap_testkit::plan::{random_plan};
use bsoap_fuzz::fuzz_target;

fn policy(seed: u64) -> Policy {
    let policy = [Policy::IDENTICAL, Policy::EXACT, Policy::INTERMEDIATE, Policy::MAXIMUM][(seed & 3) as usize];
    let pad = if seed & 4 != 0 { Pad::Inside } else { Pad::AfterTag };
    let size = [1, 64, 500, 32 << 10][(seed >> 3 & 3) as usize];
    policy.with_pad(pad).with_chunks(Chunks::of(size))
}

fuzz_target!(|input: &[u8]| {
    let Some((seed, operations)) = input.split_first_chunk::<8>() else { return };
    let seed = u64::from_le_bytes(*seed);
    let (plan, root) = random_plan(seed >> 8);
    let mut decoder = Decoder::new(Arc::clone(&plan), DecodeOptions::default());
    let mut template = Template::new(policy(seed), EncodeOptions::default());
    let mut text = message(&plan, root, &mut Random::new(seed), Style { gap: "", noise: 0, size: 40 }).into_bytes();
    let mut buffer = Record::new(Arc::clone(&plan), root);
    let mut sent: Vec<(Outgoing, Vec<u8>)> = Vec::new();
    let mut clones: Vec<Template> = Vec::new();
    for operation in operations.chunks_exact(4).take(64) {
        let [what, a, b, c] = [operation[0], operation[1], operation[2], operation[3]];
        let place = usize::from(u16::from_le_bytes([a, b]));
        match what % 8 {
            // Another message, or an edited one, if it can be read.
            0 => {
                let style = Style { gap: "", noise: 0, size: usize::from(c) };
                text = message(&plan, root, &mut Random::new(place as u64), style).into_bytes();
            }
            1 => {
                let at = place % (text.len() + 1);
                let end = (at + usize::from(what >> 5)).min(text.len());
                text.splice(at..end, (c != 0).then_some(c));
            }
            2 | 3 => {
                let Ok(record) = decoder.decode(root, &text) else { continue };
                buffer.copy_from(&record);
                let _ = template.update(&mut buffer);
            }
            4 => {
                let slot = place % (template.record().map_or(0, |record| record.slots().len()) + 1);
                let number = f64::from_bits(u64::from(c).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let _ = template.set(slot, number);
                let _ = template.set(slot, i64::from(c) - 100);
                let _ = template.set(slot, u64::from(c));
                let _ = template.set_text(slot, &"<x".repeat(usize::from(c % 40)));
                if c & 1 == 0 {
                    continue; // not written yet
                }
                let _ = template.commit();
            }
            5 => sent.push((template.outgoing(), template.text())),
            6 => clones.push(template.clone()),
            _ => {
                if let Some(clone) = clones.pop() {
                    template = clone;
                }
            }
        }
        let _ = template.commit();
        assert_consistent(&template);
        for (outgoing, text) in &sent {
            assert_eq!(&outgoing.chunks.concat(), text);
        }
        sent.truncate(8);
    }
});
