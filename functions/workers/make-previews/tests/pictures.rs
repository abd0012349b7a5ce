//! The decoder with pictures as people publish them, and with hostile ones. `DECODER_SECONDS=10` gives those that would
//! take for ever as long as they have in production.

use std::{
    env, fs,
    io::{Cursor, Write},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use make_previews::{Decoded, Decoder, DecoderError};

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_make-previews").into()
}

/// However slow this machine is.
async fn decode(file: &[u8]) -> Result<Decoded, DecoderError> {
    Decoder::within(program(), 200).decode("ipfs://x", file).await
}

/// Refused, within what a picture may take; the reason.
async fn refusal(what: &str, file: &[u8]) -> String {
    refusal_by(&Decoder::new(program()), what, file).await
}

async fn refusal_by(decoder: &Decoder, what: &str, file: &[u8]) -> String {
    let result = decoder.decode("ipfs://x", file).await;
    let found = result.as_ref().map(|decoded| &decoded.picture);
    assert!(matches!(found, Err(DecoderError::Refused(_))), "{what}: {found:?}");
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

fn photograph(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, ((x ^ y) & 31) as u8]);
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, pixel))
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    assert!(image.write_to(&mut file, format).is_ok(), "{format:?}");
    file.into_inner()
}

/// A PNG whose header says this size and kind.
fn png_of(width: u32, height: u32, bits: u8, color: u8) -> Vec<u8> {
    let mut file = encoded(&photograph(8, 8), ImageFormat::Png);
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    file[24..26].copy_from_slice(&[bits, color]);
    let sum = crc32(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

/// One pixel more of a frame, so many times.
fn gif_of(frames: usize, width: u16, height: u16) -> Vec<u8> {
    let mut file = b"GIF89a".to_vec();
    file.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
    file.extend([0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
    for _ in 0..frames {
        file.extend([0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
    }
    file.push(0x3B);
    file
}

#[tokio::test]
async fn pictures_of_every_format_have_forms_a_placeholder_and_a_colour() {
    let photograph = photograph(1_290, 430);
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
        let Decoded { picture, forms } = decode(&encoded(&photograph, format)).await.expect("previews");
        assert_eq!((picture.width, picture.height), (1_290, 430), "{format:?}");
        let sizes: Vec<_> = picture.forms.iter().map(|form| (form.width, form.height)).collect();
        assert_eq!(sizes, [(320, 107), (640, 213), (1_280, 427)]);
        assert!(picture.color.is_some() && (20..=36).contains(&picture.placeholder.len()), "{picture:?}");
        for (form, file) in &forms {
            let made = image::load_from_memory_with_format(file, ImageFormat::WebP).expect("WebP");
            assert_eq!((made.width(), made.height()), (form.width, form.height));
            // A gradient's corners stay where they are.
            assert!(made.to_rgb8().get_pixel(form.width - 1, 0).0[0] > 230, "{format:?}");
        }
        let bytes = |place: usize| forms[place].1.len();
        assert!(bytes(0) < bytes(1) && bytes(1) < bytes(2), "{format:?}");
    }
}

/// As a page of twenty shows them: forms of 640 pixels.
#[tokio::test]
async fn a_photograph_weighs_a_twentieth() {
    // Shapes with a sensor's noise.
    let mut seed = 1_u32;
    let photograph = RgbImage::from_fn(4_000, 3_000, |x, y| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let shade = (x / 400 * 23 + y / 300 * 31) % 200 + x % 400 / 16 + (seed >> 28);
        Rgb([shade as u8, (shade * 4 / 5) as u8, (shade / 2) as u8])
    });
    let original = encoded(&DynamicImage::ImageRgb8(photograph), ImageFormat::Jpeg);
    let forms = decode(&original).await.expect("previews").forms;
    let (_, form) = forms.iter().find(|(form, _)| form.width == 640).expect("a form");
    println!("{} bytes of {}", form.len(), original.len());
    assert!(form.len() * 20 <= original.len(), "{} of {}", form.len(), original.len());
}

#[tokio::test]
async fn telephones_pictures_stand_upright() {
    // An Exif segment that says: turn by a quarter.
    let mut file = encoded(&photograph(600, 400), ImageFormat::Jpeg);
    let exif = *b"\xFF\xE1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    file.splice(2..2, exif);
    let picture = decode(&file).await.expect("previews").picture;
    assert_eq!((picture.width, picture.height), (400, 600));
}

#[tokio::test]
async fn drawings_are_rasterised_without_script_and_without_files() {
    let drawing = r##"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 5">
        <script>alert(1)</script><image href="file:///etc/passwd" width="9" height="9"/>
        <image href="http://169.254.169.254/latest" width="9" height="9"/>
        <rect width="10" height="5" fill="#ff8000"/></svg>"##;
    let Decoded { picture, .. } = decode(drawing.as_bytes()).await.expect("previews");
    assert_eq!((picture.width, picture.height, picture.color.as_deref()), (1_280, 640, Some("#ff8000")));
}

/// A loss would cost bytes: areas and lines are small without it.
#[tokio::test]
async fn prints_are_not_heavier_than_their_files() {
    let works = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../local/demo/works");
    for name in ["ferry-weather", "first-light", "lamp-room"] {
        let original = fs::read(format!("{works}/{name}.png")).expect("a work");
        let forms = decode(&original).await.expect("previews").forms;
        let (form, file) = forms.last().expect("a form");
        assert_eq!(form.width, 640, "its own width");
        assert!(file.len() <= original.len(), "{name}: {} of {}", file.len(), original.len());
    }
}

#[tokio::test]
async fn small_pictures_keep_their_pixels() {
    let pixels = photograph(24, 24);
    let Decoded { picture, forms } = decode(&encoded(&pixels, ImageFormat::Png)).await.expect("previews");
    assert_eq!(picture.forms.len(), 1);
    assert_eq!(image::load_from_memory(&forms[0].1).expect("WebP").to_rgb8(), pixels.to_rgb8());
}

#[tokio::test]
async fn what_lies_about_its_size_or_type_is_refused() {
    let png = encoded(&photograph(400, 300), ImageFormat::Png);
    for (what, file) in [
        ("50,000 × 50,000", png_of(50_000, 50_000, 8, 2)),
        ("2^31 × 2^31", png_of(1 << 31, 1 << 31, 8, 2)),
        ("no pixel", png_of(0, 0, 8, 2)),
        ("a line of a hundred million", png_of(1, 100_000_000, 8, 2)),
        ("more than is there", png_of(9_000, 9_000, 8, 2)),
        ("a screen of 65,535 × 65,535", gif_of(1, 65_535, 65_535)),
        ("half a picture", png[..png.len() / 2].to_vec()),
        ("a header alone", png[..40].to_vec()),
        ("nothing", Vec::new()),
        ("HTML", b"<html><img src=x onerror=alert(1)></html>".to_vec()),
        ("HTML with a drawing", b"<html><svg onload=alert(1)></svg></html>".to_vec()),
        ("an archive", b"PK\x03\x04".repeat(1_000)),
        ("noise", (0..2_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()),
    ] {
        refusal(what, &file).await;
    }
}

#[tokio::test]
async fn bombs_are_refused_or_fit_into_memory() {
    // Ten thousand frames: the first is the picture.
    assert_eq!(decode(&gif_of(10_000, 1, 1)).await.expect("previews").forms.len(), 1);
    // A hundred megapixels in a few kilobytes, which fit into the memory.
    let black = DynamicImage::new_luma8(10_000, 10_000);
    assert_eq!(decode(&encoded(&black, ImageFormat::Png)).await.expect("previews").picture.width, 10_000);
    // The same with 16 bits and four channels, which don't.
    assert!(refusal("deep", &png_of(10_000, 10_000, 16, 6)).await.contains("too many pixels"));

    let laughs =
        (1..20).map(|n| format!("<!ENTITY a{n} \"{}\">", format!("&a{};", n - 1).repeat(10))).collect::<String>();
    let laughs = format!(
        "<!DOCTYPE svg [<!ENTITY a0 \"ha\">{laughs}]><svg xmlns='http://www.w3.org/2000/svg'><text>&a19;</text></svg>"
    );
    refusal("entities", laughs.as_bytes()).await;
    let uses = (1..25)
        .map(|n| format!("<g id='g{n}'>{}</g>", format!("<use href='#g{}'/>", n - 1).repeat(10)))
        .collect::<String>();
    let uses = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><g id='g0'><rect width='9' height='9'/></g>{uses}</svg>"
    );
    let seconds = env::var("DECODER_SECONDS").map_or(2, |seconds| seconds.parse().expect("a number"));
    let hurried = Decoder::within(program(), seconds);
    refusal_by(&hurried, "references", uses.as_bytes()).await;
    let nested = format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>{}", "<g>".repeat(200_000));
    refusal("nesting", nested.as_bytes()).await;
    let blur = "<filter id='f'><feTurbulence numOctaves='99999999' baseFrequency='9'/></filter>";
    let slow = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>{blur}{}</svg>",
        "<rect width='9' height='9' filter='url(#f)'/>".repeat(100)
    );
    refusal_by(&hurried, "a filter that ends after years", slow.as_bytes()).await;
}

/// Whoever takes the process over finds nothing in it, and can open nothing.
#[test]
fn the_decoder_has_neither_environment_nor_files() {
    let mut process = Command::new(program())
        .args(["decode", "10"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let of = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", process.id())).expect("a process's file");
    let limited = |limits: &str, name: &str| {
        limits
            .lines()
            .find(|line| line.starts_with(name))
            .map(|line| line[name.len()..].split_whitespace().next() == Some("0"))
    };
    let deadline = Instant::now() + Duration::from_secs(180);
    while limited(&of("limits"), "Max open files") != Some(true) {
        assert!(Instant::now() < deadline, "{}", of("limits"));
        std::thread::yield_now();
    }
    assert_eq!(limited(&of("limits"), "Max file size"), Some(true));
    assert!(of("limits").contains("1073741824"), "{}", of("limits"));
    assert_eq!(of("environ"), "");
    process.stdin.take().expect("its input").write_all(b"no picture").expect("a pipe");
    assert!(!process.wait().expect("an end").success());
}
