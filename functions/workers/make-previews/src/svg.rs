//! Draws an SVG: without script, which the drawing library doesn't have, and without files, which it isn't given.

use std::sync::Arc;

use image::{DynamicImage, RgbaImage};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{ImageHrefResolver, Options, Tree, fontdb::Database},
};

use crate::raster::{Raster, Refusal};

/// For words, whatever font they ask for (shared/fonts/LICENSE.txt).
const FONT: &[u8] = include_bytes!("../../../../shared/fonts/Inter-Regular.ttf");

/// Width in which it is drawn.
const WIDTH: f32 = 1280.0;

/// Longest side in which it is drawn.
const LONGEST: f32 = 5_120.0;

/// Whether a file is an SVG: its first element's name, after a declaration, comments and a document type.
pub(crate) fn is_svg(file: &[u8]) -> bool {
    let start = String::from_utf8_lossy(file.get(..file.len().min(1_024)).unwrap_or_default());
    start.trim_start_matches('\u{feff}').trim_start().starts_with('<') && start.contains("<svg")
}

pub(crate) fn draw(file: &[u8]) -> Result<Raster, Refusal> {
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options = Options {
        fontdb: Arc::new(fonts),
        font_family: "Inter".to_owned(),
        image_href_resolver: ImageHrefResolver {
            resolve_string: Box::new(|_, _| None),
            ..ImageHrefResolver::default()
        },
        ..Options::default()
    };
    let tree = Tree::from_data(file, &options)?;
    let size = tree.size();
    let scale = (WIDTH / size.width()).min(LONGEST / size.height());
    let scaled = size.scale_by(scale).ok_or(Refusal::Pixels)?.to_int_size();
    let mut pixels = Pixmap::new(scaled.width(), scaled.height()).ok_or(Refusal::Pixels)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let straight = pixels.pixels().iter().flat_map(|pixel| {
        let pixel = pixel.demultiply();
        [pixel.red(), pixel.green(), pixel.blue(), pixel.alpha()]
    });
    let image = RgbaImage::from_raw(scaled.width(), scaled.height(), straight.collect()).ok_or(Refusal::Pixels)?;
    Ok(Raster { image: DynamicImage::ImageRgba8(image), size: (scaled.width(), scaled.height()), is_flat: true })
}
