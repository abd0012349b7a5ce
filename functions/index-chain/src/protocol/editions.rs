//! The editions protocol: collections of numbered tokens, each of which is a moment of its own. Their metadata follows
//! from their tier and from which of the tier's they are.

use alloy::{
    primitives::{Address, B256, Log, U256},
    sol_types::{SolCall, SolEvent},
};
use shared::{
    chain::{
        EditionsAddresses,
        other_protocols::{
            Edition::{Minted, RolesUpdated, Transfer},
            EditionCreator::{Created, initializeCall},
            EditionMetadata::BaseURISet,
        },
    },
    model::{Protocol, Royalty},
};

use super::ProtocolReader;
use crate::event::{Fact, NewCollection};

/// The role that makes an account an admin.
const ADMIN_ROLE: U256 = U256::from_limbs([1, 0, 0, 0]);

/// The editions protocol on one chain.
pub struct Editions {
    addresses: EditionsAddresses,
}

impl Editions {
    /// The protocol with its contracts at these addresses.
    pub fn new(addresses: EditionsAddresses) -> Self {
        Self { addresses }
    }
}

impl ProtocolReader for Editions {
    fn protocol(&self) -> Protocol {
        Protocol::Editions
    }

    fn contracts(&self) -> Vec<Address> {
        vec![self.addresses.creator, self.addresses.metadata]
    }

    fn topics(&self) -> Vec<B256> {
        vec![
            Created::SIGNATURE_HASH,
            BaseURISet::SIGNATURE_HASH,
            Minted::SIGNATURE_HASH,
            RolesUpdated::SIGNATURE_HASH,
            Transfer::SIGNATURE_HASH,
        ]
    }

    fn read(&self, log: &Log) -> Option<Fact> {
        match log.address {
            it if it == self.addresses.creator => created(log),
            it if it == self.addresses.metadata => {
                let set = BaseURISet::decode_log(log).ok()?.data;
                Some(Fact::TierUriSet { collection: set.edition, tier: set.tier, uri: set.uri })
            }
            _ => collection(log),
        }
    }

    fn factories(&self) -> Vec<Address> {
        vec![self.addresses.creator]
    }
}

fn created(log: &Log) -> Option<Fact> {
    let created = Created::decode_log(log).ok()?.data;
    let setup = created.initData.get(4..).and_then(|arguments| initializeCall::abi_decode_raw(arguments).ok());
    let setup = setup.map(|call| call.init);
    let royalty = setup.as_ref().map(|of| Royalty { bps: of.royaltyBPS.into(), recipient: of.fundingRecipient.into() });
    let (name, uri) = setup.map(|setup| (setup.name, setup.contractURI)).unwrap_or_default();
    let (address, creator) = (created.edition, created.owner);
    Some(Fact::CollectionCreated(NewCollection { address, creator, name, uri, royalty, admins: vec![creator] }))
}

fn collection(log: &Log) -> Option<Fact> {
    match *log.topics().first()? {
        Minted::SIGNATURE_HASH => {
            let minted = Minted::decode_log(log).ok()?.data;
            let (tier, to, quantity) = (minted.tier, minted.to, minted.quantity.saturating_to());
            Some(Fact::EditionMinted { tier, to, quantity, first_token: minted.fromTokenId })
        }
        RolesUpdated::SIGNATURE_HASH => {
            let set = RolesUpdated::decode_log(log).ok()?.data;
            let is_admin = set.roles & ADMIN_ROLE != U256::ZERO;
            Some(Fact::PermissionsSet { token: U256::ZERO, account: set.user, mask: set.roles, is_admin })
        }
        Transfer::SIGNATURE_HASH => {
            let moved = Transfer::decode_log(log).ok()?.data;
            // What is minted is told by an event of its own.
            (!moved.from.is_zero()).then(|| Fact::Transferred {
                operator: moved.from,
                from: moved.from,
                to: moved.to,
                tokens: vec![(moved.tokenId, U256::ONE)],
            })
        }
        _ => None,
    }
}
