//! Blanks filled with wide registers hold what they hold without.

use bsoap_datatypes::kernel::form::{
    Blank, FillTarget, Filled, Filling, Form, LengthBytes, WIDEST,
};
use bsoap_datatypes::kernel::{Kernel, Number};
use proptest::prelude::*;

const ZERO: u8 = b'@';

fn kernels() -> impl Iterator<Item = Kernel> {
    [Kernel::neon(), Kernel::avx2(), Kernel::avx512()]
        .into_iter()
        .flatten()
}

fn filling() -> impl Strategy<Value = Filling> {
    prop_oneof![
        Just(Filling::Number(Number::Double)),
        Just(Filling::Number(Number::Float)),
        Just(Filling::Number(Number::Signed {
            min: -1000,
            max: i64::MAX
        })),
        Just(Filling::Number(Number::Unsigned { max: u64::MAX })),
        Just(Filling::Text),
        Just(Filling::Quoted(b'"')),
        Just(Filling::Quoted(b'\'')),
        Just(Filling::Uri),
        Just(Filling::DateTime),
        Just(Filling::Other),
    ]
}

/// Most often a value of the kind.
fn value(filling: Filling) -> BoxedStrategy<String> {
    let odd = "[ -~]{0,70}|[0-9+.eE-]{0,35}|\\PC{0,9}|";
    let good = match filling {
        Filling::Number(Number::Double) => any::<u64>()
            .prop_map(|bits| f64::from_bits(bits).to_string())
            .boxed(),
        Filling::Number(Number::Float) => any::<u32>()
            .prop_map(|bits| f32::from_bits(bits).to_string())
            .boxed(),
        Filling::Number(_) => any::<i64>()
            .prop_map(|value| (value >> (value & 63)).to_string())
            .boxed(),
        Filling::Uri => "[a-z]{1,9}:[a-z0-9/.#%?:-]{0,60}".boxed(),
        Filling::DateTime => {
            "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,9})?Z?"
                .boxed()
        }
        _ => "[a-zA-Z ,.]{1,64}".boxed(),
    };
    prop_oneof![8 => good, 1 => odd].boxed()
}

