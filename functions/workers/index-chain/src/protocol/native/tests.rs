use alloy::{
    primitives::{Address, B256, Bytes, Log, LogData, U256},
    sol_types::{SolEvent, SolValue},
};
use shared::{
    chain::contracts::native::{
        CommentsProtocol::{BackfilledComment, CommentIdentifier, Commented, SparkedComment},
        Creator1155::{
            ContractMetadataUpdated, Purchased, SetupNewToken, TransferBatch, TransferSingle, URI, UpdatedPermissions,
            UpdatedRoyalties,
        },
        CreatorFactory::{RoyaltyConfiguration, SetupNewContract},
        Erc20Minter::{self, ERC20RewardsDeposit},
        FixedPriceMinter, MerkleMinter,
        MintCommenter::MintComment,
        SplitFactory::{SplitCreated_0, SplitCreated_1, SplitParams},
        TimedMinter::{self, SaleData, SaleSetV2},
    },
    model::{Amount, FeeRecipient, MomentSale, Protocol, Referral, Royalty, SaleType},
};

use super::events::split_recipients;
use crate::{
    event::{self, Fact, NewCollection, OriginalComment, ProtocolComment, Purchase},
    protocol::tests::{Sample, assert_table, chain, reader, sample},
};

const COLLECTION: Address = Address::repeat_byte(0xc0);
const TOKEN: U256 = U256::from_limbs([7, 0, 0, 0]);
const ALICE: Address = Address::repeat_byte(0xa1);
const BOB: Address = Address::repeat_byte(0xb0);
const ID: B256 = B256::repeat_byte(0x1d);
const NONCE: B256 = B256::repeat_byte(0x0e);

fn royalty() -> (RoyaltyConfiguration, Royalty) {
    let configuration = RoyaltyConfiguration { royaltyMintSchedule: 0, royaltyBPS: 500, royaltyRecipient: BOB };
    (configuration, Royalty { bps: 500, recipient: BOB.into() })
}

fn identifier() -> CommentIdentifier {
    CommentIdentifier { commenter: ALICE, contractAddress: COLLECTION, tokenId: TOKEN, nonce: NONCE }
}

fn split() -> (SplitParams, Vec<FeeRecipient>) {
    let params = SplitParams {
        recipients: vec![ALICE, BOB],
        allocations: vec![U256::from(1), U256::from(3)],
        totalAllocation: U256::from(4),
        distributionIncentive: 0,
    };
    let recipient = |address: Address, millionths| FeeRecipient { address: address.into(), millionths };
    (params, vec![recipient(ALICE, 250_000), recipient(BOB, 750_000)])
}

fn sale(strategy: SaleType, price: u64, currency: Address) -> MomentSale {
    MomentSale {
        strategy,
        price: Amount(U256::from(price)),
        currency: currency.into(),
        start: 10,
        end: 20,
        max_per_address: 3,
        funds_recipient: Some(BOB.into()),
        root: None,
        set_in: (0, 0),
    }
}

fn timed_sale(start: u64, end: u64) -> MomentSale {
    MomentSale { start, end, max_per_address: 0, funds_recipient: None, ..sale(SaleType::Timed, 0, Address::ZERO) }
}

fn sale_set(sale: MomentSale, is_reset: bool) -> Fact {
    Fact::SaleSet(event::SaleSet { collection: COLLECTION, token: TOKEN, sale, is_reset })
}

fn comment(reply_to: Option<B256>, sparks: u64, original: Option<OriginalComment>) -> Fact {
    Fact::Commented(ProtocolComment {
        collection: COLLECTION,
        token: TOKEN,
        sender: ALICE,
        id: ID,
        nonce: NONCE,
        reply_to,
        text: "hello".to_owned(),
        time: 1_700_000_000,
        sparks,
        original,
    })
}

