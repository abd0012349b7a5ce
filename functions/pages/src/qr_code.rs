//! QR codes: what a phone's camera reads from a screen or from paper.

use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode, types::QrError};

/// Modules around a code that stay blank, as scanners need it (ISO/IEC 18004).
const QUIET: usize = 4;

/// `content` as a drawing of a QR code, dark on white in every theme, that `label` names; an error if it is too long for one.
pub fn qr_code(content: &str, label: &str) -> Result<Markup, QrError> {
    let code = QrCode::with_error_correction_level(content, EcLevel::M)?;
    let (width, colors) = (code.width(), code.to_colors());
    let rows = colors.chunks(width).zip(QUIET..);
    let path: String =
        rows.flat_map(|(row, y)| runs(row).map(move |(x, long)| format!("M{x} {y}h{long}v1h-{long}z"))).collect();
    let size = width + 2 * QUIET;
    Ok(html! {
        svg .code xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {size} {size}")) role="img" aria-label=(label)
            shape-rendering="crispEdges" {
            rect width=(size) height=(size) fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    })
}

/// Dark runs of a row: where each begins, and how long it is.
fn runs(row: &[Color]) -> impl Iterator<Item = (usize, usize)> {
    let mut x = QUIET;
    row.chunk_by(|one, next| one == next).filter_map(move |run| {
        let start = x;
        x += run.len();
        run.contains(&Color::Dark).then_some((start, run.len()))
    })
}
