//! Who sent a collector, and gets the protocol's reward for it.

use shared::{
    config::{self, ConfigError},
    http::ApiError,
    model::{Address, ArtistName, CheckedAddress, Invalid, Recipient},
    store::artist::Artists,
};

/// The referrer of collects for which nobody is named.
#[derive(Clone, Copy, Debug)]
pub struct OwnReferral(Option<Address>);

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
        named: Option<&Recipient>,
        collector: Address,
    ) -> Result<Option<alloy::primitives::Address>, ApiError> {
        let Some(named) = named else {
            return Ok(self.0.filter(|own| *own != collector).map(Into::into));
        };
        let refused = |words| Err(ApiError::invalid_field("referral", words));
        let Some(account) = artists.account_of(named).await? else {
            return refused("is not the username of an artist");
        };
        if artists.accounts(&ArtistName::Account(collector)).await?.contains(&account) {
            return refused("must be somebody else's");
        }
        Ok(Some(account.into()))
    }
}
