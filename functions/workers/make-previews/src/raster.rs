//! What the steps of decoding hand on.

use std::io;

use image::{DynamicImage, ImageError};
use serde::{Deserialize, Serialize};
use shared::model::{Fingerprint, Form};

/// What is known of a picture, followed in the output by its forms, of these lengths.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub width: u32,
    pub height: u32,
    pub placeholder: String,
    pub color: Option<String>,
    pub fingerprint: Option<Fingerprint>,
    pub forms: Vec<(Form, usize)>,
}

/// Why there are no previews.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("limits can't be set, or a file can't be passed on")]
    Process(#[from] io::Error),
    #[error("no picture that can be decoded")]
    Format(#[from] ImageError),
    #[error("too many pixels, or none")]
    Pixels,
    #[error("no SVG that can be drawn")]
    Svg(#[from] resvg::usvg::Error),
    #[error("a form can't be encoded")]
    Encoding,
    #[error("header of the previews")]
    Header(#[from] serde_json::Error),
}

/// A decoded picture, of the size that it has or, if it has none of its own, is shown in.
pub(crate) struct Raster {
    pub image: DynamicImage,
    pub size: (u32, u32),
    /// Whether its file has so few bytes for its pixels that they are areas and lines, not a photograph.
    pub is_flat: bool,
}
