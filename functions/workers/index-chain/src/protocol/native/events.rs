//! The table of events, and their decoders in its order.

use alloy::primitives::{Address, B256, Log, U256};
use shared::{
    chain::{
        ChainAddresses, Role,
        contracts::native::{
            CommentsProtocol::{BackfilledComment, CommentIdentifier, Commented, SparkedComment},
            Creator1155::{
                ContractMetadataUpdated, Purchased, SetupNewToken, TransferBatch, TransferSingle, URI,
                UpdatedPermissions, UpdatedRoyalties,
            },
            CreatorFactory::{RoyaltyConfiguration, SetupNewContract},
            Erc20Minter::{self, ERC20RewardsDeposit},
            FixedPriceMinter, MerkleMinter,
            MintCommenter::MintComment,
            SplitFactory::{SplitCreated_0, SplitCreated_1, SplitParams},
            TimedMinter::{self, SaleSetV2},
        },
        protocol::permission::Permission,
    },
    model::{self, Amount, FeeRecipient, MAX_FEE_RECIPIENTS, MomentSale, Referral, Royalty, SaleType, Share},
};

use crate::{
    event::{self, Fact, NewCollection, OriginalComment, ProtocolComment, Purchase},
    protocol::{
        erc1155,
        reader::{IndexedEvent, of_collections, of_contracts},
    },
};

/// Every event that is indexed, once.
pub fn table(known: &ChainAddresses) -> Vec<IndexedEvent> {
    let of = |role| known.all(role);
    let (fixed_price, erc20, timed) = (of(Role::FixedPriceMinter), of(Role::Erc20Minter), of(Role::TimedMinter));
    let (minters, merkle) = ([&*fixed_price, &*erc20, &*timed].concat(), of(Role::MerkleMinter));
    let (factories, comments, split_factories) = (of(Role::Factory), of(Role::Comments), of(Role::SplitFactory));
    vec![
        of_contracts::<SetupNewContract>(&factories, collection_created),
        of_collections::<ContractMetadataUpdated>(collection_changed),
        of_collections::<SetupNewToken>(moment_created),
        of_collections::<URI>(erc1155::uri),
        of_collections::<UpdatedPermissions>(permissions_set),
        of_collections::<UpdatedRoyalties>(royalty_set),
        of_collections::<TransferSingle>(erc1155::transfer_single),
        of_collections::<TransferBatch>(erc1155::transfer_batch),
        of_contracts::<FixedPriceMinter::SaleSet>(&fixed_price, fixed_price_sale_set),
        of_contracts::<Erc20Minter::SaleSet>(&erc20, erc20_sale_set),
        of_contracts::<TimedMinter::SaleSet>(&timed, timed_sale_set),
        of_contracts::<SaleSetV2>(&timed, timed_sale_set_v2),
        of_contracts::<MerkleMinter::SaleSet>(&merkle, list_sale_set),
        of_collections::<Purchased>(purchased),
        of_contracts::<ERC20RewardsDeposit>(&erc20, erc20_purchased),
        of_contracts::<MintComment>(&minters, mint_commented),
        of_contracts::<Commented>(&comments, commented),
        of_contracts::<BackfilledComment>(&comments, backfilled),
        of_contracts::<SparkedComment>(&comments, sparked),
        of_contracts::<SplitCreated_0>(&split_factories, split_created_by_salt),
        of_contracts::<SplitCreated_1>(&split_factories, split_created_by_nonce),
    ]
}

fn collection_created(log: Log<SetupNewContract>) -> Option<Fact> {
    let created = log.data;
    Some(Fact::CollectionCreated(NewCollection {
        address: created.newContract,
        creator: created.defaultAdmin,
        sender: created.creator,
        name: created.name,
        uri: created.contractURI,
        royalty: Some(royalty(&created.defaultRoyaltyConfiguration)),
        admins: Vec::new(),
    }))
}

fn collection_changed(log: Log<ContractMetadataUpdated>) -> Option<Fact> {
    Some(Fact::CollectionChanged(event::CollectionChanged { name: Some(log.data.name), uri: Some(log.data.uri) }))
}

