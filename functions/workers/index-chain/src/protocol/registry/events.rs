//! The table of events, and their decoders in its order.

use alloy::primitives::{Address, Log, U256};
use shared::{
    chain::{
        RegistryAddresses,
        contracts::{
            native::Creator1155::{TransferBatch, TransferSingle, URI},
            third_party::{
                RegistryCollection::{
                    ContractPermissionsUpdated, TokenCreated, TokenPermissionsUpdated, TokenPurchased,
                },
                RegistryController::MintConfigurationUpdated,
                RegistryFactory::CRContractCreated,
            },
        },
    },
    model::{Amount, MomentSale, OPEN_EDITION, SaleType},
};

use crate::{
    event::{self, Fact, NewCollection, Purchase},
    protocol::{
        erc1155,
        reader::{IndexedEvent, of_collections, of_contracts},
    },
};

/// Bits of an account's scope that make it an admin: owner, artist and, of a whole collection, manager.
const COLLECTION_ADMIN: U256 = U256::from_limbs([1 | 2 | 4, 0, 0, 0]);
const TOKEN_ADMIN: U256 = U256::from_limbs([1 | 2, 0, 0, 0]);

/// Every event that is indexed, once.
pub fn table(known: RegistryAddresses, currency: Address) -> Vec<IndexedEvent> {
    let RegistryAddresses { factory, controller } = known;
    vec![
        of_contracts::<CRContractCreated>(&[factory], collection_created),
        of_collections::<TokenCreated>(moment_created),
        of_collections::<URI>(erc1155::uri),
        of_collections::<ContractPermissionsUpdated>(collection_permissions_set),
        of_collections::<TokenPermissionsUpdated>(token_permissions_set),
        of_collections::<TransferSingle>(erc1155::transfer_single),
        of_collections::<TransferBatch>(erc1155::transfer_batch),
        of_contracts::<MintConfigurationUpdated>(&[controller], move |log| sale_set(log, currency)),
        of_collections::<TokenPurchased>(move |log| purchased(log, controller)),
    ]
}

fn collection_created(log: Log<CRContractCreated>) -> Option<Fact> {
    let created = log.data;
    Some(Fact::CollectionCreated(NewCollection {
        address: created._contractAddress,
        creator: created._creator,
        sender: created._creator,
        name: String::new(),
        uri: String::new(),
        royalty: None,
        // No event makes the creator an admin.
        admins: vec![created._creator],
    }))
}

fn moment_created(log: Log<TokenCreated>) -> Option<Fact> {
    let created = log.data;
    Some(Fact::MomentCreated(event::MomentCreated {
        token: created._tokenId,
        creator: created._artist,
        is_named: true,
        uri: created._uri,
        max_supply: U256::from(OPEN_EDITION),
    }))
}

fn collection_permissions_set(log: Log<ContractPermissionsUpdated>) -> Option<Fact> {
    Some(permissions(U256::ZERO, log.data.user, log.data.authScope, COLLECTION_ADMIN))
}

fn token_permissions_set(log: Log<TokenPermissionsUpdated>) -> Option<Fact> {
    Some(permissions(log.data.tokenId, log.data.user, log.data.authScope, TOKEN_ADMIN))
}

fn permissions(token: U256, account: Address, mask: U256, admin: U256) -> Fact {
    Fact::PermissionsSet(event::PermissionsSet { token, account, mask, is_admin: mask & admin != U256::ZERO })
}

fn sale_set(log: Log<MintConfigurationUpdated>, currency: Address) -> Option<Fact> {
    let set = log.data;
    let recipient = set.configuration.fundsRecipient;
    let sale = MomentSale {
        strategy: SaleType::Erc20,
        price: Amount(U256::from(set.configuration.price)),
        currency: currency.into(),
        start: 0,
        end: u64::MAX,
        max_per_address: 0,
        funds_recipient: (!recipient.is_zero()).then(|| recipient.into()),
        root: None,
        set_in: (0, 0),
    };
    Some(Fact::SaleSet(event::SaleSet { collection: set.releaseContract, token: set.tokenId, sale, is_reset: false }))
}

fn purchased(log: Log<TokenPurchased>, controller: Address) -> Option<Fact> {
    Some(Fact::Purchased(Purchase {
        collection: log.address,
        token: log.data.tokenId,
        quantity: Some(log.data.amount),
        seller: controller,
        value: U256::ZERO,
        fee: None,
        taken: U256::ZERO,
        referral: None,
    }))
}
