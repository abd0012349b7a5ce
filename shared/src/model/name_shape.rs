use std::fmt;

use unicode_security::confusable_detection::skeleton;

use super::folded_name::FoldedName;

/// What a name looks like: names that are easily taken for one another have the same. The skeleton of Unicode's list of
/// confusables (<https://www.unicode.org/reports/tr39/>), in which `0` is `o`, `1` is `l` and `m` is `rn`; `i` is `l`, too,
/// and `_`, `.` and `-` are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameShape(String);

impl NameShape {
    /// The shape of a name.
    pub fn of(name: &str) -> Self {
        let seen: String = skeleton(FoldedName::of(name).as_str()).collect();
        let kept = FoldedName::of(&seen).as_str().chars().filter(|c| !matches!(c, '_' | '.' | '-')).collect::<String>();
        Self(kept.replace('i', "l"))
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
}
