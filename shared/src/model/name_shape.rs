use std::{collections::BTreeSet, fmt};

use unicode_security::confusable_detection::skeleton;

use super::folded_name::FoldedName;

/// What a name looks like: names that are easily taken for one another have the same. The skeleton of Unicode's list of
/// confusables (<https://www.unicode.org/reports/tr39/>), in which `0` is `o`, `1` is `l` and `m` is `rn`; `i` is `l`, too,
/// and what separates letters is left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameShape(String);

/// What separates letters in skeletons of names.
const SEPARATORS: [char; 5] = ['_', '.', '-', '\'', '\u{b7}'];

impl NameShape {
    /// The shape of a name.
    pub fn of(name: &str) -> Self {
        let seen: String = skeleton(FoldedName::of(name).as_str()).collect();
        let kept = FoldedName::of(&seen).as_str().chars().filter(|c| !SEPARATORS.contains(c)).collect::<String>();
        Self(kept.replace('i', "l"))
    }

    /// The shape's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Names that artists would be taken for the service with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedNames(BTreeSet<String>);

impl ReservedNames {
    /// Reads words that are separated by commas.
    pub fn of(words: &str) -> Self {
        let shapes = words.split(',').map(|word| NameShape::of(word.trim()).0);
        Self(shapes.filter(|shape| !shape.is_empty()).collect())
    }

    /// Whether a name looks like one or more of the words and nothing else, except digits at its ends: `supp0rt`,
    /// `moments.support`, `admin_1`.
    pub fn cover(&self, name: &str) -> bool {
        // A digit can stand for a letter, or for nothing.
        [name, name.trim_matches(|c: char| c.is_ascii_digit())]
            .into_iter()
            .any(|name| self.make_up(NameShape::of(name).as_str()))
    }

    fn make_up(&self, shape: &str) -> bool {
        let mut reached = BTreeSet::from([0]);
        while let Some(at) = reached.pop_first() {
            let rest = shape.get(at..).unwrap_or_default();
            for word in self.0.iter().filter(|word| rest.starts_with(word.as_str())) {
                if word.len() == rest.len() {
                    return true;
                }
                reached.insert(at + word.len());
            }
        }
        false
    }
}

impl fmt::Display for NameShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_taken_for_one_another_have_one_shape() {
        for (one, other) in [
            ("alice", "a1ice"),
            ("alice", "Alice"),
            ("alice", "aIice"),
            ("alice", "al_ice"),
            ("moon", "m00n"),
            ("morning", "rnorning"),
            ("Ada.Lovelace", "adalovelace-"),
            ("Ada.Lovelace", "ada·love’lace"),
            ("support", "Supp0rt"),
        ] {
            assert_eq!(NameShape::of(one), NameShape::of(other), "{one} {other}");
        }
        for (one, other) in [("ada", "adam"), ("ada", "eda"), ("e", "é"), ("ёжик", "ежик"), ("东京", "東京")]
        {
            assert_ne!(NameShape::of(one), NameShape::of(other), "{one} {other}");
        }
        // What is kept of a name that was given up is its folded form.
        for name in ["ΣΊΣΥΦΟΣ", "Straße", "Ivan_0", "ǅungla"] {
            assert_eq!(NameShape::of(FoldedName::of(name).as_str()), NameShape::of(name), "{name}");
        }
    }

    #[test]
    fn reserved_words_cover_what_is_made_of_them_and_looks_like_them() {
        let reserved = ReservedNames::of("admin, moments,official,support,,_");
        for name in [
            "admin",
            "ADMIN",
            "adm1n",
            "Supp0rt",
            "mornents",
            "mo_ments",
            "moments.support",
            "Moments-Official",
            "admin_1",
            "1admin2026",
            "0fficialm0ments",
        ] {
            assert!(reserved.cover(name), "{name} isn't covered");
        }
        for name in ["adminas", "badmin", "moment", "momentsadm", "supporter", "123", "___", ""] {
            assert!(!reserved.cover(name), "{name} is covered");
        }
    }
}
