//! Texts of strangers where no element isolates them: in titles, attributes, feeds, embeds and mails.

/// One line: runs of space become one, and no character is left that is unseen or turns the direction of what follows.
pub fn line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same with its lines kept.
pub fn lines(text: &str) -> String {
    visible(text).trim().to_owned()
}

/// Without what XML 1.0 can't hold (<https://www.w3.org/TR/xml/#charsets>), other controls, and embeddings and overrides of
/// direction (<https://www.unicode.org/reports/tr9/>), which reach beyond the text.
fn visible(text: &str) -> String {
    let is_unseen = |c: char| {
        let is_space = matches!(c, '\n' | '\t' | '\r');
        let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && !is_space) || turns || matches!(c, '\u{FFFE}' | '\u{FFFF}')
    };
    text.chars().filter(|c| !is_unseen(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_overrides_of_direction_are_left_out() {
        assert_eq!(line(" a\u{0}b\n\u{202E}c\u{2066}\td\u{FFFF} "), "ab c d");
        assert_eq!(lines("a\n\u{1b}b\u{85} "), "a\nb");
        assert_eq!(line("שלום مرحبا 👩‍🎨"), "שלום مرحبا 👩‍🎨");
    }
}
