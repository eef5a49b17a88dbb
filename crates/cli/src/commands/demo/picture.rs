//! The pictures of the demo, as PNG files.
//!
//! A field of temperatures: colours from black over red to light yellow, and lines of equal temperature. A series of messages:
//! a line for each message, a pixel for a few of its values; bright pixels were converted, dark ones kept.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use super::heat::HeatField;
use super::poll::Reread;
use crate::error::Failure;

/// Pixels across, at least.
const SIZE: usize = 768;
/// Pixel rows of a message.
const LINE_HEIGHT: usize = 2;
/// Pixel rows between two series, and their colour.
const GAP: usize = 12;
const GAP_COLOUR: [u8; 3] = [255; 3];
/// Lines of equal temperature.
const LINES: f64 = 14.0;
/// The colours of equally spaced temperatures, cold to hot.
const COLOURS: [[f64; 3]; 9] = [
    [0.0, 0.0, 4.0],
    [31.0, 12.0, 72.0],
    [85.0, 15.0, 109.0],
    [136.0, 34.0, 106.0],
    [186.0, 54.0, 85.0],
    [227.0, 89.0, 51.0],
    [249.0, 140.0, 10.0],
    [249.0, 201.0, 50.0],
    [252.0, 255.0, 164.0],
];

/// Writes the picture of a field.
pub(super) fn write_field(path: &Path, field: &HeatField) -> Result<(), Failure> {
    let scale = SIZE.div_ceil(field.columns().max(field.rows())).max(1);
    write_png(path, field.columns() * scale, &pixels(field, scale))
}

/// Writes the picture of some series of messages, one below the other.
pub(super) fn write_series(path: &Path, series: &[&[Reread]]) -> Result<(), Failure> {
    let mut pixels = Vec::new();
    for (number, messages) in series.iter().enumerate() {
        if number > 0 {
            pixels.extend(GAP_COLOUR.repeat(SIZE * GAP));
        }
        for message in *messages {
            let line = line(message);
            (0..LINE_HEIGHT).for_each(|_| pixels.extend_from_slice(&line));
        }
    }
    write_png(path, SIZE, &pixels)
}

fn write_png(path: &Path, width: usize, pixels: &[u8]) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::input(format!("cannot write {}: {error}", path.display()))
    };
    let file = File::create(path).map_err(|error| failed(&error))?;
    let height = pixels.len() / 3 / width;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(pixels))
        .map_err(|error| failed(&error))
}

/// The pixels of a message: the more of a pixel's slots were converted, the brighter it is.
fn line(message: &Reread) -> Vec<u8> {
    let mut shares = [0.0_f64; SIZE];
    let per_slot = SIZE as f64 / message.slots.max(1) as f64;
    for span in &message.spans {
        let (from, to) = (span.start as f64 * per_slot, span.end as f64 * per_slot);
        let pixels = shares.iter_mut().enumerate();
        for (at, share) in pixels.skip(from as usize).take((to - from) as usize + 2) {
            let at = at as f64;
            *share += (to.min(at + 1.0) - from.max(at)).max(0.0);
        }
    }
    // A single value among many is seen as well.
    let shown = |share: f64| {
        if share > 0.0 {
            0.45 + 0.5 * share.min(1.0)
        } else {
            0.12
        }
    };
    let pixel = |&share: &f64| colour(shown(share)).map(|part| part.round() as u8);
    shares.iter().flat_map(pixel).collect()
}

fn pixels(field: &HeatField, scale: usize) -> Vec<u8> {
    let range = field
        .values()
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    let temperature = |x: usize, y: usize| {
        let value = interpolated(
            field,
            (y as f64 + 0.5) / scale as f64 - 0.5,
            (x as f64 + 0.5) / scale as f64 - 0.5,
        );
        ((value - range.0) / (range.1 - range.0).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    };
    let (width, height) = (field.columns() * scale, field.rows() * scale);
    let all: Vec<f64> = (0..width * height)
        .map(|at| temperature(at % width, at / width))
        .collect();
    let band = |at: usize| (all[at] * LINES).floor();
    let mut pixels = Vec::with_capacity(3 * all.len());
    for at in 0..all.len() {
        let (right, below) = (
            if at % width + 1 < width { at + 1 } else { at },
            if at + width < all.len() {
                at + width
            } else {
                at
            },
        );
        let light = if band(at) != band(right) || band(at) != band(below) {
            0.72
        } else {
            1.0
        };
        pixels.extend(colour(all[at]).map(|part| (part * light).round() as u8));
    }
    pixels
}

/// The value at a point between four values, by bilinear interpolation.
fn interpolated(field: &HeatField, row: f64, column: f64) -> f64 {
    let (row, column) = (
        row.clamp(0.0, (field.rows() - 1) as f64),
        column.clamp(0.0, (field.columns() - 1) as f64),
    );
    let (top, left) = (row.floor() as usize, column.floor() as usize);
    let (bottom, right) = (
        (top + 1).min(field.rows() - 1),
        (left + 1).min(field.columns() - 1),
    );
    let (down, across) = (row.fract(), column.fract());
    let at = |row: usize, column: usize| field.values()[row * field.columns() + column];
    let upper = at(top, left) * (1.0 - across) + at(top, right) * across;
    let lower = at(bottom, left) * (1.0 - across) + at(bottom, right) * across;
    upper * (1.0 - down) + lower * down
}

fn colour(temperature: f64) -> [f64; 3] {
    let place = temperature * (COLOURS.len() - 1) as f64;
    let (below, above) = (
        place.floor() as usize,
        (place.ceil() as usize).min(COLOURS.len() - 1),
    );
    std::array::from_fn(|part| {
        COLOURS[below][part] * (1.0 - place.fract()) + COLOURS[above][part] * place.fract()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_converted_are_brighter_than_those_that_were_kept() {
        let message = Reread {
            slots: 10 * SIZE,
            spans: vec![0..1, 5 * SIZE..10 * SIZE],
        };
        let line = line(&message);
        let brightness =
            |at: usize| -> u32 { line[3 * at..][..3].iter().map(|&it| u32::from(it)).sum() };
        assert_eq!(line.len(), 3 * SIZE);
        assert!(brightness(0) > brightness(1));
        assert!(brightness(SIZE - 1) > brightness(0));
    }

    #[test]
    fn a_picture_has_three_bytes_for_each_pixel_and_cold_is_dark() {
        let field = HeatField::new(2, 2, vec![0.0, 1.0, 0.0, 1.0]).unwrap();
        let pixels = pixels(&field, 4);
        assert_eq!(pixels.len(), 3 * 8 * 8);
        let brightness = |at: usize| {
            pixels[3 * at..3 * at + 3]
                .iter()
                .map(|&part| u32::from(part))
                .sum::<u32>()
        };
        assert!(brightness(0) < brightness(7));
    }
}