fn moment_created(log: Log<SetupNewToken>) -> Option<Fact> {
    let created = log.data;
    Some(Fact::MomentCreated(event::MomentCreated {
        token: created.tokenId,
        creator: created.sender,
        is_named: false,
        uri: created.newURI,
        max_supply: created.maxSupply,
    }))
}

fn permissions_set(log: Log<UpdatedPermissions>) -> Option<Fact> {
    let set = log.data;
    let is_admin = set.permissions & U256::from(Permission::Admin as u8) != U256::ZERO;
    Some(Fact::PermissionsSet(event::PermissionsSet {
        token: set.tokenId,
        account: set.user,
        mask: set.permissions,
        is_admin,
    }))
}

fn royalty_set(log: Log<UpdatedRoyalties>) -> Option<Fact> {
    Some(Fact::RoyaltySet(event::RoyaltySet { token: log.data.tokenId, royalty: royalty(&log.data.configuration) }))
}

fn royalty(configuration: &RoyaltyConfiguration) -> Royalty {
    Royalty { bps: configuration.royaltyBPS, recipient: configuration.royaltyRecipient.into() }
}

fn fixed_price_sale_set(log: Log<FixedPriceMinter::SaleSet>) -> Option<Fact> {
    let (set, config) = (&log.data, &log.data.salesConfig);
    let sale = MomentSale {
        strategy: SaleType::FixedPrice,
        price: Amount(U256::from(config.pricePerToken)),
        currency: model::Address::ZERO,
        start: config.saleStart,
        end: config.saleEnd,
        max_per_address: config.maxTokensPerAddress,
        funds_recipient: account(config.fundsRecipient),
        root: None,
        set_in: (0, 0),
    };
    Some(sale_set(set.mediaContract, set.tokenId, sale))
}

fn erc20_sale_set(log: Log<Erc20Minter::SaleSet>) -> Option<Fact> {
    let (set, config) = (&log.data, &log.data.salesConfig);
    let sale = MomentSale {
        strategy: SaleType::Erc20,
        price: Amount(config.pricePerToken),
        currency: config.currency.into(),
        start: config.saleStart,
        end: config.saleEnd,
        max_per_address: config.maxTokensPerAddress,
        funds_recipient: account(config.fundsRecipient),
        root: None,
        set_in: (0, 0),
    };
    Some(sale_set(set.mediaContract, set.tokenId, sale))
}

fn list_sale_set(log: Log<MerkleMinter::SaleSet>) -> Option<Fact> {
    let (set, settings) = (&log.data, &log.data.merkleSaleSettings);
    let sale = MomentSale {
        strategy: SaleType::AllowList,
        price: Amount::default(),
        currency: model::Address::ZERO,
        start: settings.presaleStart,
        end: settings.presaleEnd,
        max_per_address: 0,
        funds_recipient: account(settings.fundsRecipient),
        root: Some(settings.merkleRoot),
        set_in: (0, 0),
    };
    Some(sale_set(set.mediaContract, set.tokenId, sale))
}

/// Strategies reset a sale by setting everything to 0.
fn sale_set(collection: Address, token: U256, sale: MomentSale) -> Fact {
    Fact::SaleSet(event::SaleSet { collection, token, is_reset: sale.end == 0, sale })
}

fn account(address: Address) -> Option<model::Address> {
    (!address.is_zero()).then(|| address.into())
}

fn timed_sale_set(log: Log<TimedMinter::SaleSet>) -> Option<Fact> {
    let (set, config) = (&log.data, &log.data.salesConfig);
    Some(timed_sale(set.collection, set.tokenId, config.saleStart, config.saleEnd))
}

fn timed_sale_set_v2(log: Log<SaleSetV2>) -> Option<Fact> {
    let (set, data) = (&log.data, &log.data.saleData);
    Some(timed_sale(set.collection, set.tokenId, data.saleStart, data.saleEnd))
}

fn timed_sale(collection: Address, token: U256, start: u64, end: u64) -> Fact {
    let sale = MomentSale {
        strategy: SaleType::Timed,
        price: Amount::default(),
        currency: model::Address::ZERO,
        start,
        // Until enough were collected the sale has no end, which the contract writes as 0.
        end: if end == 0 { u64::MAX } else { end },
        max_per_address: 0,
        funds_recipient: None,
        root: None,
        set_in: (0, 0),
    };
    Fact::SaleSet(event::SaleSet { collection, token, sale, is_reset: false })
}

