//! A message written piece by piece is the message written at once.

mod common;

use bsoap_codec::encode::{LeafRef, PieceEncoder, Places, State, Stop, Stuffing};
use bsoap_codec::{DecodeOptions, Decoder, EncodeOptions, Encoder, Index, Record, encode};

use common::message::{Style, message};
use common::random::{Random, plan};

/// A place that was told: slot, offset from the first byte, length, width, leaf.
type Told = (usize, usize, usize, usize, LeafRef);

/// Remembers all it is told, with offsets from the first byte of the message.
#[derive(Default)]
struct Remember {
    before: usize,
    told: Vec<Told>,
}

impl Places for Remember {
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        let told = (slot, self.before + offset, length, width, leaf);
        self.told.push(told);
    }
}

/// Random messages of random Plans.
fn records(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Record)> {
    seeds.filter_map(|seed| {
        let random = &mut Random::new(seed);
        let (plan, root) = plan(seed);
        let size = *random.pick(&[10, 60, 200]);
        let style = Style {
            gap: "",
            noise: 10,
            size,
        };
        let given = message(&plan, root, random, style);
        let mut decoder = Decoder::new(plan, DecodeOptions::default());
        let record = decoder.decode(root, given.as_bytes()).ok()?;
        Some((seed, record))
    })
}

/// The message in pieces, the State at the start of each, and all places.
fn pieces<S: Stuffing>(
    record: &Record,
    size: usize,
    stuffing: &S,
) -> (Vec<(State, Vec<u8>)>, Vec<Told>) {
    let mut encoder = PieceEncoder::new(record, EncodeOptions::default());
    let mut remember = Remember::default();
    let mut pieces = Vec::new();
    loop {
        let state = encoder.state().clone();
        let mut piece = Vec::new();
        let stop = encoder
            .run(&mut piece, size, None, stuffing, &mut remember)
            .unwrap_or_else(|error| panic!("{error}"));
        remember.before += piece.len();
        assert!(!piece.is_empty());
        pieces.push((state, piece));
        match stop {
            Stop::Size => {}
            Stop::End => break,
            Stop::Until => panic!("there is nowhere to stop"),
        }
    }
    assert!(encoder.state().is_end());
    (pieces, remember.told)
}

fn joined(pieces: &[(State, Vec<u8>)]) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|(_, piece)| piece)
        .copied()
        .collect()
}

#[test]
fn pieces_of_any_size_joined_are_the_message() {
    let mut count = 0;
    for (seed, record) in records(0..1500) {
        let mut whole = Vec::new();
        encode(&record, &mut whole).unwrap();
        for size in [0, 7, 64, 500, usize::MAX] {
            let (pieces, _) = pieces(&record, size, &());
            assert_eq!(
                String::from_utf8_lossy(&joined(&pieces)),
                String::from_utf8_lossy(&whole),
                "seed {seed} size {size}"
            );
            count += pieces.len();
        }
    }
    assert!(count > 20_000, "{count}");
}

#[test]
fn from_every_state_comes_the_same_rest() {
    for (seed, record) in records(0..600) {
        let (pieces, _) = pieces(&record, 1, &());
        let whole = joined(&pieces);
        let mut begin = 0;
        for (state, piece) in &pieces {
            let mut encoder =
                PieceEncoder::resume(&record, state.clone(), EncodeOptions::default()).unwrap();
            assert_eq!(encoder.state(), state);
            let mut rest = Vec::new();
            encoder
                .run(&mut rest, usize::MAX, None, &(), &mut ())
                .unwrap();
            assert_eq!(rest, &whole[begin..], "seed {seed}");
            begin += piece.len();
        }
    }
}

#[test]
fn every_place_is_that_of_the_index() {
    for (seed, record) in records(0..1500) {
        let (mut text, mut index) = (Vec::new(), Index::new());
        Encoder::default()
            .encode_indexed(&record, &mut text, &mut index)
            .unwrap();
        for size in [1, 100, usize::MAX] {
            let (_, told) = pieces(&record, size, &());
            for &(slot, offset, length, width, _) in &told {
                let place = index.place(slot).expect("a place");
                assert_eq!(
                    (place.offset, place.length),
                    (offset as u32, length as u32),
                    "seed {seed} slot {slot}"
                );
                assert_eq!(length, width);
            }
            assert!(told.windows(2).all(|two| two[0].0 < two[1].0));
        }
    }
}
