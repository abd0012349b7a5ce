//! An artist's embedded wallet: a Safe that the operator Safe owns. Its address follows from that and the artist's id.

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

    /// The call that deploys the account. Anyone may send it; if the account is there, it fails and burns all gas.
    pub fn deployment(&self) -> createProxyWithNonceCall {
        self.birth().deployment()
    }

    fn birth(&self) -> Birth {
        let (owner, salt_nonce) = (self.owner, self.salt_nonce);
        Birth { singleton: SINGLETON, owner, fallback_handler: FALLBACK_HANDLER, salt_nonce }
    }
}
