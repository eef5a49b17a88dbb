//! Rows written in blocks are those written one by one.

use std::fmt::Debug;

use bsoap_codec::frame::Frame;
use bsoap_codec::{Value, build};
use bsoap_datatypes::{Datatype, boolean, double, float, integer};
use bsoap_differential::send::{Layout, Offer, Overlay, OverlayError, Piece, Row};
use bsoap_testkit::schema::{MANY, ONCE, Schema};
use proptest::prelude::*;

/// An array of numbers, or of structs of several.
fn frame(datatypes: &[Datatype]) -> Frame {
    let mut schema = Schema::new();
    let item = if let [datatype] = datatypes {
        schema.field("item", *datatype, MANY)
    } else {
        let fields = datatypes.iter().enumerate();
        let fields = fields
            .map(|(n, &datatype)| schema.field(&format!("field{n}"), datatype, ONCE))
            .collect();
        let item = schema.structure(fields);
        schema.child("item", item, MANY)
    };
    let root = schema.structure(vec![item]);
    let root = schema.element_in("urn:mesh", "array", root);
    let value = Value::object([("item", Value::Array(Vec::new()))]);
    let record = build(&schema.finish(), root, &value).expect("a record");
    Frame::around(&record, "item").expect("a frame")
}

/// A number as it is written by itself.
trait Single {
    fn text(&self) -> Vec<u8>;
}

macro_rules! single {
    ($($ty:ty: $write:expr;)*) => {$(
        impl Single for $ty {
            fn text(&self) -> Vec<u8> {
                let mut text = Vec::new();
                $write(*self, &mut text);
                text
            }
        }
    )*};
}

single! {
    f64: double::write;
    f32: float::write;
    i64: integer::write_i64;
    i32: |value: i32, text: &mut Vec<u8>| integer::write_i64(value.into(), text);
    u64: integer::write_u64;
    u8: |value: u8, text: &mut Vec<u8>| integer::write_u64(value.into(), text);
    bool: |value, text: &mut Vec<u8>| text.extend_from_slice(boolean::text(value).as_bytes());
}

/// The message written row by row.
fn one_by_one(frame: &Frame, layout: Layout, rows: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut text = frame.before().to_vec();
    for row in rows {
        text.extend_from_slice(frame.first());
        for (number, cell) in row.iter().zip(frame.cells()) {
            text.extend_from_slice(&cell.before);
            text.extend_from_slice(number);
            if layout == Layout::Stuffed {
                text.resize(text.len() + cell.width() - number.len(), b' ');
            }
        }
        text.extend_from_slice(frame.last());
    }
    text.extend_from_slice(frame.after());
    text
}

/// Checks that rows are the same text however they come and are written.
fn check<R: Row + Copy + Debug>(
    datatypes: &[Datatype],
    rows: &[R],
    pauses: usize,
    texts: impl Fn(&R) -> Vec<Vec<u8>>,
) {
    let frame = frame(datatypes);
    let texts: Vec<_> = rows.iter().map(texts).collect();
    for layout in [Layout::Plain, Layout::Stuffed] {
        let expected = one_by_one(&frame, layout, &texts);
        let mut overlay = Overlay::new(frame.clone(), layout);
        if layout == Layout::Stuffed {
            assert_eq!(overlay.announce(rows.len() as u64), expected.len() as u64);
        }
        let (mut text, mut given, mut asked) = (Vec::new(), rows.iter(), 0);
        loop {
            let piece = overlay.next(|| {
                asked += 1;
                if asked % pauses == 0 {
                    return Offer::Later;
                }
                given.next().map_or(Offer::End, Offer::Row)
            });
            match piece.expect("rows of the array") {
                Piece::Text(piece) => text.extend_from_slice(&piece),
                Piece::Later => {}
                Piece::End => break,
            }
        }
        assert!(text == expected, "{layout:?} {datatypes:?} {}", rows.len());
        assert_eq!(overlay.rows(), rows.len() as u64);
        assert!(overlay.memory() < 100 << 10);
    }
}