fn collection_samples() -> Vec<Sample> {
    let factory = chain().addresses.factory;
    let (configuration, royalty) = royalty();
    vec![
        sample(
            factory,
            SetupNewContract {
                newContract: COLLECTION,
                creator: BOB,
                defaultAdmin: ALICE,
                contractURI: "ar://collection".to_owned(),
                name: "Collection".to_owned(),
                defaultRoyaltyConfiguration: configuration.clone(),
            },
            Fact::CollectionCreated(NewCollection {
                address: COLLECTION,
                creator: ALICE,
                sender: BOB,
                name: "Collection".to_owned(),
                uri: "ar://collection".to_owned(),
                royalty: Some(royalty),
                admins: Vec::new(),
            }),
        ),
        sample(
            COLLECTION,
            ContractMetadataUpdated { updater: ALICE, uri: "ar://other".to_owned(), name: "Other".to_owned() },
            Fact::CollectionChanged(event::CollectionChanged {
                name: Some("Other".to_owned()),
                uri: Some("ar://other".to_owned()),
            }),
        ),
        sample(
            COLLECTION,
            SetupNewToken { tokenId: TOKEN, sender: ALICE, newURI: "ar://7".to_owned(), maxSupply: U256::from(9) },
            Fact::MomentCreated(event::MomentCreated {
                token: TOKEN,
                creator: ALICE,
                is_named: false,
                uri: "ar://7".to_owned(),
                max_supply: U256::from(9),
            }),
        ),
        sample(
            COLLECTION,
            URI { value: "ar://8".to_owned(), id: TOKEN },
            Fact::UriSet(event::UriSet { token: TOKEN, uri: "ar://8".to_owned() }),
        ),
        sample(
            COLLECTION,
            UpdatedPermissions { tokenId: TOKEN, user: ALICE, permissions: U256::from(2 | 4) },
            Fact::PermissionsSet(event::PermissionsSet {
                token: TOKEN,
                account: ALICE,
                mask: U256::from(2 | 4),
                is_admin: true,
            }),
        ),
        sample(
            COLLECTION,
            UpdatedPermissions { tokenId: TOKEN, user: ALICE, permissions: U256::from(4) },
            Fact::PermissionsSet(event::PermissionsSet {
                token: TOKEN,
                account: ALICE,
                mask: U256::from(4),
                is_admin: false,
            }),
        ),
        sample(
            COLLECTION,
            UpdatedRoyalties { tokenId: TOKEN, user: ALICE, configuration },
            Fact::RoyaltySet(event::RoyaltySet { token: TOKEN, royalty }),
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
    ]
}

fn fixed_price_sale_set(start: u64, end: u64) -> FixedPriceMinter::SaleSet {
    let config = FixedPriceMinter::SalesConfig {
        saleStart: start,
        saleEnd: end,
        maxTokensPerAddress: 3,
        pricePerToken: "5".parse().unwrap(),
        fundsRecipient: BOB,
    };
    FixedPriceMinter::SaleSet { mediaContract: COLLECTION, tokenId: TOKEN, salesConfig: config }
}

fn timed_sale_set_v2(end: u64) -> SaleSetV2 {
    let data = SaleData {
        saleStart: 10,
        marketCountdown: 1,
        saleEnd: end,
        secondaryActivated: false,
        minimumMarketEth: U256::ONE,
        poolAddress: BOB,
        erc20zAddress: BOB,
        name: "Timed".to_owned(),
        symbol: "T".to_owned(),
    };
    SaleSetV2 { collection: COLLECTION, tokenId: TOKEN, saleData: data, mintFee: U256::ONE }
}

fn list_sale_set(end: u64, root: B256) -> MerkleMinter::SaleSet {
    let settings =
        MerkleMinter::MerkleSaleSettings { presaleStart: 10, presaleEnd: end, fundsRecipient: BOB, merkleRoot: root };
    MerkleMinter::SaleSet { mediaContract: COLLECTION, tokenId: TOKEN, merkleSaleSettings: settings }
}

fn sale_samples() -> Vec<Sample> {
    let known = chain().addresses;
    let merkle = known.merkle_minter.expect("a strategy");
    let listed = sale(SaleType::AllowList, 0, Address::ZERO);
    let listed = MomentSale { root: Some(ID), max_per_address: 0, ..listed };
    let native = sale(SaleType::FixedPrice, 5, Address::ZERO);
    let erc20_config = Erc20Minter::SalesConfig {
        saleStart: 10,
        saleEnd: 20,
        maxTokensPerAddress: 3,
        pricePerToken: U256::from(6),
        fundsRecipient: BOB,
        currency: known.usdc,
    };
    let timed_config =
        TimedMinter::SalesConfig { saleStart: 10, saleEnd: 20, name: "Timed".to_owned(), symbol: "T".to_owned() };
    let timed_v1 = TimedMinter::SaleSet {
        collection: COLLECTION,
        tokenId: TOKEN,
        salesConfig: timed_config,
        erc20zAddress: BOB,
        poolAddress: BOB,
        mintFee: U256::ONE,
    };
    vec![
        sample(known.fixed_price_minter, fixed_price_sale_set(10, 20), sale_set(native.clone(), false)),
        sample(
            known.fixed_price_minter,
            fixed_price_sale_set(0, 0),
            sale_set(MomentSale { start: 0, end: 0, ..native }, true),
        ),
        sample(
            known.erc20_minter,
            Erc20Minter::SaleSet { mediaContract: COLLECTION, tokenId: TOKEN, salesConfig: erc20_config },
            sale_set(sale(SaleType::Erc20, 6, known.usdc), false),
        ),
        sample(known.timed_minter, timed_v1, sale_set(timed_sale(10, 20), false)),
        sample(known.timed_minter, timed_sale_set_v2(20), sale_set(timed_sale(10, 20), false)),
        sample(known.timed_minter, timed_sale_set_v2(0), sale_set(timed_sale(10, u64::MAX), false)),
        sample(merkle, list_sale_set(20, ID), sale_set(listed.clone(), false)),
        sample(
            merkle,
            list_sale_set(0, B256::ZERO),
            sale_set(MomentSale { end: 0, root: Some(B256::ZERO), ..listed }, true),
        ),
    ]
}

fn purchase_samples() -> Vec<Sample> {
    let known = chain().addresses;
    let deposit = ERC20RewardsDeposit {
        createReferral: ALICE,
        mintReferral: BOB,
        firstMinter: ALICE,
        zora: ALICE,
        collection: COLLECTION,
        currency: known.usdc,
        tokenId: TOKEN,
        createReferralReward: U256::from(1),
        mintReferralReward: U256::from(2),
        firstMinterReward: U256::from(3),
        zoraReward: U256::from(4),
    };
    let purchase = |quantity: Option<U256>, seller, taken, referral| {
        let taken = U256::from(taken);
        // A purchase that says how many it is of says what came with it, too.
        let value = quantity.map_or(U256::ZERO, |_| U256::from(99));
        let fee = None;
        Fact::Purchased(Purchase {
            collection: COLLECTION,
            token: TOKEN,
            quantity,
            seller,
            value,
            fee,
            taken,
            referral,
        })
    };
    let referral = Referral { account: BOB.into(), reward: Amount(U256::from(2)) };
    // Nobody is named: the protocol gets it itself.
    let unsent = ERC20RewardsDeposit { mintReferral: ALICE, ..deposit.clone() };
    vec![
        sample(
            COLLECTION,
            Purchased { sender: ALICE, minter: BOB, tokenId: TOKEN, quantity: U256::from(2), value: U256::from(99) },
            purchase(Some(U256::from(2)), BOB, 0, None),
        ),
        sample(known.erc20_minter, deposit, purchase(None, known.erc20_minter, 10, Some(referral))),
        sample(known.erc20_minter, unsent, purchase(None, known.erc20_minter, 10, None)),
    ]
}

fn comment_samples() -> Vec<Sample> {
    let known = chain().addresses;
    let minters = [known.fixed_price_minter, known.erc20_minter, known.timed_minter];
    let mint_comment = |minter| {
        let (sender, text) = (ALICE, "hello".to_owned());
        sample(
            minter,
            MintComment {
                sender,
                tokenContract: COLLECTION,
                tokenId: TOKEN,
                quantity: U256::ONE,
                comment: text.clone(),
            },
            Fact::MintCommented(event::MintCommented { collection: COLLECTION, token: TOKEN, sender, text }),
        )
    };
    let commented = |reply_to| Commented {
        commentId: ID,
        commentIdentifier: identifier(),
        replyToId: reply_to,
        replyTo: identifier(),
        sparksQuantity: U256::from(2),
        text: "hello".to_owned(),
        timestamp: U256::from(1_700_000_000),
        referrer: BOB,
    };
    let backfilled = BackfilledComment {
        commentId: ID,
        commentIdentifier: identifier(),
        text: "hello".to_owned(),
        timestamp: U256::from(1_700_000_000),
        originalTransactionId: ID,
    };
    let original = OriginalComment { transaction: ID, log_index: None };
    let sparked = SparkedComment {
        commentId: ID,
        commentIdentifier: identifier(),
        sparksQuantity: U256::from(4),
        sparker: BOB,
        timestamp: U256::from(1_700_000_000),
        referrer: BOB,
    };
    let mut samples = minters.map(mint_comment).into_iter().collect::<Vec<_>>();
    samples.extend([
        sample(known.comments, commented(B256::ZERO), comment(None, 2, None)),
        sample(known.comments, commented(NONCE), comment(Some(NONCE), 2, None)),
        sample(known.comments, backfilled, comment(None, 0, Some(original))),
        sample(known.comments, sparked, Fact::Sparked(event::Sparked { comment: ID, quantity: U256::from(4) })),
    ]);
    samples
}

fn split_samples() -> Vec<Sample> {
    let factory = chain().addresses.split_factory;
    let ((params, recipients), split, (owner, creator)) = (split(), BOB, (ALICE, ALICE));
    let by_salt = SplitCreated_0 { split, splitParams: params.clone(), owner, creator, salt: NONCE };
    let by_nonce = SplitCreated_1 { split, splitParams: params, owner, creator, nonce: TOKEN };
    let fact = Fact::SplitCreated(event::SplitCreated { split, recipients });
    vec![sample(factory, by_salt, fact.clone()), sample(factory, by_nonce, fact)]
}

#[test]
fn every_event_of_the_table_is_decoded() {
    let samples = [collection_samples(), sale_samples(), purchase_samples(), comment_samples(), split_samples()];
    assert_table(Protocol::Native, &samples.into_iter().flatten().collect::<Vec<_>>());
}

fn mint_comment(topics: Vec<B256>, data: Vec<u8>) -> Log {
    let address = chain().addresses.fixed_price_minter;
    Log { address, data: LogData::new_unchecked(topics, Bytes::from(data)) }
}

fn mint_comment_with(text: &[u8]) -> Log {
    let topics = vec![MintComment::SIGNATURE_HASH, B256::ZERO, B256::ZERO, B256::ZERO];
    mint_comment(topics, (U256::ONE, Bytes::copy_from_slice(text)).abi_encode_params())
}

#[test]
fn comment_with_invalid_utf8_is_decoded_lossily() {
    let fact = reader(Protocol::Native).read(&mint_comment_with(b"caf\xe9 \xf0\x9f\x92\x9b")).unwrap();
    let Fact::MintCommented(event::MintCommented { text, .. }) = fact else { panic!("another fact") };
    assert_eq!(text, "caf\u{fffd} 💛");
}

#[test]
fn malformed_logs_are_ignored() {
    let native = reader(Protocol::Native);
    let good = mint_comment_with(b"hello");
    assert!(native.read(&good).is_some());
    let elsewhere = Log { address: Address::repeat_byte(7), ..good };
    assert!(native.read(&elsewhere).is_none());
    assert!(native.read(&mint_comment(vec![MintComment::SIGNATURE_HASH], vec![])).is_none());
    assert!(native.read(&mint_comment(vec![MintComment::SIGNATURE_HASH; 4], vec![0xff; 64])).is_none());
    assert!(native.read(&mint_comment(vec![B256::ZERO], vec![])).is_none());
    assert!(native.read(&mint_comment(vec![], vec![])).is_none());
}

#[test]
fn split_allocations_become_millionths_of_any_total() {
    let params = SplitParams {
        recipients: vec![Address::repeat_byte(1), Address::repeat_byte(2)],
        allocations: vec![U256::from(1), U256::from(2)],
        totalAllocation: U256::from(3),
        distributionIncentive: 0,
    };
    let parts: Vec<_> = split_recipients(&params).iter().map(|part| part.millionths).collect();
    assert_eq!(parts, [333_333, 666_666]);
    assert!(split_recipients(&SplitParams { totalAllocation: U256::ZERO, ..params }).is_empty());
}
