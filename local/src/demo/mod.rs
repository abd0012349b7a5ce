//! Demo content on a local chain, published by real transactions: collections of two artists, collects and comments.

mod comments;
mod publisher;

use alloy::{
    primitives::{Address, B256, U256, uint},
    providers::{Provider, RootProvider},
};
use serde::Serialize;
use shared::{
    chain::{Chain, contracts::native::CommentsProtocol::CommentIdentifier, wallet::EmbeddedWallet},
    model::{ChainId, TokenId},
};

use self::{
    comments::{
        COMMENTS, FIRST_COLLECT, FIRST_COLLECT_REPLIES, LOCATION_QUESTION, LOCATION_REPLIES, MINT_COMMENTS,
        USDC_MINT_COMMENT,
    },
    publisher::{DemoPublisher, Release, SOLD_FOR_ETHER},
};
use crate::node::{StepError, during};

const FIRST_LIGHT: Release = Release {
    name: "First Light",
    uri: "ipfs://bafybeidemofirstlight/collection.json",
    moment_uris: ["ipfs://bafybeidemofirstlight/1.json", "ipfs://bafybeidemofirstlight/2.json"],
    price: uint!(1_000_000_000_000_000_U256),
};
const TIDE_TABLES: Release = Release {
    name: "Tide Tables",
    uri: "ipfs://bafybeidemotidetables/collection.json",
    moment_uris: ["ipfs://bafybeidemotidetables/1.json", "ipfs://bafybeidemotidetables/2.json"],
    price: U256::ZERO,
};

/// The published demo content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Demo {
    /// One collection per artist.
    pub collections: [DemoCollection; 2],
    /// The artists' accounts.
    pub artists: [Address; 2],
    /// The accounts that collected and commented.
    pub collectors: [Address; 5],
    /// The comments on the most discussed moment.
    pub comments: DemoComments,
}

/// A published collection.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DemoCollection {
    /// Chain id.
    pub chain_id: ChainId,
    /// Contract address.
    pub address: Address,
    /// Name of the collection.
    pub name: &'static str,
    /// Account of its artist.
    pub artist: Address,
    /// Token ids of its moments.
    pub tokens: [TokenId; 2],
}

/// The published comments on one moment.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DemoComments {
    /// Contract of the moment's collection.
    pub collection_address: Address,
    /// Token id of the moment.
    pub token_id: TokenId,
    /// Number of top-level comments, including those made when collecting.
    pub top_level: usize,
    /// Id of the comment with seven replies.
    pub seven_replies: B256,
    /// Id of the comment with two replies.
    pub two_replies: B256,
}

/// Publishes the demo content on an anvil node where [`crate::contracts::deploy`] has run. `artists` are accounts that
/// are not deployed yet; the node impersonates their lanes, so no keys are needed.
pub async fn publish(rpc_url: &str, chain: &Chain, artists: &[EmbeddedWallet; 2]) -> Result<Demo, StepError> {
    let node = RootProvider::connect(rpc_url).await.map_err(during("connecting"))?;
    let unlocked = node.get_accounts().await.map_err(during("collectors"))?;
    let collectors =
        *unlocked.get(1..).and_then(<[Address]>::first_chunk).ok_or("too few").map_err(during("collectors"))?;
    let publisher = DemoPublisher::new(node, chain).await?;

    let first_light = publisher.release(&artists[0], &FIRST_LIGHT).await?;
    let tide_tables = publisher.release(&artists[1], &TIDE_TABLES).await?;

    let [ada, bo, cy, dee, eli] = collectors;
    for (collector, comment) in collectors.into_iter().zip(MINT_COMMENTS) {
        publisher.collect(collector, &first_light, FIRST_LIGHT.price, comment).await?;
    }
    for collector in [ada, cy, eli] {
        publisher.collect(collector, &tide_tables, TIDE_TABLES.price, "").await?;
    }
    publisher.collect_for_usdc(bo, &first_light, USDC_MINT_COMMENT).await?;
    publisher.collect_for_usdc(dee, &first_light, "").await?;
    publisher.collect_for_usdc(ada, &tide_tables, "").await?;

    Ok(Demo {
        comments: discuss(&publisher, first_light.address, &collectors).await?,
        collections: [first_light, tide_tables],
        artists: [artists[0].address(), artists[1].address()],
        collectors,
    })
}

