//! The values that are sent to a mesh service, and its answers.

use bsoap::Value;

pub(crate) fn under(name: &str, value: impl Into<Value>) -> Value {
    Value::object([(name, value.into())])
}

pub(crate) fn items(values: impl Into<Value>) -> Value {
    under("item", values)
}

pub(crate) fn object((value, place): (&f64, i64)) -> Value {
    Value::object([
        ("x", Value::from(place)),
        ("y", Value::from(-place)),
        ("value", Value::from(*value)),
    ])
}

pub(crate) fn step(rows: i64, columns: i64, field: &[f64]) -> Value {
    Value::object([
        ("rows", Value::from(rows)),
        ("columns", Value::from(columns)),
        ("field", items(field.to_vec())),
    ])
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Finite doubles over all exponents.
pub(crate) fn hard_doubles(count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from_bits(state)
    });
    // No -0.0: JavaScript and PHP write it as 0.
    let known = [0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 0.1];
    let drawn = random.filter(|value| value.is_finite());
    known.into_iter().chain(drawn).take(count).collect()
}

/// Every inner point becomes the mean of its four neighbours; and the largest change.
pub(crate) fn jacobi(rows: usize, columns: usize, old: &[f64]) -> (Vec<f64>, f64) {
    let (mut new, mut residual) = (old.to_vec(), 0.0_f64);
    for row in 1..rows.saturating_sub(1) {
        for place in row * columns + 1..(row + 1) * columns - 1 {
            let above_and_below = old[place - columns] + old[place + columns];
            new[place] = 0.25 * (above_and_below + old[place - 1] + old[place + 1]);
            residual = residual.max((new[place] - old[place]).abs());
        }
    }
    (new, residual)
}
