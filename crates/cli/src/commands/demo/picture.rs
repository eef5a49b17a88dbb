//! A field as a PNG: colours from black over red to light yellow, and lines of equal temperature.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use super::heat::Field;
use crate::error::Failure;

/// Pixels across, at least.
const SIZE: usize = 768;
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
pub(super) fn write(path: &Path, field: &Field) -> Result<(), Failure> {
    let failed = |error: png::EncodingError| {
        Failure::input(format!("{} cannot be written", path.display())).because(error)
    };
    let scale = SIZE.div_ceil(field.columns().max(field.rows())).max(1);
    let (width, height) = (field.columns() * scale, field.rows() * scale);
    let file = File::create(path).map_err(|error| {
        Failure::input(format!("{} cannot be written", path.display())).because(error)
    })?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer
        .write_image_data(&pixels(field, scale))
        .map_err(failed)
}

fn pixels(field: &Field, scale: usize) -> Vec<u8> {
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

/// The value between the four places around a point.
fn interpolated(field: &Field, row: f64, column: f64) -> f64 {
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
    fn a_picture_has_three_octets_for_each_pixel_and_cold_is_dark() {
        let field = Field::new(2, 2, vec![0.0, 1.0, 0.0, 1.0]).unwrap();
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
