//! Texts cut to a length, and XML.

use maud::{Markup, Render};
use shared::model::line;

/// The first characters of a line, ending at a word.
pub fn clipped(text: &str, most: usize) -> String {
    let line = line(text);
    match line.char_indices().nth(most) {
        None => line,
        Some((end, _)) => {
            let start = line.get(..end).unwrap_or_default();
            format!("{}…", start.rsplit_once(' ').map_or(start, |(words, _)| words))
        }
    }
}

/// An XML document, whose texts are escaped as HTML's are.
pub fn xml(content: &Markup) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", content.render().into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_end_at_a_word() {
        assert_eq!(clipped("one two three", 9), "one two…");
        assert_eq!(clipped("one\ntwo", 9), "one two");
    }
}