fn purchased(log: Log<Purchased>) -> Option<Fact> {
    Some(Fact::Purchased(Purchase {
        collection: log.address,
        token: log.data.tokenId,
        quantity: Some(log.data.quantity),
        seller: log.data.minter,
        value: log.data.value,
        taken: U256::ZERO,
        // Another contract tells: see `read::referrals`.
        fee: None,
        referral: None,
    }))
}

fn erc20_purchased(log: Log<ERC20RewardsDeposit>) -> Option<Fact> {
    let paid = log.data;
    let rewards = [paid.createReferralReward, paid.mintReferralReward, paid.firstMinterReward, paid.zoraReward];
    Some(Fact::Purchased(Purchase {
        collection: paid.collection,
        token: paid.tokenId,
        quantity: None,
        seller: log.address,
        value: U256::ZERO,
        fee: None,
        taken: rewards.into_iter().fold(U256::ZERO, U256::saturating_add),
        referral: referral(paid.mintReferral, paid.zora, paid.mintReferralReward),
    }))
}

/// Who got the reward for having sent a buyer; the protocol gets it itself where nobody has.
pub fn referral(account: Address, protocol: Address, reward: U256) -> Option<Referral> {
    (account != protocol && !reward.is_zero()).then(|| Referral { account: account.into(), reward: Amount(reward) })
}

fn mint_commented(log: Log<MintComment>) -> Option<Fact> {
    let said = log.data;
    Some(Fact::MintCommented(event::MintCommented {
        collection: said.tokenContract,
        token: said.tokenId,
        sender: said.sender,
        text: said.comment,
    }))
}

fn commented(log: Log<Commented>) -> Option<Fact> {
    let said = log.data;
    let reply_to = (said.replyToId != B256::ZERO).then_some(said.replyToId);
    let (identifier, sparks) = (&said.commentIdentifier, said.sparksQuantity);
    Some(comment(said.commentId, identifier, reply_to, said.text, said.timestamp, sparks, None))
}

fn backfilled(log: Log<BackfilledComment>) -> Option<Fact> {
    let said = log.data;
    let original = (said.originalTransactionId != B256::ZERO)
        .then_some(OriginalComment { transaction: said.originalTransactionId, log_index: None });
    Some(comment(said.commentId, &said.commentIdentifier, None, said.text, said.timestamp, U256::ZERO, original))
}

fn comment(
    id: B256,
    identifier: &CommentIdentifier,
    reply_to: Option<B256>,
    text: String,
    time: U256,
    sparks: U256,
    original: Option<OriginalComment>,
) -> Fact {
    Fact::Commented(ProtocolComment {
        collection: identifier.contractAddress,
        token: identifier.tokenId,
        sender: identifier.commenter,
        id,
        nonce: identifier.nonce,
        reply_to,
        text,
        time: time.saturating_to(),
        sparks: sparks.saturating_to(),
        original,
    })
}

fn sparked(log: Log<SparkedComment>) -> Option<Fact> {
    Some(Fact::Sparked(event::Sparked { comment: log.data.commentId, quantity: log.data.sparksQuantity }))
}

fn split_created_by_salt(log: Log<SplitCreated_0>) -> Option<Fact> {
    Some(Fact::SplitCreated(event::SplitCreated {
        split: log.data.split,
        recipients: split_recipients(&log.data.splitParams),
    }))
}

fn split_created_by_nonce(log: Log<SplitCreated_1>) -> Option<Fact> {
    Some(Fact::SplitCreated(event::SplitCreated {
        split: log.data.split,
        recipients: split_recipients(&log.data.splitParams),
    }))
}

/// Shares in millionths, rounded down.
pub(super) fn split_recipients(params: &SplitParams) -> Vec<FeeRecipient> {
    let part = |(recipient, allocation): (&Address, &U256)| {
        let millionths = allocation.checked_mul(U256::from(Share::WHOLE))?.checked_div(params.totalAllocation)?;
        Some(FeeRecipient { address: (*recipient).into(), millionths: millionths.saturating_to() })
    };
    params.recipients.iter().zip(&params.allocations).filter_map(part).take(MAX_FEE_RECIPIENTS).collect()
}