/// Publishes comments on a collection's first moment, replies to two of them, and a spark.
async fn discuss(
    publisher: &DemoPublisher<'_>,
    collection: Address,
    collectors: &[Address; 5],
) -> Result<DemoComments, StepError> {
    let moment = CommentIdentifier {
        commenter: Address::ZERO,
        contractAddress: collection,
        tokenId: SOLD_FOR_ETHER,
        nonce: B256::ZERO,
    };
    let mut comments = Vec::new();
    for (commenter, text) in collectors.iter().cycle().zip(COMMENTS) {
        comments.push(publisher.comment(*commenter, text, &moment).await?);
    }
    let (seven_replies, two_replies) = (&comments[LOCATION_QUESTION], &comments[FIRST_COLLECT]);
    for (parent, replies) in [(seven_replies, &LOCATION_REPLIES[..]), (two_replies, &FIRST_COLLECT_REPLIES[..])] {
        for (commenter, text) in collectors.iter().rev().cycle().zip(replies) {
            publisher.comment(*commenter, text, &parent.commentIdentifier).await?;
        }
    }
    let [.., sparker] = *collectors;
    publisher.spark(sparker, &two_replies.commentIdentifier).await?;

    Ok(DemoComments {
        collection_address: collection,
        token_id: SOLD_FOR_ETHER.into(),
        top_level: MINT_COMMENTS.len() + COMMENTS.len(),
        seven_replies: seven_replies.commentId,
        two_replies: two_replies.commentId,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use alloy::{primitives::aliases::U96, rpc::types::Filter, sol_types::SolEvent};
    use shared::chain::{
        Chains,
        contracts::native::{
            CommentsProtocol::Commented, Creator1155, CreatorFactory::SetupNewContract, Erc20Minter, FixedPriceMinter,
            MintCommenter::MintComment,
        },
        protocol::permission::Permission,
    };

    use super::{
        publisher::{SOLD_FOR_USDC, USDC_PRICE},
        *,
    };
    use crate::{Error, node::testing::start_with_contracts};

    #[tokio::test]
    async fn demo_content_is_on_the_chain() -> Result<(), Error> {
        let chains: Chains = r#"[{"id": 8453}]"#.parse()?;
        let chain = chains.get(ChainId::DEFAULT)?;
        let anvil = start_with_contracts(chain).await?;
        let node = RootProvider::connect(&anvil.rpc_url).await?;
        // Lanes with a balance for gas: accounts of the node that the demo doesn't use otherwise.
        let lanes = *node.get_accounts().await?.last_chunk().ok_or("anvil has no accounts")?;
        let artists: [_; 2] = lanes.map(|lane| EmbeddedWallet::new(lane, shared::model::ArtistId::random()));
        let demo = publish(&anvil.rpc_url, chain, &artists).await?;

        let created = logged::<SetupNewContract>(&node, chain.addresses.factory).await?;
        assert_eq!(
            created.iter().map(|event| event.newContract).collect::<Vec<_>>(),
            demo.collections.each_ref().map(|collection| collection.address)
        );
        assert_eq!(created.iter().map(|event| event.creator).collect::<Vec<_>>(), demo.artists);
        comments_are_logged(&node, chain, &demo).await?;
        for (collection, price) in demo.collections.iter().zip([FIRST_LIGHT.price, TIDE_TABLES.price]) {
            moments_are_on_sale(&node, chain, collection, price).await?;
        }
        Ok(())
    }

    async fn comments_are_logged(node: &RootProvider, chain: &Chain, demo: &Demo) -> Result<(), Error> {
        let [collection, _] = &demo.collections;
        let about_the_moment = |address, token| (address, token) == (collection.address, SOLD_FOR_ETHER);

        let mint_comments = logged::<MintComment>(node, chain.addresses.fixed_price_minter).await?;
        let at_mint = mint_comments.iter().filter(|event| about_the_moment(event.tokenContract, event.tokenId)).count();
        let commented = logged::<Commented>(node, chain.addresses.comments).await?;
        let mut by_parent = BTreeMap::new();
        for event in commented {
            assert!(about_the_moment(event.commentIdentifier.contractAddress, event.commentIdentifier.tokenId));
            *by_parent.entry(event.replyToId).or_default() += 1;
        }
        let comments = &demo.comments;
        let expected = [(B256::ZERO, 40), (comments.seven_replies, 7), (comments.two_replies, 2)];
        assert_eq!(by_parent, BTreeMap::from(expected));
        assert_eq!((at_mint, comments.top_level), (5, 45));
        Ok(())
    }

    async fn moments_are_on_sale(
        node: &RootProvider,
        chain: &Chain,
        collection: &DemoCollection,
        price: U256,
    ) -> Result<(), Error> {
        let contract = Creator1155::new(collection.address, node);
        let (ether_minter, usdc_minter) = (chain.addresses.fixed_price_minter, chain.addresses.erc20_minter);
        for (token, user, permission) in [
            (U256::ZERO, collection.artist, Permission::Admin),
            (SOLD_FOR_ETHER, collection.artist, Permission::Admin),
            (SOLD_FOR_USDC, collection.artist, Permission::Admin),
            (SOLD_FOR_ETHER, ether_minter, Permission::Minter),
            (SOLD_FOR_USDC, usdc_minter, Permission::Minter),
        ] {
            let granted = contract.permissions(token, user).call().await?;
            assert_eq!(granted, U256::from(permission as u8), "{user} on {token}");
        }

        let sale = FixedPriceMinter::new(ether_minter, node).sale(collection.address, SOLD_FOR_ETHER).call().await?;
        assert_eq!((sale.saleStart, sale.saleEnd, sale.pricePerToken), (0, u64::MAX, U96::saturating_from(price)));
        assert_eq!(sale.fundsRecipient, collection.artist);
        let sale = Erc20Minter::new(usdc_minter, node).sale(collection.address, SOLD_FOR_USDC).call().await?;
        assert_eq!((sale.saleStart, sale.saleEnd, sale.pricePerToken), (0, u64::MAX, USDC_PRICE));
        assert_eq!((sale.fundsRecipient, sale.currency), (collection.artist, chain.addresses.usdc));
        Ok(())
    }

    async fn logged<E: SolEvent>(node: &RootProvider, address: Address) -> Result<Vec<E>, Error> {
        let filter = Filter::new().from_block(0).address(address).event_signature(E::SIGNATURE_HASH);
        let logs = node.get_logs(&filter).await?;
        logs.iter().map(|log| Ok(log.log_decode::<E>()?.inner.data)).collect()
    }
}
