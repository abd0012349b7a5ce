//! Who sent a collector, and gets the protocol's reward for it.

use std::str::FromStr;

use shared::{
    config::{self, ConfigError},
    http::{ApiError, Scalar},
    model::{Address, ArtistName, CheckedAddress, Invalid},
    store::artist::Artists,
};

/// A named referrer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer(ArtistName);

/// The referrer of collects for which nobody is named.
#[derive(Clone, Copy, Debug)]
pub struct OwnReferral(Option<Address>);

impl Scalar for Referrer {}

impl FromStr for Referrer {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse()? {
            // It gets money.
            ArtistName::Account(_) => text.parse().map(|CheckedAddress(account)| Self(ArtistName::Account(account))),
            username @ ArtistName::Username(_) => Ok(Self(username)),
        }
    }
}

impl OwnReferral {
    /// Reads `REFERRAL`.
    pub fn from_env() -> Result<Self, ConfigError> {
        let given = config::optional(config::variables::REFERRAL).filter(|given| !given.is_empty());
        let Some(given) = given else { return Ok(Self(None)) };
        let CheckedAddress(account) =
            given.parse().map_err(|Invalid(words)| ConfigError::new(config::variables::REFERRAL, words))?;
        Ok(Self(Some(account)))
    }

    /// The account that is rewarded for a collect by `collector`: the named one, else the operator's. At most four reads.
    ///
    /// # Errors
    /// 400 for an unknown username, and for one of the collector's own wallets.
    pub async fn rewarded(
        self,
        artists: &Artists,
        named: Option<&Referrer>,
        collector: Address,
    ) -> Result<Option<alloy::primitives::Address>, ApiError> {
        let Some(Referrer(named)) = named else {
            return Ok(self.0.filter(|own| *own != collector).map(Into::into));
        };
        let refused = |words| Err(ApiError::invalid_field("referral", words));
        let account = match named {
            ArtistName::Account(account) => *account,
            ArtistName::Username(_) => match artists.profile_named(named).await? {
                Some(profile) => profile.artist.embedded_wallet,
                None => return refused("is not the username of an artist"),
            },
        };
        if artists.accounts(&ArtistName::Account(collector)).await?.contains(&account) {
            return refused("must be somebody else's");
        }
        Ok(Some(account.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn referrer_is_a_username_or_an_address_that_was_not_mistyped() {
        let right = "0x540C18B7f99b3b599c6FeB99964498931c211858";
        for text in ["mira", right, &right.to_lowercase()] {
            assert!(text.parse::<Referrer>().is_ok(), "{text} was refused");
        }
        for text in ["", "a", "0x540c18B7f99b3b599c6FeB99964498931c211858", &format!("0x{}", "0".repeat(40))] {
            assert!(text.parse::<Referrer>().is_err(), "{text} was accepted");
        }
    }
}
