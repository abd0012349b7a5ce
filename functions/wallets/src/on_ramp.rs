//! A service that sells the chains' currencies.

use std::str::FromStr;

use shared::{
    config::{self, ConfigError},
    model::{Address, ChainId, Invalid, WebUrl},
};

/// Its address, with `{account}` and, as the case may be, `{chainId}` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnRamp(String);

const ACCOUNT: &str = "{account}";
const CHAIN: &str = "{chainId}";

impl OnRamp {
    /// Reads `ON_RAMP`; `None` where there is no such service.
    pub fn from_env() -> Result<Option<Self>, ConfigError> {
        let variable = config::variables::ON_RAMP;
        config::optional(variable).map(|_| config::parsed(variable)).transpose()
    }

    /// Where an account is topped up on a chain.
    pub fn address(&self, account: Address, chain: ChainId) -> String {
        self.0.replace(ACCOUNT, &account.to_string()).replace(CHAIN, &chain.to_string())
    }
}

impl FromStr for OnRamp {
    type Err = Invalid;

    fn from_str(given: &str) -> Result<Self, Invalid> {
        let filled = given.replace(ACCOUNT, "0").replace(CHAIN, "1");
        let is_address = filled.starts_with("https://") && filled.parse::<WebUrl>().is_ok();
        if !is_address || !given.contains(ACCOUNT) {
            return Err(Invalid("must be an https address with {account} in it"));
        }
        Ok(Self(given.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_and_chain_take_their_places() {
        let on_ramp: OnRamp = "https://pay.example/buy?to={account}&network={chainId}".parse().expect("an address");
        let account: Address = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().expect("an account");
        let address = on_ramp.address(account, ChainId(8453));
        assert_eq!(address, format!("https://pay.example/buy?to={account}&network=8453"));
    }

    #[test]
    fn address_that_names_no_account_is_refused() {
        for given in ["https://pay.example/", "http://pay.example/{account}", "pay.example/{account}", "{account}"] {
            assert_eq!(
                given.parse::<OnRamp>(),
                Err(Invalid("must be an https address with {account} in it")),
                "{given}"
            );
        }
    }
}
