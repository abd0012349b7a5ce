//! The table of events, and their decoders in its order.

use alloy::{
    primitives::{Log, U256},
    sol_types::SolCall,
};
use shared::{
    chain::{
        EditionsAddresses,
        contracts::third_party::{
            Edition::{Minted, RolesUpdated, Transfer},
            EditionCreator::{Created, initializeCall},
            EditionMetadata::BaseURISet,
        },
    },
    model::Royalty,
};

use crate::{
    event::{self, Fact, NewCollection},
    protocol::reader::{IndexedEvent, of_collections, of_collections_among_many, of_contracts},
};

/// The role that makes an account an admin.
const ADMIN_ROLE: U256 = U256::from_limbs([1, 0, 0, 0]);

/// Every event that is indexed, once.
pub fn table(known: EditionsAddresses) -> Vec<IndexedEvent> {
    vec![
        of_contracts::<Created>(&[known.creator], collection_created),
        of_contracts::<BaseURISet>(&[known.metadata], tier_uri_set),
        of_collections::<Minted>(minted),
        of_collections::<RolesUpdated>(permissions_set),
        of_collections_among_many::<Transfer>(transferred),
    ]
}

fn collection_created(log: Log<Created>) -> Option<Fact> {
    let created = log.data;
    let setup = created.initData.get(4..).and_then(|arguments| initializeCall::abi_decode_raw(arguments).ok());
    let setup = setup.map(|call| call.init);
    let royalty = setup.as_ref().map(|of| Royalty { bps: of.royaltyBPS.into(), recipient: of.fundingRecipient.into() });
    let (name, uri) = setup.map(|setup| (setup.name, setup.contractURI)).unwrap_or_default();
    let (address, creator) = (created.edition, created.owner);
    let admins = vec![creator];
    Some(Fact::CollectionCreated(NewCollection { address, creator, sender: creator, name, uri, royalty, admins }))
}

fn tier_uri_set(log: Log<BaseURISet>) -> Option<Fact> {
    Some(Fact::TierUriSet(event::TierUriSet { collection: log.data.edition, tier: log.data.tier, uri: log.data.uri }))
}

fn minted(log: Log<Minted>) -> Option<Fact> {
    let minted = log.data;
    let (tier, to, quantity) = (minted.tier, minted.to, minted.quantity.saturating_to());
    Some(Fact::EditionMinted(event::EditionMinted { tier, to, quantity, first_token: minted.fromTokenId }))
}

fn permissions_set(log: Log<RolesUpdated>) -> Option<Fact> {
    let set = log.data;
    let is_admin = set.roles & ADMIN_ROLE != U256::ZERO;
    Some(Fact::PermissionsSet(event::PermissionsSet {
        token: U256::ZERO,
        account: set.user,
        mask: set.roles,
        is_admin,
    }))
}

fn transferred(log: Log<Transfer>) -> Option<Fact> {
    let moved = log.data;
    // `Minted` covers mints.
    (!moved.from.is_zero()).then(|| {
        Fact::Transferred(event::Transferred {
            operator: moved.from,
            from: moved.from,
            to: moved.to,
            tokens: vec![(moved.tokenId, U256::ONE)],
        })
    })
}
