use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    cid::Cid,
    comment::CommentId,
    invalid::Invalid,
    moment::{ChainId, MomentRef},
    schema::text_schema,
    text::{display_as_field, serde_as_text, words},
};

/// What a report or an operator's decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A moment.
    Moment(MomentRef),
    /// A collection.
    Collection(ChainId, Address),
    /// An artist, by an account or a wallet.
    Artist(Address),
    /// A file.
    File(Cid),
    /// A comment.
    Comment(ChainId, CommentId),
}

/// Why something is reported, or taken out of sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Somebody else's work.
    Copyright,
    /// What the law forbids.
    Illegal,
    /// Passes for somebody else.
    Impersonation,
    /// Advertising, or the same again and again.
    Spam,
    /// Anything else.
    Other,
}

impl Reason {
    /// All of them.
    pub const EVERY: [Self; 5] = [Self::Copyright, Self::Illegal, Self::Impersonation, Self::Spam, Self::Other];
}

words!(
    Reason,
    "must be copyright, illegal, impersonation, spam or other",
    Copyright = "copyright",
    Illegal = "illegal",
    Impersonation = "impersonation",
    Spam = "spam",
    Other = "other"
);
serde_as_text!(Reason);
text_schema!(Reason, "Why.", "copyright", enum_values = ["copyright", "illegal", "impersonation", "spam", "other"]);

/// What an operator does about a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is out of sight.
    #[default]
    Hide,
    /// It is out of sight, and its files are gone.
    Remove,
    /// The artist signs in, exports and withdraws, and publishes nothing.
    Suspend,
}

words!(Action, "must be hide, remove or suspend", Hide = "hide", Remove = "remove", Suspend = "suspend");
serde_as_text!(Action);
text_schema!(Action, "What was done.", "hide", enum_values = ["hide", "remove", "suspend"]);

/// Why an artist publishes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// Why.
    pub reason: Reason,
    /// When it ends by itself, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

impl Suspension {
    /// Whether it holds at a time, in Unix seconds.
    pub fn holds_at(self, now: u64) -> bool {
        self.until.is_none_or(|end| now < end)
    }
}

/// What somebody says besides: 1 to 2,000 characters, of controls only line breaks and tabs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement(String);

const MAX_STATEMENT: usize = 2_000;

impl FromStr for Statement {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_STATEMENT {
            return Err(Invalid("must have 1 to 2000 characters"));
        }
        if text.chars().any(|character| character.is_control() && !"\n\r\t".contains(character)) {
            return Err(Invalid("must have no control characters other than line breaks and tabs"));
        }
        Ok(Self(text.to_owned()))
    }
}

display_as_field!(Statement);
serde_as_text!(Statement);
text_schema!(
    Statement,
    "What somebody says besides.",
    "I drew this in 2019, and it is on my site.",
    min_length = 1,
    max_length = MAX_STATEMENT,
    pattern =
        r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$",
);

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moment(moment) => write!(formatter, "moment#{moment}"),
            Self::Collection(chain, collection) => write!(formatter, "collection#{chain}#{collection}"),
            Self::Artist(account) => write!(formatter, "artist#{account}"),
            Self::File(cid) => write!(formatter, "cid#{cid}"),
            Self::Comment(chain, comment) => write!(formatter, "comment#{chain}#{comment}"),
        }
    }
}

impl FromStr for Subject {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.split('#').collect::<Vec<_>>()[..] {
            ["moment", chain, collection, token] => Ok(Self::Moment(MomentRef {
                chain: chain.parse()?,
                collection: collection.parse()?,
                token: token.parse()?,
            })),
            ["collection", chain, collection] => Ok(Self::Collection(chain.parse()?, collection.parse()?)),
            ["artist", account] => account.parse().map(Self::Artist),
            ["cid", cid] => cid.parse().map(Self::File),
            ["comment", chain, comment] => Ok(Self::Comment(chain.parse()?, comment.parse()?)),
            _ => Err(Invalid("must be a subject, such as moment#8453#0x…#1")),
        }
    }
}

serde_as_text!(Subject);

impl Subject {
    /// The chain it is on; `None` for what is on none.
    pub fn chain(&self) -> Option<ChainId> {
        match self {
            Self::Moment(moment) => Some(moment.chain),
            Self::Collection(chain, _) | Self::Comment(chain, _) => Some(*chain),
            Self::Artist(_) | Self::File(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_read_as_they_are_printed() {
        let account = "0x540c18b7f99b3b599c6feb99964498931c211858";
        let comment = format!("0x{}", "7c".repeat(32));
        for text in [
            format!("moment#8453#{account}#7"),
            format!("collection#1#{account}"),
            format!("artist#{account}"),
            "cid#bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy".to_owned(),
            format!("comment#8453#{comment}"),
        ] {
            assert_eq!(text.parse::<Subject>().map(|subject| subject.to_string()), Ok(text));
        }
        for text in ["", "moment", "moment#8453#0x1#1", "artist#ada", "song#1"] {
            assert!(text.parse::<Subject>().is_err(), "{text}");
        }
    }

    #[test]
    fn suspensions_end_by_themselves() {
        let suspension = |until| Suspension { reason: Reason::Spam, until };
        assert!(suspension(None).holds_at(u64::MAX) && suspension(Some(8)).holds_at(7));
        assert!(!suspension(Some(8)).holds_at(8));
    }

    #[test]
    fn statements_have_something_to_say_and_an_end() {
        assert_eq!(" Mine. ".parse::<Statement>().map(|text| text.to_string()).as_deref(), Ok("Mine."));
        assert!("It is\r\nmine.".parse::<Statement>().is_ok() && "\u{1b}[2J".parse::<Statement>().is_err());
        assert!(" ".parse::<Statement>().is_err() && "x".repeat(2_001).parse::<Statement>().is_err());
    }
}
