use std::{fmt, str::FromStr};

use unicode_security::{
    GeneralSecurityProfile, MixedScript, RestrictionLevel, RestrictionLevelDetection, confusable_detection::skeleton,
};

use super::{cid::Cid, invalid::Invalid, schema::text_schema};

/// An artist's public name: 3 to 32 letters, digits, `_`, `.` and `-`, kept as given. The letters are of one alphabet,
/// and the name isn't confusable with one in Latin letters (Unicode Technical Standard 39).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Username(String);

/// An artist's text about themselves: up to 500 characters on any number of lines, kept as given. May be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bio(String);

/// An artist's name at another service: up to 64 letters, digits, `_`, `.` and `-`. May be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocialUsername(String);

/// An artist's picture: the URI of an uploaded file, or an empty text for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AvatarUri(pub Option<Cid>);

text_schema!(
    AvatarUri,
    "URI of an uploaded picture, as completing the upload gives it; empty for none.",
    "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    pattern = "^(ipfs://baf(kr|yb)ei[a-h][a-z2-7]{50}[aeimquy4])?$",
);
text_schema!(
    Username,
    "An artist's public name: letters and digits of one alphabet, `_`, `.` and `-`. In another alphabet it must not \
     look like a name in Latin letters.",
    "ada.lovelace",
    min_length = 3_usize,
    max_length = 32_usize,
    pattern = r"^[^\x00-,/:-@\[-^`{-\x9f\s]{3,32}$",
);
text_schema!(
    Bio,
    "An artist's text about themselves, on any number of lines.",
    "I keep a diary of the weather.",
    max_length = 500_usize,
    pattern = r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$",
);
text_schema!(
    SocialUsername,
    "An artist's name at another service, without an `@`.",
    "ada",
    max_length = 64_usize,
    pattern = "^[A-Za-z0-9_.-]{0,64}$",
);

impl Username {
    /// Most characters of a name.
    pub const MOST_CHARACTERS: usize = 32;
}

impl FromStr for Username {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_allowed = |c: char| is_plain(c) || (!c.is_ascii() && c.identifier_allowed());
        if !(3..=Self::MOST_CHARACTERS).contains(&text.chars().count())
            || !text.chars().all(is_allowed)
            || has_stray_marks(text)
        {
            return Err(Invalid("must be 3 to 32 letters, digits, \"_\", \".\" and \"-\""));
        }
        if text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x")) {
            return Err(Invalid("must not begin with 0x, as addresses do"));
        }
        if !text.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
            return Err(Invalid("must not mix letters of different alphabets"));
        }
        // Accents make no difference between alphabets: `ВЁ` looks like `BË`.
        let is_latin = text.resolve_script_set().base.iter().any(|script| script.short_name() == "Latn");
        let seems_latin = |c: char| c.is_ascii() || (!is_latin && is_mark(c));
        if !text.is_ascii() && skeleton(text).all(seems_latin) {
            return Err(Invalid("must not look like a name in Latin letters: write it in them"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for Bio {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() > 500 || text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(Invalid("must be at most 500 characters long, without control characters but line breaks"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for AvatarUri {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let cid = Cid::in_uri(text);
        if cid.is_none() && !text.is_empty() {
            return Err(Invalid("must be the URI of an uploaded picture, such as ipfs://bafkrei…, or empty"));
        }
        Ok(Self(cid))
    }
}

impl FromStr for SocialUsername {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.len() > 64 || !text.chars().all(is_plain) {
            return Err(Invalid("must be at most 64 letters, digits, \"_\", \".\" and \"-\", without an \"@\""));
        }
        Ok(Self(text.to_owned()))
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-')
}

/// Whether combining marks have no letter before them, or stack so high that they cover other lines.
fn has_stray_marks(text: &str) -> bool {
    let mut in_a_row = 3;
    text.chars().any(|c| {
        in_a_row = if is_mark(c) { in_a_row + 1 } else { 0 };
        in_a_row > 2
    })
}

fn is_mark(character: char) -> bool {
    !character.is_ascii() && !character.is_alphanumeric()
}

macro_rules! text {
    ($($type:ident),*) => {$(
        impl $type {
            /// The text as given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    )*};
}
text!(Username, Bio, SocialUsername);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_alphabet_are_kept_as_given() {
        let longest = "x".repeat(32);
        for text in [
            "ada",
            "0_x",
            "Ada_Lovelace.1815-",
            "___",
            "123",
            &longest,
            "Žižka",
            "сосна",
            "नमस्ते",
            "東京タワー",
            "한국어",
            "e\u{301}ta",
        ] {
            assert_eq!(text.parse::<Username>().map(|name| name.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn invalid_usernames_are_refused() {
        let long = "x".repeat(33);
        let piled = format!("e{}", "\u{301}".repeat(3));
        for text in [
            "",
            "ad",
            &long,
            "ada lovelace",
            " ada",
            "ada\n",
            "ada\0x",
            "<b>ada</b>",
            "ada@home",
            "ada/..",
            "ad😀",
            "a\u{200b}da",
            "a\u{200c}da",
            "a\u{200d}da",
            "ada\u{200e}",
            "\u{202e}ada",
            "\u{2066}ada\u{2069}",
            "a\u{2060}da",
            "\u{feff}ada",
            "a\u{ad}da",
            "ａｄａ",
            "𝐚𝐝𝐚",
            &piled,
            "\u{301}eta",
            "0x1",
            "0Xada",
            "0x9965507d1a55bcc2695c58ba16fb37",
        ] {
            assert!(text.parse::<Username>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn names_confusable_with_latin_ones_are_refused() {
        for text in ["аda", "асе", "аdа", "раураl", "o\u{3bf}o", "ВЁАТ", "рёс"] {
            assert!(text.parse::<Username>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn avatars_are_uploaded_files_or_none() {
        let cid = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
        let parsed = format!("ipfs://{cid}").parse::<AvatarUri>();
        assert_eq!(parsed.map(|avatar| avatar.0.map(|cid| cid.to_string())), Ok(Some(cid.to_owned())));
        assert_eq!("".parse(), Ok(AvatarUri(None)));
        for text in [cid, "ipfs://", &format!("ipfs://{cid}/1.png"), "https://a.example/x.png", "javascript:alert(1)"] {
            assert!(text.parse::<AvatarUri>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn bios_and_social_usernames_have_bounds() {
        for text in ["", "<script>alert(1)</script>", "two\nlines", "🎨 & \"more\"", &"é".repeat(500)] {
            assert_eq!(text.parse::<Bio>().map(|bio| bio.to_string()).as_deref(), Ok(text));
        }
        for text in ["a\0b", "a\rb", "\u{7f}", "\u{85}", &"x".repeat(501)] {
            assert!(text.parse::<Bio>().is_err(), "{text:?} was accepted");
        }
        for text in ["", "a", "ada.lovelace_1815-x", &"x".repeat(64)] {
            assert!(text.parse::<SocialUsername>().is_ok(), "{text:?} was refused");
        }
        for text in ["@ada", "a b", "../x", "a/b", "é", &"x".repeat(65)] {
            assert!(text.parse::<SocialUsername>().is_err(), "{text:?} was accepted");
        }
    }
}