/// Numbers of any bits, short ones among them.
fn bits() -> impl Strategy<Value = Vec<u64>> {
    let number = (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift);
    // As many as fill several blocks and chunks, and one more or less.
    let edges = [0_usize, 1, 255, 256, 257, 512, 1000, 3000].map(Just);
    let count = prop::strategy::Union::new(edges).prop_flat_map(|count| count..=count + 1);
    count.prop_flat_map(move |count| prop::collection::vec(number.clone(), count))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_written_in_blocks_are_those_written_one_by_one(bits in bits(), pauses in 2..2000_usize) {
        let doubles: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
        check(&[Datatype::Double], &doubles, pauses, |row| vec![row.text()]);
        let floats: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
        check(&[Datatype::Float], &floats, pauses, |row| vec![row.text()]);
        let ints: Vec<i32> = bits.iter().map(|&bits| bits as i32).collect();
        check(&[Datatype::Int], &ints, pauses, |row| vec![row.text()]);
        check(&[Datatype::Long], &ints, pauses, |row| vec![row.text()]);
        let longs: Vec<i64> = bits.iter().map(|&bits| bits as i64).collect();
        check(&[Datatype::Long], &longs, pauses, |row| vec![row.text()]);
        check(&[Datatype::UnsignedLong], &bits, pauses, |row| vec![row.text()]);
        let octets: Vec<u8> = bits.iter().map(|&bits| bits as u8).collect();
        check(&[Datatype::UnsignedByte], &octets, pauses, |row| vec![row.text()]);
        check(&[Datatype::Int], &octets, pauses, |row| vec![row.text()]);
        let truths: Vec<bool> = bits.iter().map(|&bits| bits % 2 == 1).collect();
        check(&[Datatype::Boolean], &truths, pauses, |row| vec![row.text()]);
    }

    #[test]
    fn rows_of_several_numbers_are_too(bits in bits(), pauses in 2..2000_usize) {
        let meshes = bits.iter().map(|&bits| (bits as i32, (bits >> 32) as i32, f64::from_bits(bits)));
        let meshes: Vec<_> = meshes.collect();
        let datatypes = [Datatype::Int, Datatype::Int, Datatype::Double];
        check(&datatypes, &meshes, pauses, |(x, y, value)| vec![x.text(), y.text(), value.text()]);
        let mixed = meshes.iter().map(|&(x, y, value)| (y as f32, x % 2 == 0, value, x as u8));
        let mixed: Vec<_> = mixed.collect();
        let datatypes = [Datatype::Float, Datatype::Boolean, Datatype::Double, Datatype::UnsignedByte];
        check(&datatypes, &mixed, pauses, |(a, b, c, d)| vec![a.text(), b.text(), c.text(), d.text()]);
        let wide: Vec<[i64; 300]> = bits.iter().take(20).map(|&bits| [bits as i64; 300]).collect();
        check(&[Datatype::Long; 300], &wide, pauses, |row| row.iter().map(Single::text).collect());
    }

    #[test]
    fn the_first_row_out_of_range_is_named_and_none_is_asked_for_behind_it(
        count in 1..3000_usize,
        bad in any::<prop::sample::Index>(),
        layout in prop::sample::select(vec![Layout::Plain, Layout::Stuffed]),
    ) {
        let bad = bad.index(count);
        let datatypes = [Datatype::UnsignedByte, Datatype::Int];
        let mut overlay = Overlay::new(frame(&datatypes), layout);
        let mut asked = 0;
        let error = loop {
            let piece = overlay.next(|| {
                asked += 1;
                let row = asked - 1;
                if row == count {
                    return Offer::End;
                }
                Offer::Row((if row == bad { [256, -1][row % 2] } else { row as i64 % 256 }, -1))
            });
            match piece {
                Ok(Piece::End) => panic!("row {bad} is not in range"),
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        prop_assert_eq!(error, OverlayError::Range { row: bad as u64 });
        prop_assert_eq!(asked, bad + 1);
    }
}
