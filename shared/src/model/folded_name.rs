use std::fmt;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;

/// A name in the form in which names are compared: composed (NFC), with Unicode's full case folding. A folded prefix of
/// a name is a prefix of the folded name. Folding isn't lower case: `ς` and `σ` fold alike, and `ß` folds to `ss`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldedName(String);

impl FoldedName {
    /// Folds a name, or a prefix of one.
    pub fn of(name: &str) -> Self {
        let normalizer = const { ComposingNormalizer::new_nfc() };
        let folded = const { CaseMapper::new() }.fold_string(&normalizer.normalize(name)).into_owned();
        Self(normalizer.normalize(&folded).into_owned())
    }

    /// The folded text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FoldedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_in_case_or_composition_fold_alike() {
        for (one, other) in [
            ("Nadia", "nADIA"),
            ("ЁЖИК", "ёжик"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("STRASSE", "straße"),
            ("ԱՐԵՒ", "արև"),
            ("caf\u{e9}", "CAFE\u{301}"),
            ("ﬁn", "FIN"),
            ("ǅungla", "ǆUNGLA"),
        ] {
            assert_eq!(FoldedName::of(one), FoldedName::of(other), "{one} {other}");
        }
        for (one, other) in [("a", "b"), ("e", "é"), ("0", "O"), ("_", "%"), ("i", "ı")] {
            assert_ne!(FoldedName::of(one), FoldedName::of(other), "{one} {other}");
        }
    }

    #[test]
    fn a_folded_prefix_is_a_prefix_of_the_folded_name() {
        for name in ["ΣΊΣΥΦΟΣ", "Straße", "İstanbul", "ŁÓDŹ", "東京", "한국", "ﬃ.x_Y-9", "🌊a"] {
            let folded = FoldedName::of(name);
            for (end, _) in name.char_indices() {
                let beginning = FoldedName::of(&name[..end]);
                assert!(folded.as_str().starts_with(beginning.as_str()), "{name} {beginning}");
            }
        }
    }
}
