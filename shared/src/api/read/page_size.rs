//! How much a page holds: a function answers with 6 MB at most, and rows are as large as strangers make them.

use std::io;

use serde::Serialize;

use super::reader::ReadError;

/// Most bytes of a page's rows, as [`Size`] counts them. A row has a hundred thousand at most.
const MAX_BYTES: usize = 4 << 20;

/// Most admins of a moment or a collection in a list.
pub(super) const MAX_ADMINS_SHOWN: usize = 50;

/// Bytes of JSON within the JSON that a function answers with, where quotation marks and backslashes are escaped once more.
#[derive(Default)]
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() + bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first views of a list's rows that fit on a page, and how many of the rows these are; views of some rows are left out.
pub fn fitting<V: Serialize, R>(
    mut views: Vec<V>,
    rows: &[R],
    is_of: impl Fn(&V, &R) -> bool,
) -> Result<(Vec<V>, usize), ReadError> {
    let (mut size, mut shown) = (Size::default(), 0);
    for view in &views {
        serde_json::to_writer(&mut size, view)?;
        if size.0 > MAX_BYTES && shown > 0 {
            break;
        }
        shown += 1;
    }
    let cut = views.get(shown).and_then(|view| rows.iter().position(|row| is_of(view, row)));
    views.truncate(shown);
    Ok((views, cut.unwrap_or(rows.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_before_what_would_make_it_too_large() {
        let rows: Vec<usize> = (0..100).collect();
        let fit = |length: usize, character: &str| {
            // Of every other row there is no view.
            let views = rows.iter().skip(1).step_by(2).map(|row| (*row, character.repeat(length))).collect();
            let (views, shown) = fitting(views, &rows, |(of, _), row| of == row).unwrap();
            (views.len(), shown)
        };
        assert_eq!(fit(1_000, "a"), (50, 100));
        assert_eq!(fit(100_000, "a"), (41, 83));
        // A quotation mark takes four bytes.
        assert_eq!(fit(100_000, "\""), (10, 21));
        assert_eq!(fit(5 << 20, "a"), (1, 3));
        assert_eq!(fitting(Vec::<u8>::new(), &rows, |_, _| true).unwrap(), (Vec::new(), 100));
    }
}
