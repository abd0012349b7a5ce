//! An artist's embedded wallet: a Safe v1.4.1 account whose only owner is the operator Safe. The address follows from
//! the operator Safe and the artist's id, on every chain.

use alloy::primitives::{Address, U256};

use super::proxy::{Birth, FALLBACK_HANDLER, SINGLETON};
use crate::{chain::contracts::safe::SafeProxyFactory::createProxyWithNonceCall, model::ArtistId};

/// An embedded wallet, deployed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedWallet {
    /// The operator Safe, which owns it.
    pub owner: Address,
    salt_nonce: U256,
}

impl EmbeddedWallet {
    /// The wallet of `artist` with this operator Safe.
    pub fn new(operator_safe: Address, artist: ArtistId) -> Self {
        Self { owner: operator_safe, salt_nonce: U256::from(artist.as_u128()) }
    }

    /// The account with which the operator deploys wallets. No artist has its salt, since no artist's id is nil.
    pub(super) fn utility(operator_safe: Address) -> Self {
        Self { owner: operator_safe, salt_nonce: U256::ZERO }
    }

    /// The wallet's address, computed without any request.
    pub fn address(&self) -> Address {
        self.birth().address()
    }

    /// The call to [`PROXY_FACTORY`](super::PROXY_FACTORY) that deploys the account. Anyone may send it; it fails, and
    /// burns all gas that it gets, if the account is deployed.
    pub fn deployment(&self) -> createProxyWithNonceCall {
        self.birth().deployment()
    }

    fn birth(&self) -> Birth {
        let (owner, salt_nonce) = (self.owner, self.salt_nonce);
        Birth { singleton: SINGLETON, owner, fallback_handler: FALLBACK_HANDLER, salt_nonce }
    }
}
