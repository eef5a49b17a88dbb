//! One number read with wide registers is the number that is read without.

use bsoap_datatypes::kernel::{Kernel, Number};
use bsoap_datatypes::{double, float};
use proptest::prelude::*;

fn kernels() -> impl Iterator<Item = Kernel> {
    [Kernel::neon(), Kernel::avx2(), Kernel::avx512()]
        .into_iter()
        .flatten()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<u64>().prop_map(|bits| f64::from_bits(bits).to_string()),
        any::<u64>().prop_map(|bits| format!("{:e}", f64::from_bits(bits))),
        any::<u32>().prop_map(|bits| f32::from_bits(bits).to_string()),
        (any::<i32>(), 1..1_000_000).prop_map(|(a, b)| (f64::from(a) / f64::from(b)).to_string()),
        "-?[0-9]{0,4}\\.?[0-9]{0,4}",
        "[0-9+.eE-]{0,35}|INF|-INF|NaN",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_number_is_read_as_it_is_without_wide_registers(
        given in number(),
        end in prop_oneof!["<", " <", "<[ -~]{0,40}"],
        before in 0_usize..50,
        behind in 0_usize..100,
    ) {
        let text = [&vec![b'7'; before], given.as_bytes(), end.as_bytes(), &vec![b'7'; behind]].concat();
        let doubles = double::parse_prefix(&text[before..]).map(|(value, length)| (value.to_bits(), length));
        let floats = float::parse_prefix(&text[before..]).map(|(value, length)| (u64::from(value.to_bits()), length));
        for kernel in kernels() {
            for (number, expected) in [(Number::Double, doubles), (Number::Float, floats)] {
                let found = kernel.read_real(number, (&text, before), b'<');
                if found.is_some() {
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}

/// So that doubting everything would not do.
#[test]
fn what_is_plain_is_read() {
    for given in [
        "0",
        "-0",
        "7",
        "-1.5",
        "25.897352999999995",
        "3.1415927",
        "6.02e23",
        "-1E-7",
    ] {
        let text = format!("{:32}{given}<{:64}", "", "");
        let double = double::parse_prefix(given.as_bytes()).map(|it| (it.0.to_bits(), it.1));
        for kernel in kernels() {
            let found = kernel.read_real(Number::Double, (text.as_bytes(), 32), b'<');
            assert_eq!(found, double, "{given}");
        }
    }
}
