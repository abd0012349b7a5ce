//! Mails of what others do with an artist's moments.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    artist::ArtistId,
    day::DAY,
    invalid::Invalid,
    schema::text_schema,
    text::{serde_as_text, words},
};

/// Least time between two mails to one artist, in seconds.
const SLOT: u64 = 15 * 60;

/// How often an artist is mailed of collects and comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewsMails {
    /// Within a quarter of an hour.
    Each,
    /// Once a day, if there is anything.
    #[default]
    Daily,
    /// Never.
    None,
}

words!(NewsMails, "must be each, daily or none", Each = "each", Daily = "daily", None = "none");
serde_as_text!(NewsMails);
text_schema!(
    NewsMails,
    "Mails of collects and comments: `each` within a quarter of an hour, `daily` together, or `none`.",
    "daily",
    enum_values = ["each", "daily", "none"],
);

impl NewsMails {
    /// When something that happened at `now` is mailed, both in Unix seconds; `None` for never. The same for all that
    /// happens until then. Each artist's day ends at a time of its own, so that not all are mailed at once.
    pub fn due(self, artist: ArtistId, now: u64) -> Option<u64> {
        match self {
            Self::Each => Some((now / SLOT + 1) * SLOT),
            Self::Daily => {
                let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(artist.to_string()).into();
                let end = u64::from(u32::from_be_bytes([a, b, c, d])) % DAY;
                Some((now + DAY - end) / DAY * DAY + end)
            }
            Self::None => None,
        }
    }
}

/// What a mail's link stops such mails with: the artist, and a secret that does nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct UnsubscribeToken {
    /// Whose mails it stops.
    pub artist: ArtistId,
    /// The secret.
    pub secret: Uuid,
}

text_schema!(
    UnsubscribeToken,
    "From the link of a mail.",
    "019a2b3c-4d5e-7f60-8172-839405a6b7c8.6c1f2f6e-6f0e-4b7e-9d8a-3f1c2b4d5e6f",
    pattern = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
);

impl FromStr for UnsubscribeToken {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let parts =
            text.split_once('.').and_then(|(artist, secret)| Some((artist.parse().ok()?, secret.parse().ok()?)));
        let token = parts.map(|(artist, secret)| Self { artist, secret });
        // UUIDs have other spellings, too.
        let token = token.filter(|token| token.to_string() == text);
        token.ok_or(Invalid("must be what the link of a mail has: open the link as it is"))
    }
}

impl fmt::Display for UnsubscribeToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.artist, self.secret)
    }
}

/// It is a secret and stays out of logs.
impl fmt::Debug for UnsubscribeToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UnsubscribeToken({}.…)", self.artist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTIST: &str = "019a2b3c-4d5e-7f60-8172-839405a6b7c8";

    #[test]
    fn mails_of_a_slot_are_one() {
        let artist = ARTIST.parse().unwrap();
        for now in [1_800_000_000, 1_800_000_001, 1_800_000_899] {
            assert_eq!(NewsMails::Each.due(artist, now), Some(1_800_000_900));
            assert_eq!(NewsMails::None.due(artist, now), None);
        }
        assert_eq!(NewsMails::Each.due(artist, 1_800_000_900), Some(1_800_001_800));
    }

    #[test]
    fn days_of_artists_end_at_their_own_times() {
        let artist: ArtistId = ARTIST.parse().unwrap();
        let other: ArtistId = ARTIST.replace('8', "9").parse().unwrap();
        let due = |artist, now| NewsMails::Daily.due(artist, now).unwrap();
        let end = due(artist, 1_800_000_000);
        assert!(end > 1_800_000_000 && end <= 1_800_000_000 + DAY, "{end}");
        assert_eq!((due(artist, end - 1), due(artist, end)), (end, end + DAY));
        assert_ne!(end % DAY, due(other, 1_800_000_000) % DAY);
    }

    #[test]
    fn token_is_read_as_it_is_written_and_stays_out_of_logs() {
        let text = format!("{ARTIST}.6c1f2f6e-6f0e-4b7e-9d8a-3f1c2b4d5e6f");
        let token: UnsubscribeToken = text.parse().unwrap();
        assert_eq!(token.to_string(), text);
        assert!(!format!("{token:?}").contains("6c1f2f6e"));
        for wrong in ["", ARTIST, &text[..72], &format!("{text}0"), &text.to_uppercase()] {
            assert!(wrong.parse::<UnsubscribeToken>().is_err(), "{wrong:?} was accepted");
        }
    }
}
