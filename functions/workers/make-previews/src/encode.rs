//! Smaller forms of a decoded picture, its placeholder and its colour.

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, imageops::FilterType};
use shared::model::{Fingerprint, Form};

use crate::raster::{Header, Raster, Refusal};

/// Widths of the forms, in pixels: a column of a telephone, the same at twice the density, and a page.
const WIDTHS: [u32; 3] = [320, 640, 1280];

/// The format has 14 bits for a side.
const LONGEST: u32 = 16_383;

/// Longest side of what a placeholder is made of.
const PLACEHOLDER: u32 = 100;

const QUALITY: f32 = 80.0;

/// How much wider than the widest form a picture is made first.
const COARSE: u32 = 2;

pub(crate) fn forms(raster: &Raster) -> Result<(Header, Vec<Vec<u8>>), Refusal> {
    let largest = sizes(raster.image.width(), raster.image.height()).pop().ok_or(Refusal::Pixels)?;
    // The finer filter would take long for a photograph.
    let base = shrink(&raster.image, (largest.width * COARSE, largest.height * COARSE), true);
    let (mut header, mut files) = (Vec::new(), Vec::new());
    for form in sizes(raster.image.width(), raster.image.height()) {
        let file = encode(&shrink(&base, (form.width, form.height), false), raster.is_flat)?;
        header.push((form, file.len()));
        files.push(file);
    }
    let (placeholder, color) = placeholder(&base);
    let (width, height) = raster.size;
    let fingerprint = fingerprint(&base);
    Ok((Header { width, height, placeholder, color, fingerprint, forms: header }, files))
}

/// Never larger than the picture, with its own width where it is narrower than the widest.
fn sizes(width: u32, height: u32) -> Vec<Form> {
    let own = width.min(WIDTHS[WIDTHS.len() - 1]);
    let widths = WIDTHS.into_iter().filter(|form| *form < own).chain([own]);
    let form = |form: u32| {
        let scaled = (u64::from(height) * u64::from(form) + u64::from(width) / 2) / u64::from(width.max(1));
        Form { width: form, height: u32::try_from(scaled).unwrap_or(u32::MAX).max(1) }
    };
    widths.map(form).filter(|form| form.height <= LONGEST).collect()
}

fn shrink(image: &DynamicImage, (width, height): (u32, u32), coarsely: bool) -> DynamicImage {
    if image.width() <= width || image.height() < height {
        return image.clone();
    }
    if coarsely {
        image.thumbnail_exact(width, height)
    } else {
        image.resize_exact(width, height, FilterType::Lanczos3)
    }
}

/// Without loss where the picture is small, whose pixels are meant, and where areas and lines take fewer bytes so.
fn encode(image: &DynamicImage, is_flat: bool) -> Result<Vec<u8>, Refusal> {
    let pixels = image.to_rgba8();
    let encoder = webp::Encoder::from_rgba(pixels.as_raw(), pixels.width(), pixels.height());
    let is_small = pixels.width() < WIDTHS[0] && pixels.height() < WIDTHS[0];
    let encode = |without_loss| encoder.encode_simple(without_loss, QUALITY).map_err(|_| Refusal::Encoding);
    let encoded = encode(is_small)?;
    if is_flat && !is_small {
        let exact = encode(true)?;
        return Ok(if exact.len() < encoded.len() { exact.to_vec() } else { encoded.to_vec() });
    }
    Ok(encoded.to_vec())
}

fn placeholder(image: &DynamicImage) -> (String, Option<String>) {
    let is_large = image.width().max(image.height()) > PLACEHOLDER;
    let pixels = if is_large { image.thumbnail(PLACEHOLDER, PLACEHOLDER).to_rgba8() } else { image.to_rgba8() };
    let side = |pixels: u32| usize::try_from(pixels).unwrap_or_default();
    let hash = thumbhash::rgba_to_thumb_hash(side(pixels.width()), side(pixels.height()), pixels.as_raw());
    let is_opaque = pixels.pixels().all(|pixel| pixel.0[3] == u8::MAX);
    let count = u64::from(pixels.width()) * u64::from(pixels.height());
    let mean = |channel: usize| pixels.pixels().map(|pixel| u64::from(pixel.0[channel])).sum::<u64>() / count.max(1);
    let color = is_opaque.then(|| format!("#{:02x}{:02x}{:02x}", mean(0), mean(1), mean(2)));
    (BASE64_STANDARD.encode(hash), color)
}

