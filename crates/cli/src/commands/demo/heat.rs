//! The heat equation on a rectangle, by Jacobi's method: each inner value becomes the mean of its four neighbours,
//! values at the rim stay.

/// Temperatures, row by row.
#[derive(Clone, Debug)]
pub(super) struct HeatField {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl HeatField {
    /// A field of these values, if there are as many as it has places.
    pub(super) fn new(rows: usize, columns: usize, values: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns) == Some(values.len())).then_some(Self {
            rows,
            columns,
            values,
        })
    }

    /// Something to look at: a rim that is warm here and cold there, hot and cold discs inside.
    pub(super) fn hot_spots(rows: usize, columns: usize) -> Self {
        // Row and column of the centre, radius (all in parts of the size), temperature.
        const DISCS: [(f64, f64, f64, f64); 7] = [
            (0.30, 0.28, 0.17, 1.0),
            (0.30, 0.28, 0.08, 0.1),
            (0.66, 0.62, 0.20, 0.85),
            (0.58, 0.56, 0.07, 0.0),
            (0.76, 0.20, 0.09, 0.95),
            (0.20, 0.74, 0.11, 0.7),
            (0.44, 0.86, 0.06, 1.0),
        ];
        let place = |row: usize, column: usize| {
            let (y, x) = (
                row as f64 / (rows - 1) as f64,
                column as f64 / (columns - 1) as f64,
            );
            if row == 0 || column == 0 || row == rows - 1 || column == columns - 1 {
                let angle = (y - 0.5).atan2(x - 0.5);
                return 0.35 + 0.35 * (3.0 * angle).sin();
            }
            let inside =
                |&&(cy, cx, radius, _): &&(f64, f64, f64, f64)| (y - cy).hypot(x - cx) < radius;
            DISCS
                .iter()
                .rev()
                .find(inside)
                .map_or(0.12, |&(.., temperature)| temperature)
        };
        let values = (0..rows * columns)
            .map(|at| place(at / columns, at % columns))
            .collect();
        Self {
            rows,
            columns,
            values,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Whether the other is the same, bit by bit.
    pub(super) fn is_identical(&self, other: &Self) -> bool {
        let bits = |field: &Self| {
            field
                .values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        self.rows == other.rows && self.columns == other.columns && bits(self) == bits(other)
    }

    /// The next field, and the greatest change of a value.
    pub(super) fn step(&self) -> (Self, f64) {
        let mut next = self.clone();
        let mut residual = 0.0f64;
        for row in 1..self.rows.saturating_sub(1) {
            for column in 1..self.columns.saturating_sub(1) {
                let at = row * self.columns + column;
                let neighbours = [
                    self.values[at - self.columns],
                    self.values[at + self.columns],
                    self.values[at - 1],
                    self.values[at + 1],
                ];
                let mean = (neighbours[0] + neighbours[1] + neighbours[2] + neighbours[3]) / 4.0;
                residual = residual.max((mean - self.values[at]).abs());
                next.values[at] = mean;
            }
        }
        (next, residual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_spreads_evens_out_and_never_exceeds_its_extremes() {
        let mut field = HeatField::hot_spots(24, 32);
        let (_, first) = field.step();
        let mut residual = first;
        for _ in 0..300 {
            (field, residual) = field.step();
        }
        assert!(residual < first / 100.0, "{residual} after {first}");
        assert!(
            field
                .values()
                .iter()
                .all(|value| (0.0..=1.0).contains(value))
        );
    }

    #[test]
    fn a_field_has_as_many_values_as_places() {
        assert!(HeatField::new(2, 3, vec![0.0; 6]).is_some());
        assert!(HeatField::new(2, 3, vec![0.0; 5]).is_none());
        assert!(HeatField::new(usize::MAX, 2, Vec::new()).is_none());
        assert_eq!(HeatField::new(1, 2, vec![1.0; 2]).unwrap().step().1, 0.0);
    }
}
