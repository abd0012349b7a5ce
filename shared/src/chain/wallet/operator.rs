//! The operator's accounts: the operator Safe, which owns every artist's account, and the utility Safe, which deploys
//! them. The lanes own the operator Safe. Only the guardian, its birth owner and module, may change that.

use alloy::primitives::{Address, U256};

use super::{
    call::Call,
    proxy::{Birth, OPERATOR_SINGLETON, PROXY_FACTORY},
    safe::EmbeddedWallet,
};
use crate::{
    config::{self, ConfigError},
    model,
};

/// The operator's accounts, deployed or not. Their addresses are the same on every chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorAccount {
    /// The operator Safe.
    pub safe: Address,
    /// The utility Safe, owned by the operator Safe.
    pub utility: Address,
}

impl OperatorAccount {
    /// Reads `OPERATOR_SAFE`, the operator Safe's address.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed::<model::Address>(config::variables::OPERATOR_SAFE).map(|safe| Self::at(safe.into()))
    }

    /// The accounts of the operator Safe at this address.
    pub fn at(safe: Address) -> Self {
        Self { safe, utility: EmbeddedWallet::utility(safe).address() }
    }

    /// The accounts that [`OperatorAccount::creation`] creates. Their birth owner decides the address, and can have them
    /// deployed on any chain: it is the guardian and never a lane.
    pub fn born_of(guardian: Address) -> Self {
        Self::at(birth(guardian).address())
    }

    /// Deploys both accounts, the guardian as the operator Safe's only owner. Fails where one is deployed.
    pub fn creation(guardian: Address) -> [Call; 2] {
        [birth(guardian).call(), Self::born_of(guardian).utility_creation()]
    }

    /// The call that deploys the utility Safe. Anyone may make it; it fails if the account is deployed.
    pub fn utility_creation(&self) -> Call {
        Call::new(PROXY_FACTORY, &EmbeddedWallet::utility(self.safe).deployment())
    }
}

/// Without a fallback handler: with one, a lane's signature (ERC-1271) would approve transactions past the guard.
fn birth(guardian: Address) -> Birth {
    Birth { singleton: OPERATOR_SINGLETON, owner: guardian, fallback_handler: Address::ZERO, salt_nonce: U256::ZERO }
}

#[cfg(test)]
mod tests {
    use alloy::sol_types::SolCall;

    use super::*;
    use crate::chain::contracts::safe::{Safe, SafeProxyFactory::createProxyWithNonceCall};

    #[test]
    fn accounts_differ_by_guardian_and_belong_to_it() {
        let [one, other] = [1, 2].map(|byte| OperatorAccount::born_of(Address::repeat_byte(byte)));
        let all = [one.safe, one.utility, other.safe, other.utility];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert_eq!(OperatorAccount::at(one.safe), one);

        let [safe, utility] = OperatorAccount::creation(Address::repeat_byte(1)).map(|call| {
            assert_eq!(call.target, PROXY_FACTORY);
            let creation = createProxyWithNonceCall::abi_decode(&call.data).unwrap();
            Safe::setupCall::abi_decode(&creation.initializer).unwrap()
        });
        assert_eq!((safe._owners, safe.fallbackHandler), (vec![Address::repeat_byte(1)], Address::ZERO));
        assert_eq!(utility._owners, [one.safe]);
    }
}
