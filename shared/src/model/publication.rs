use serde::{Deserialize, Serialize};

use super::{
    address::Address,
    amount::Share,
    invalid::Invalid,
    sale::Sale,
    schema::{LINE, text_schema, whole_schema},
    uri::MetadataUri,
};

/// Maximum supply of an open edition, which has no limit.
pub const OPEN_EDITION: u64 = u64::MAX;

/// A royalty on resale in hundredths of a percent: 0 to 5000, half of the price. More is a percentage that was meant
/// otherwise, and markets don't pay it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoyaltyBps(pub u32);

whole_schema!(RoyaltyBps, "Royalty on resale, in hundredths of a percent: 500 is 5 %.", 500, 0, 5_000_usize);

impl Default for RoyaltyBps {
    /// 10 %.
    fn default() -> Self {
        Self(1_000)
    }
}

impl std::str::FromStr for RoyaltyBps {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(bps @ 0..=5_000) => Ok(Self(bps)),
            _ => Err(Invalid("must be a whole number of hundredths of a percent, 5000 at most: 500 is 5 %")),
        }
    }
}

/// A moment to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMoment {
    /// Metadata URI.
    pub uri: MetadataUri,
    /// Most tokens that can be minted; [`OPEN_EDITION`] for no limit.
    pub max_supply: u64,
    /// Recipient of the protocol's create referral reward; the zero address for nobody.
    pub create_referral: Address,
    /// First sale of its tokens.
    pub sale: Sale,
    /// Recipient of proceeds and royalties if there is no split; the creator if `None`.
    pub payout_recipient: Option<Address>,
    /// Number of tokens minted to the creator at once.
    pub mint_to_creator: u64,
    /// Royalty of its tokens.
    #[serde(default)]
    pub royalty: RoyaltyBps,
}

/// A collection's name: 1 to 200 characters, trimmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionName(pub String);

text_schema!(
    CollectionName,
    "A collection's name: without control characters; spaces around it are removed.",
    "Weather diary",
    min_length = 1_usize,
    max_length = 200_usize,
    pattern = LINE,
);

impl std::str::FromStr for CollectionName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = text.trim();
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(Invalid("must be 1 to 200 characters long, without control characters"));
        }
        Ok(Self(name.to_owned()))
    }
}

/// The collection that new moments are created in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetCollection {
    /// An existing collection.
    Existing(Address),
    /// A collection to be created with them.
    New {
        /// Name of the collection.
        name: String,
        /// Metadata URI.
        uri: MetadataUri,
    },
}

/// A collection that an artist's moments go to unless the artist names another one. Its address follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCollection {
    /// Its name when it was first needed.
    pub name: String,
    /// Its metadata URI.
    pub uri: MetadataUri,
}

/// A division of proceeds: at least two different recipients, whose shares add up to exactly 100 percent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split(Vec<(Address, Share)>);

impl Split {
    /// A split among these recipients, given in any order.
    pub fn new(mut recipients: Vec<(Address, Share)>) -> Result<Self, Invalid> {
        recipients.sort();
        if recipients.len() < 2 {
            return Err(Invalid("must have at least 2 recipients"));
        }
        if recipients.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Invalid("must not name a recipient twice"));
        }
        let sum: u64 = recipients.iter().map(|(_, share)| u64::from(share.millionths())).sum();
        if sum != u64::from(Share::WHOLE) {
            return Err(Invalid("must add up to exactly 100 percent"));
        }
        Ok(Self(recipients))
    }

    /// Recipients and their shares, by ascending address.
    pub fn recipients(&self) -> &[(Address, Share)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(percentages: &[&str]) -> Result<Split, Invalid> {
        let recipient = |(index, percent): (usize, &&str)| {
            (alloy::primitives::Address::with_last_byte(9 - index as u8).into(), percent.parse().unwrap())
        };
        Split::new(percentages.iter().enumerate().map(recipient).collect())
    }

    #[test]
    fn shares_that_miss_100_percent_are_refused() {
        for good in [&["50", "50"][..], &["33.3333", "33.3333", "33.3334"], &["0.0001", "99.9999"]] {
            assert!(split(good).is_ok(), "{good:?} was refused");
        }
        for bad in [&["100"][..], &[], &["33.33", "33.33", "33.33"], &["50", "50.0001"], &["100", "100"]] {
            assert!(split(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn repeated_recipients_are_refused_and_others_sorted() {
        let (low, high) = ([1, 2]).map(|n| alloy::primitives::Address::with_last_byte(n).into()).into();
        let half: Share = "50".parse().unwrap();
        assert!(Split::new(vec![(low, half), (low, half)]).is_err());
        assert_eq!(Split::new(vec![(high, half), (low, half)]).unwrap().recipients()[0].0, low);
    }
}
