//! Simulated sensors: a field of which few values change from poll to poll, and a window of samples that slides.
//!
//! Both are functions of the poll's number, so that the client can compute what the service must answer.

use bsoap::codec::{Pack, PackError, Packer, Unpack, Unpacker};

/// The kind of service that is polled.
pub(super) trait Polled: Pack + Unpack + PartialEq + Send + Sized + 'static {
    /// The operation that is polled.
    const OPERATION: &'static str;
    /// Its name in the report.
    const NAME: &'static str;

    /// The answer to a poll.
    fn at(poll: u32) -> Self;

    /// The number of values in an answer.
    fn values(&self) -> usize;

    /// The number of values that must be converted if the previous answer is known: those that do not occur in it.
    fn new_since(&self, before: &Self) -> usize;
}

/// The last report of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SensorReading {
    sensor: i32,
    temperature: f64,
    state: String,
}

impl Pack for SensorReading {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.value(&self.sensor);
        packer.value(&self.temperature);
        packer.value(&self.state);
    }
}

impl Unpack for SensorReading {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self {
            sensor: from.value()?,
            temperature: from.value()?,
            state: from.value()?,
        })
    }
}

/// Two warm spots that wander slowly over a field of sensors. A sensor reports steps of half a degree, so most readings are
/// the same from poll to poll.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SensorField(Vec<SensorReading>);

impl SensorField {
    const ROWS: usize = 48;
    const COLUMNS: usize = 64;
    /// Polls in which the spots go round once.
    const ROUND: f64 = 2000.0;

    fn temperature(row: usize, column: usize, poll: u32) -> f64 {
        let y = (row as f64 + 0.5) / Self::ROWS as f64;
        let x = (column as f64 + 0.5) / Self::COLUMNS as f64;
        let angle = std::f64::consts::TAU * f64::from(poll) / Self::ROUND;
        let spot = |top: f64, left: f64, radius: f64| {
            (-((y - top).powi(2) + (x - left).powi(2)) / (2.0 * radius * radius)).exp()
        };
        let first = spot(
            0.5 + 0.22 * (2.0 * angle + 0.6).sin(),
            0.5 + 0.3 * angle.cos(),
            0.13,
        );
        let second = spot(
            0.5 - 0.25 * angle.cos(),
            0.45 + 0.3 * (angle + 2.0).sin(),
            0.1,
        );
        let degrees = 14.0 + 6.0 * x * y + 22.0 * first + 12.0 * second;
        (degrees * 2.0).round() / 2.0
    }
}

impl Pack for SensorField {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.array(&self.0);
    }
}

impl Unpack for SensorField {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self(from.array()?))
    }
}

impl Polled for SensorField {
    const OPERATION: &'static str = "readField";
    const NAME: &'static str = "field of sensors";

    fn at(poll: u32) -> Self {
        let reading = |at: usize| {
            let temperature = Self::temperature(at / Self::COLUMNS, at % Self::COLUMNS, poll);
            let state = if temperature < 35.0 { "ok" } else { "hot" };
            SensorReading {
                sensor: 1000 + at as i32,
                temperature,
                state: state.to_owned(),
            }
        };
        Self((0..Self::ROWS * Self::COLUMNS).map(reading).collect())
    }

    fn values(&self) -> usize {
        3 * self.0.len()
    }

    fn new_since(&self, before: &Self) -> usize {
        let changed = |(now, before): (&SensorReading, &SensorReading)| {
            usize::from(now.sensor != before.sensor)
                + usize::from(now.temperature != before.temperature)
                + usize::from(now.state != before.state)
        };
        self.0.iter().zip(&before.0).map(changed).sum()
    }
}

/// A measurement of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    time: i64,
    value: f64,
}

impl Pack for Sample {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.value(&self.time);
        packer.value(&self.value);
    }
}

impl Unpack for Sample {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self {
            time: from.value()?,
            value: from.value()?,
        })
    }
}

/// The samples of the last minutes: each poll finds some new ones at the end, and as many old ones gone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SlidingWindow(Vec<Sample>);

impl SlidingWindow {
    const LENGTH: u32 = 1500;
    /// Samples between two polls.
    const NEW: u32 = 15;
    /// When the first sample was taken, in milliseconds since 1970.
    const BEGIN: i64 = 1_780_000_000_000;

    fn sample(number: u32) -> Sample {
        let noise = f64::from(number.wrapping_mul(0x9e37_79b9) >> 16) / 65536.0;
        let value = 230.0 + 4.0 * (f64::from(number) / 220.0).sin() + noise;
        Sample {
            time: Self::BEGIN + 1000 * i64::from(number),
            value: (value * 1000.0).round() / 1000.0,
        }
    }
}

impl Pack for SlidingWindow {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.array(&self.0);
    }
}

impl Unpack for SlidingWindow {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self(from.array()?))
    }
}

impl Polled for SlidingWindow {
    const OPERATION: &'static str = "readWindow";
    const NAME: &'static str = "sliding window";

    fn at(poll: u32) -> Self {
        let first = poll * Self::NEW;
        Self((first..first + Self::LENGTH).map(Self::sample).collect())
    }

    fn values(&self) -> usize {
        2 * self.0.len()
    }

    fn new_since(&self, before: &Self) -> usize {
        let last = before.0.last().map_or(i64::MIN, |sample| sample.time);
        2 * self.0.iter().filter(|sample| sample.time > last).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_of_the_field_change_from_poll_to_poll() {
        for poll in [1, 50, 199] {
            let (before, now) = (SensorField::at(poll - 1), SensorField::at(poll));
            let new = now.new_since(&before);
            assert!(new > 0 && new < now.values() / 20, "{new}");
        }
    }

    #[test]
    fn the_window_slides_by_the_same_number_of_samples() {
        let (before, now) = (SlidingWindow::at(7), SlidingWindow::at(8));
        let new = SlidingWindow::NEW as usize;
        assert_eq!(now.new_since(&before), 2 * new);
        assert_eq!(now.0[..now.0.len() - new], before.0[new..]);
    }
}
