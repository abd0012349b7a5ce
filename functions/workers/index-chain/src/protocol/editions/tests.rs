use alloy::{
    primitives::{Address, Log, U256},
    sol_types::{SolCall, SolEvent},
};
use shared::{
    chain::contracts::third_party::{
        Edition::{Minted, RolesUpdated, Transfer},
        EditionCreator::{Created, EditionInitialization, initializeCall},
        EditionMetadata::BaseURISet,
    },
    model::{Protocol, Royalty},
};

use crate::{
    event::{self, Fact, NewCollection},
    protocol::tests::{Sample, assert_table, chain, reader, sample},
};

const COLLECTION: Address = Address::repeat_byte(0xc0);
const TOKEN: U256 = U256::from_limbs([7, 0, 0, 0]);
const ALICE: Address = Address::repeat_byte(0xa1);
const BOB: Address = Address::repeat_byte(0xb0);

fn created(init_data: Vec<u8>) -> Created {
    Created {
        implementation: BOB,
        edition: COLLECTION,
        owner: ALICE,
        initData: init_data.into(),
        contracts: Vec::new(),
        data: Vec::new(),
        results: Vec::new(),
    }
}

fn new_collection(name: &str, uri: &str, royalty: Option<Royalty>) -> Fact {
    let (name, uri) = (name.to_owned(), uri.to_owned());
    let (address, creator) = (COLLECTION, ALICE);
    Fact::CollectionCreated(NewCollection {
        address,
        creator,
        sender: creator,
        name,
        uri,
        royalty,
        admins: vec![ALICE],
    })
}

fn samples() -> Vec<Sample> {
    let known = chain().addresses.editions.unwrap();
    let init = EditionInitialization {
        name: "Numbered".to_owned(),
        symbol: "N".to_owned(),
        metadataModule: BOB,
        baseURI: String::new(),
        contractURI: "ar://edition".to_owned(),
        fundingRecipient: BOB,
        royaltyBPS: 700,
        isCreateTierFrozen: false,
        isMintRandomnessEnabled: false,
        tierCreations: Vec::new(),
    };
    let royalty = Royalty { bps: 700, recipient: BOB.into() };
    let roles = |mask: u64, is_admin| {
        let mask = U256::from(mask);
        let fact = Fact::PermissionsSet(event::PermissionsSet { token: U256::ZERO, account: ALICE, mask, is_admin });
        sample(COLLECTION, RolesUpdated { user: ALICE, roles: mask }, fact)
    };
    vec![
        sample(
            known.creator,
            created(initializeCall { init }.abi_encode()),
            new_collection("Numbered", "ar://edition", Some(royalty)),
        ),
        sample(known.creator, created(vec![1, 2, 3]), new_collection("", "", None)),
        sample(
            known.metadata,
            BaseURISet { edition: COLLECTION, tier: 2, uri: "ar://tier/".to_owned() },
            Fact::TierUriSet(event::TierUriSet { collection: COLLECTION, tier: 2, uri: "ar://tier/".to_owned() }),
        ),
        sample(
            COLLECTION,
            Minted { tier: 2, to: ALICE, quantity: U256::from(3), fromTokenId: TOKEN },
            Fact::EditionMinted(event::EditionMinted { tier: 2, to: ALICE, quantity: 3, first_token: TOKEN }),
        ),
        roles(1, true),
        roles(2, false),
        sample(
            COLLECTION,
            Transfer { from: ALICE, to: BOB, tokenId: TOKEN },
            Fact::Transferred(event::Transferred {
                operator: ALICE,
                from: ALICE,
                to: BOB,
                tokens: vec![(TOKEN, U256::ONE)],
            }),
        ),
    ]
}

#[test]
fn every_event_of_the_table_is_decoded() {
    assert_table(Protocol::Editions, &samples());
}

#[test]
fn transfer_of_a_mint_is_left_to_the_minted_event() {
    let mint = Transfer { from: Address::ZERO, to: ALICE, tokenId: TOKEN };
    let log = Log { address: COLLECTION, data: mint.encode_log_data() };
    assert_eq!(reader(Protocol::Editions).read(&log), None);
}
