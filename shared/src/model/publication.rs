use super::{
    Address, Invalid, MetadataUri, Sale, Share,
    schema::{LINE, text_schema},
};

/// Most tokens that a moment without a limit can have: the protocol's mark of an open edition.
pub const OPEN_EDITION: u64 = u64::MAX;

/// A moment that is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMoment {
    /// Its metadata.
    pub uri: MetadataUri,
    /// Most tokens that can be minted; [`OPEN_EDITION`] for no limit.
    pub max_supply: u64,
    /// Who gets the protocol's reward for bringing it about; the zero address for nobody.
    pub create_referral: Address,
    /// How it is sold.
    pub sale: Sale,
    /// Who gets the proceeds and royalties, where neither a split nor the creator does.
    pub payout_recipient: Option<Address>,
    /// How many tokens the creator gets at once.
    pub mint_to_creator: u64,
}

/// What a collection is called: 1 to 200 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionName(pub String);

text_schema!(
    CollectionName,
    "What a collection is called: without control characters, kept without the spaces around it.",
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

/// Where new moments go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetCollection {
    /// A collection that is there.
    Existing(Address),
    /// A collection that is to be.
    New {
        /// Its name.
        name: String,
        /// Its metadata.
        uri: MetadataUri,
    },
}

/// Whom proceeds are shared among: at least two different recipients whose shares make up the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split(Vec<(Address, Share)>);

impl Split {
    /// A split among these. The order they are given in makes no difference.
    ///
    /// # Errors
    /// With fewer than two recipients, one of them twice, or shares that don't add up to exactly 100 percent.
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

    /// Recipients and their shares, in the order of the addresses.
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
    fn shares_must_make_up_the_whole_exactly() {
        for good in [&["50", "50"][..], &["33.3333", "33.3333", "33.3334"], &["0.0001", "99.9999"]] {
            assert!(split(good).is_ok(), "{good:?} was refused");
        }
        for bad in [&["100"][..], &[], &["33.33", "33.33", "33.33"], &["50", "50.0001"], &["100", "100"]] {
            assert!(split(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn recipients_are_different_and_in_order() {
        let (low, high) = ([1, 2]).map(|n| alloy::primitives::Address::with_last_byte(n).into()).into();
        let half: Share = "50".parse().unwrap();
        assert!(Split::new(vec![(low, half), (low, half)]).is_err());
        assert_eq!(Split::new(vec![(high, half), (low, half)]).unwrap().recipients()[0].0, low);
    }
}
