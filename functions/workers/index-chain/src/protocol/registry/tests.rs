use alloy::primitives::{Address, B256, U256, Uint};
use shared::{
    chain::contracts::{
        native::Creator1155::{TransferBatch, TransferSingle, URI},
        third_party::{
            RegistryCollection::{ContractPermissionsUpdated, TokenCreated, TokenPermissionsUpdated, TokenPurchased},
            RegistryController::{MintConfiguration, MintConfigurationUpdated},
            RegistryFactory::CRContractCreated,
        },
    },
    model::{Amount, MomentSale, OPEN_EDITION, Protocol, SaleType},
};

use crate::{
    event::{self, Fact, NewCollection, Purchase},
    protocol::tests::{Sample, assert_table, chain, sample},
};

const COLLECTION: Address = Address::repeat_byte(0xc0);
const TOKEN: U256 = U256::from_limbs([7, 0, 0, 0]);
const ALICE: Address = Address::repeat_byte(0xa1);
const BOB: Address = Address::repeat_byte(0xb0);

fn permissions(token: U256, scope: u64, is_admin: bool) -> Fact {
    Fact::PermissionsSet(event::PermissionsSet { token, account: ALICE, mask: U256::from(scope), is_admin })
}

fn permission_samples() -> Vec<Sample> {
    let of_collection = |scope: u64, is_admin| {
        let event = ContractPermissionsUpdated { user: ALICE, authScope: U256::from(scope) };
        sample(COLLECTION, event, permissions(U256::ZERO, scope, is_admin))
    };
    let of_token = |scope: u64, is_admin| {
        let event = TokenPermissionsUpdated { tokenId: TOKEN, user: ALICE, authScope: U256::from(scope) };
        sample(COLLECTION, event, permissions(TOKEN, scope, is_admin))
    };
    // Only a whole collection has managers.
    vec![of_collection(4, true), of_collection(8, false), of_token(2, true), of_token(4, false)]
}

fn samples() -> Vec<Sample> {
    let known = chain().addresses;
    let registry = known.registry.unwrap();
    let created = NewCollection {
        address: COLLECTION,
        creator: ALICE,
        sender: ALICE,
        name: String::new(),
        uri: String::new(),
        royalty: None,
        admins: vec![ALICE],
    };
    let token_created = TokenCreated {
        _tokenId: TOKEN,
        _contract: COLLECTION,
        _artist: ALICE,
        _uri: "ar://7".to_owned(),
        _contentHash: B256::ZERO,
    };
    let sale = MomentSale {
        strategy: SaleType::Erc20,
        price: Amount(U256::from(5)),
        currency: known.usdc.into(),
        start: 0,
        end: u64::MAX,
        max_per_address: 0,
        funds_recipient: Some(BOB.into()),
        root: None,
        set_in: (0, 0),
    };
    let configuration = MintConfiguration { price: Uint::from(5), fundsRecipient: BOB };
    let bought = TokenPurchased {
        tokenId: TOKEN,
        amount: U256::from(3),
        buyer: BOB,
        referrer0: Address::ZERO,
        referrer1: Address::ZERO,
    };
    let mut samples = vec![
        sample(
            registry.factory,
            CRContractCreated { _contractAddress: COLLECTION, _creator: ALICE },
            Fact::CollectionCreated(created),
        ),
        sample(
            COLLECTION,
            token_created,
            Fact::MomentCreated(event::MomentCreated {
                token: TOKEN,
                creator: ALICE,
                is_named: true,
                uri: "ar://7".to_owned(),
                max_supply: U256::from(OPEN_EDITION),
            }),
        ),
        sample(
            COLLECTION,
            URI { value: "ar://8".to_owned(), id: TOKEN },
            Fact::UriSet(event::UriSet { token: TOKEN, uri: "ar://8".to_owned() }),
        ),
        sample(
            COLLECTION,
            TransferSingle { operator: BOB, from: Address::ZERO, to: ALICE, id: TOKEN, value: U256::from(2) },
            Fact::Transferred(event::Transferred {
                operator: BOB,
                from: Address::ZERO,
                to: ALICE,
                tokens: vec![(TOKEN, U256::from(2))],
            }),
        ),
        sample(
            COLLECTION,
            TransferBatch { operator: BOB, from: ALICE, to: BOB, ids: vec![TOKEN; 2], values: vec![U256::ONE; 2] },
            Fact::Transferred(event::Transferred {
                operator: BOB,
                from: ALICE,
                to: BOB,
                tokens: vec![(TOKEN, U256::ONE); 2],
            }),
        ),
        sample(
            registry.controller,
            MintConfigurationUpdated { releaseContract: COLLECTION, tokenId: TOKEN, configuration },
            Fact::SaleSet(event::SaleSet { collection: COLLECTION, token: TOKEN, sale, is_reset: false }),
        ),
        sample(
            COLLECTION,
            bought,
            Fact::Purchased(Purchase {
                collection: COLLECTION,
                token: TOKEN,
                quantity: Some(U256::from(3)),
                seller: registry.controller,
                value: U256::ZERO,
                fee: None,
                taken: U256::ZERO,
                referral: None,
            }),
        ),
    ];
    samples.extend(permission_samples());
    samples
}

#[test]
fn every_event_of_the_table_is_decoded() {
    assert_table(Protocol::Registry, &samples());
}