/// A side of the squares that are compared.
const SQUARES: u32 = 8;

/// By how much neighbours differ that aren't the same but for noise, of 255.
const NOISE: u8 = 3;

/// Fewest neighbours that differ in a picture that can be told from others, of 128.
const TELLING: usize = 40;

/// Compares each of 8 × 8 squares with the one to its right and the one below.
fn fingerprint(image: &DynamicImage) -> Option<Fingerprint> {
    let squares = image.thumbnail_exact(SQUARES + 1, SQUARES + 1).to_luma8();
    let level = |x, y| squares.get_pixel(x, y).0[0];
    let (mut bits, mut telling) = (0, 0);
    for y in 0..SQUARES {
        for x in 0..SQUARES {
            for neighbour in [level(x + 1, y), level(x, y + 1)] {
                let own = level(x, y);
                bits = bits << 1 | u128::from(own < neighbour);
                telling += usize::from(own.abs_diff(neighbour) > NOISE);
            }
        }
    }
    (telling >= TELLING).then_some(Fingerprint(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waves that a seed chooses, of a size.
    fn waves(seed: f32, (width, height): (u32, u32)) -> DynamicImage {
        let level = |x: u32, y: u32, from: f32| {
            let (x, y) = (x as f32 / width as f32, y as f32 / height as f32);
            127.0 + 120.0 * ((x * (9.0 + seed) + from).sin() * (y * (7.0 + 2.0 * seed) - from).cos())
        };
        let pixel = |x, y| {
            image::Rgba([0.0, 1.0, 2.0, 255.0].map(|from| if from > 9.0 { 255 } else { level(x, y, from) as u8 }))
        };
        DynamicImage::ImageRgba8(image::RgbaImage::from_fn(width, height, pixel))
    }

    #[test]
    fn picture_is_known_in_another_size_and_quality_and_others_are_not() {
        let one = fingerprint(&waves(1.0, (900, 700))).unwrap();
        for changed in [waves(1.0, (450, 350)), waves(1.0, (900, 700)).brighten(12), waves(1.0, (900, 700)).blur(2.0)] {
            assert!(one.resembles(fingerprint(&changed).unwrap()));
        }
        for seed in [2.0, 3.5, 5.0, 8.0] {
            assert!(!one.resembles(fingerprint(&waves(seed, (900, 700))).unwrap()), "{seed}");
        }
        let plain = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(90, 90, image::Rgba([10, 20, 30, 255])));
        assert_eq!(fingerprint(&plain), None);
    }

    #[test]
    fn forms_are_never_larger_than_the_picture() {
        let sizes =
            |width, height| sizes(width, height).iter().map(|form| (form.width, form.height)).collect::<Vec<_>>();
        assert_eq!(sizes(4000, 3000), [(320, 240), (640, 480), (1280, 960)]);
        assert_eq!(sizes(1000, 500), [(320, 160), (640, 320), (1000, 500)]);
        assert_eq!(sizes(640, 1), [(320, 1), (640, 1)]);
        assert_eq!(sizes(24, 24), [(24, 24)]);
        assert_eq!(sizes(1, 100_000), []);
    }

    #[test]
    fn what_is_seen_through_has_no_colour() {
        let fill =
            |alpha| DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(9, 9, image::Rgba([10, 20, 255, alpha])));
        assert_eq!(placeholder(&fill(255)).1.as_deref(), Some("#0a14ff"));
        assert_eq!(placeholder(&fill(254)).1, None);
    }
}