fn blanks() -> impl Strategy<Value = Vec<(String, Filling, String)>> {
    let blank = (
        prop_oneof![5 => "</[a-z]{1,9}><[a-z]{1,9}>", 1 => "<[a-z]{1,80}>", 1 => "<[a-z]{1,400}>"],
        filling(),
    );
    let blank =
        blank.prop_flat_map(|(piece, filling)| (Just(piece), Just(filling), value(filling)));
    prop::collection::vec(blank, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_filled_in_with_wide_registers_is_what_is_filled_in_without(
        given in blanks(),
        front in 0_usize..80,
        behind in 0_usize..200,
        flaw in prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>())),
        lie in prop::option::weighted(0.1, (any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let (mut text, mut pieces) = (vec![b'x'; front], Vec::new());
        let (mut lengths, mut blanks, mut heap_size) = (Vec::new(), Vec::new(), 0_u32);
        let fillings: Vec<_> = given.iter().map(|(_, filling, _)| *filling).collect();
        for (piece, _, value) in &given {
            blanks.push(Blank {
                piece: pieces.len() as u32,
                length: piece.len() as u32,
                slot: blanks.len() as u32,
                heap: heap_size,
                width: WIDEST as u32,
                kind: blanks.len() as u32,
            });
            heap_size += WIDEST as u32;
            pieces.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(value.as_bytes());
            lengths.push(ZERO.wrapping_add(value.len() as u8));
        }
        let tail = (pieces.len() as u32, behind as u32);
        pieces.extend(std::iter::repeat_n(b'<', behind));
        text.extend(std::iter::repeat_n(b'<', behind));
        let form = Form::new(pieces, blanks, tail, &fillings).expect("a form");
        let all = form.blanks();
        if let (Some((at, byte)), false) = (flaw, text.is_empty()) {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Some((at, length)) = lie {
            let at = at.index(lengths.len());
            lengths[at] = length;
        }
        let fill = |kernel: Kernel| {
            let (mut slots, mut heap) = (vec![7; all.len()], vec![0; heap_size as usize]);
            let target = FillTarget { slots: &mut slots, heap: &mut heap };
            let filled = kernel.fill(&form, (&text, front), LengthBytes { bytes: &lengths, zero: ZERO }, target);
            (filled, slots, heap)
        };
        let (plain, plain_slots, plain_heap) = fill(Kernel::PORTABLE);
        for kernel in kernels() {
            let (filled, slots, heap) = fill(kernel);
            // (It may have nothing to do with texts that are short.)
            let (Some(filled), Some(plain)) = (filled, plain) else {
                prop_assert!(filled.is_none());
                continue;
            };
            prop_assert_eq!(filled.is_same, plain.is_same);
            if !filled.is_same {
                continue;
            }
            // It may doubt more, but not less.
            prop_assert_eq!(plain.undecided & !filled.undecided, 0, "{:?}", kernel);
            for (index, (blank, &slot)) in all.iter().zip(&slots).enumerate() {
                if filled.undecided >> index & 1 == 1 {
                    continue;
                }
                prop_assert_eq!(slot, plain_slots[index]);
                if !matches!(fillings[blank.kind as usize], Filling::Number(_)) {
                    let string = blank.heap as usize..blank.heap as usize + (slot >> 32) as usize;
                    prop_assert_eq!(&heap[string.clone()], &plain_heap[string]);
                }
            }
        }
    }

    /// So that doubting everything would not do.
    #[test]
    fn plain_values_are_filled_in_at_any_position(
        given in blanks(),
        front in 32_usize..80,
        behind in 0_usize..90,
    ) {
        let (mut text, mut pieces) = (vec![b'x'; front], Vec::new());
        let (mut lengths, mut blanks, mut fillings) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, filling, _) in &given {
            let (filling, value) = match filling {
                Filling::Number(Number::Double | Number::Float) => (*filling, "-1234.5e-3"),
                Filling::Number(_) => (*filling, "77"),
                Filling::DateTime => (*filling, "2006-01-02T15:04:05Z"),
                Filling::Other => (Filling::Text, "a b"),
                _ => (*filling, "plain"),
            };
            blanks.push(Blank {
                piece: pieces.len() as u32,
                length: piece.len() as u32,
                slot: blanks.len() as u32,
                heap: (blanks.len() * WIDEST) as u32,
                width: WIDEST as u32,
                kind: blanks.len() as u32,
            });
            fillings.push(filling);
            pieces.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(piece.as_bytes());
            text.extend_from_slice(value.as_bytes());
            lengths.push(ZERO + value.len() as u8);
        }
        let tail = (pieces.len() as u32, behind as u32);
        pieces.extend(std::iter::repeat_n(b'<', behind));
        text.extend(std::iter::repeat_n(b'<', behind));
        let form = Form::new(pieces, blanks, tail, &fillings).expect("a form");
        for kernel in kernels().chain([Kernel::PORTABLE]) {
            let (mut slots, mut heap) = (vec![7; given.len()], vec![0; given.len() * WIDEST]);
            let target = FillTarget { slots: &mut slots, heap: &mut heap };
            let filled = kernel.fill(&form, (&text, front), LengthBytes { bytes: &lengths, zero: ZERO }, target);
            let is_long = text.len() >= front + WIDEST;
            prop_assert_eq!(filled, (is_long || kernel == Kernel::PORTABLE).then_some(Filled { is_same: true, undecided: 0 }));
        }
    }

    #[test]
    fn other_pieces_are_found(given in blanks(), behind in 64_usize..400, at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (mut text, mut pieces) = (vec![b'x'; 40], Vec::new());
        let (mut lengths, mut blanks, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, _, _) in &given {
            blanks.push(Blank {
                piece: pieces.len() as u32,
                length: piece.len() as u32,
                slot: 0,
                heap: 0,
                width: 64,
                kind: 0,
            });
            pieces.extend_from_slice(piece.as_bytes());
            places.extend(text.len()..text.len() + piece.len());
            text.extend_from_slice(piece.as_bytes());
            text.push(b'7');
            lengths.push(ZERO + 1);
        }
        let tail = (pieces.len() as u32, behind as u32);
        pieces.extend(std::iter::repeat_n(b'>', behind));
        places.extend(text.len()..text.len() + behind);
        text.extend(std::iter::repeat_n(b'>', behind));
        let fillings = [Filling::Number(Number::Signed { min: 0, max: 9 })];
        let form = Form::new(pieces, blanks, tail, &fillings).expect("a form");
        for kernel in kernels().chain([Kernel::PORTABLE]) {
            for is_other in [false, true] {
                let mut text = text.clone();
                if is_other {
                    text[places[at.index(places.len())]] ^= 1 << bit;
                }
                let target = FillTarget { slots: &mut [0], heap: &mut [] };
                let filled = kernel.fill(&form, (&text, 40), LengthBytes { bytes: &lengths, zero: ZERO }, target);
                prop_assert_eq!(filled.map(|it| it.is_same), Some(!is_other));
            }
        }
    }
}

/// Any byte may be given as a length. The last byte of a URI must not be read before the length is checked.
#[test]
fn a_length_beyond_the_capacity_is_not_followed() {
    let piece = b"<u></u>".to_vec();
    let blank = Blank {
        piece: 0,
        length: 3,
        slot: 0,
        heap: 0,
        width: WIDEST as u32,
        kind: 0,
    };
    for filling in [Filling::Uri, Filling::Text, Filling::DateTime] {
        let form = Form::new(piece.clone(), vec![blank], (3, 4), &[filling]).expect("a form");
        let text = [&[b'x'; 40], &b"<u>"[..], &[b'a'; 64], b"</u>"].concat();
        for length in [65, 128, 191, 255] {
            for kernel in kernels().chain([Kernel::PORTABLE]) {
                let (mut slots, mut heap) = ([0], [0; WIDEST]);
                let target = FillTarget {
                    slots: &mut slots,
                    heap: &mut heap,
                };
                let lengths = [ZERO.wrapping_add(length)];
                assert_eq!(
                    kernel.fill(
                        &form,
                        (&text, 40),
                        LengthBytes {
                            bytes: &lengths,
                            zero: ZERO
                        },
                        target
                    ),
                    None
                );
            }
        }
    }
}
