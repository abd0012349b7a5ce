//! The process that decodes a picture: it reads the file from its input, writes the previews to its output, and can open
//! nothing else.

use std::io::{self, Cursor, Read, Write};

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, metadata::Orientation};
use rlimit::Resource;

use crate::{
    encode,
    raster::{Raster, Refusal},
    svg,
};

/// Most memory, its own program included.
const MEMORY: u64 = 1 << 30;

/// Most pixels of a picture: those of the largest cameras in telephones.
const MAX_PIXELS: u64 = 110_000_000;

/// Most memory of a decoded picture.
const MAX_DECODED: u64 = 640 << 20;

/// Decodes the input to the output, within so many seconds of its processor; false with a line of reasons if it can't be.
pub fn run(seconds: u64) -> bool {
    let done = confine(seconds).and_then(|()| previews());
    done.inspect_err(|refusal| eprintln!("{}", shared::telemetry::chain(refusal))).is_ok()
}

/// Whoever takes over a decoder finds no credentials in the environment, and can open no file and no connection.
fn confine(seconds: u64) -> Result<(), Refusal> {
    for (resource, most) in [
        (Resource::AS, MEMORY),
        (Resource::CPU, seconds),
        (Resource::CORE, 0),
        (Resource::FSIZE, 0),
        (Resource::NOFILE, 0),
    ] {
        resource.set(most, most)?;
    }
    Ok(())
}

fn previews() -> Result<(), Refusal> {
    let mut file = Vec::new();
    io::stdin().lock().read_to_end(&mut file)?;
    let raster = if svg::is_svg(&file) { svg::draw(&file)? } else { decode(&file)? };
    drop(file);
    let (header, forms) = encode::forms(&raster)?;
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &header)?;
    output.write_all(b"\n")?;
    forms.iter().try_for_each(|form| output.write_all(form))?;
    Ok(output.flush()?)
}

/// The first frame, by what the file is and not by what it is called.
fn decode(file: &[u8]) -> Result<Raster, Refusal> {
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let format = reader.format();
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // The library's limit is for what a decoder needs besides.
    let is_small = (1..=MAX_PIXELS).contains(&(u64::from(width) * u64::from(height)));
    if !is_small || decoder.total_bytes() > MAX_DECODED {
        return Err(Refusal::Pixels);
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    // Two bits a pixel. A photograph's JPEG may have less, too.
    let is_flat = format != Some(ImageFormat::Jpeg) && (file.len() as u64) * 4 < u64::from(width) * u64::from(height);
    Ok(Raster { size: (image.width(), image.height()), image, is_flat })
}
