//! Transactions of the demo's artists and collectors.

use alloy::{
    primitives::{Address, U256, uint},
    providers::{RootProvider, ext::AnvilApi},
    rpc::types::TransactionReceipt,
    sol,
    sol_types::{SolCall, SolEvent, SolValue},
};
use shared::{
    chain::{
        Chain,
        contracts::native::{
            CommentsProtocol::{self, CommentIdentifier, Commented},
            Creator1155, CreatorFactory, Erc20Minter,
        },
        protocol::publishing::Publisher,
        wallet::{self, Call, CallKind, EmbeddedWallet, execution},
    },
    model::{Amount, NewMoment, OPEN_EDITION, RoyaltyBps, Sale, SaleTerms, TokenId},
};

use super::DemoCollection;
use crate::node::{StepError, during, transact};

// Each collection has two moments.
pub(super) const SOLD_FOR_ETHER: U256 = uint!(1_U256);
pub(super) const SOLD_FOR_USDC: U256 = uint!(2_U256);

/// 1.5 USDC in its 6 decimals.
pub(super) const USDC_PRICE: U256 = uint!(1_500_000_U256);

/// Pays for the gas of an account that acts by itself here alone: one ether, in wei.
const GAS: U256 = uint!(1_000_000_000_000_000_000_U256);

sol! {
    interface Currency {
        function mint(address account, uint256 amount) external;
        function approve(address spender, uint256 amount) external returns (bool);
    }
}

/// A collection to publish.
pub(super) struct Release {
    pub(super) name: &'static str,
    pub(super) uri: &'static str,
    pub(super) moment_uris: [&'static str; 2],
    /// Price of [`SOLD_FOR_ETHER`], in wei.
    pub(super) price: U256,
}

/// Sends the demo's transactions to one chain.
pub(super) struct DemoPublisher<'a> {
    node: RootProvider,
    chain: &'a Chain,
    spark_value: U256,
}

impl<'a> DemoPublisher<'a> {
    pub(super) async fn new(node: RootProvider, chain: &'a Chain) -> Result<Self, StepError> {
        let protocol = CommentsProtocol::new(chain.addresses.comments, &node);
        let spark_value = protocol.sparkValue().call().await.map_err(during("reading the price of a spark"))?;
        Ok(Self { node, chain, spark_value })
    }

    /// Deploys the artist's account, from which it creates a collection with two moments on sale.
    pub(super) async fn release(
        &self,
        artist: &EmbeddedWallet,
        release: &Release,
    ) -> Result<DemoCollection, StepError> {
        let (account, owner) = (artist.address(), artist.owner);
        self.node.anvil_impersonate_account(owner).await.map_err(during("acting for the operator"))?;
        self.node.anvil_set_balance(owner, GAS).await.map_err(during("acting for the operator"))?;
        self.send("artist's account", owner, wallet::PROXY_FACTORY, U256::ZERO, &artist.deployment()).await?;

        let publisher = Publisher { addresses: &self.chain.addresses, account, operator: account, split: None };
        let uri = release.uri.parse().map_err(during("collection's URI"))?;
        let creation = publisher.create_collection(release.name, &uri, &self.moments(release)?, RoyaltyBps::default());
        let call = Call::new(self.chain.addresses.factory, &creation);
        let transaction = execution(&call, CallKind::Call, owner).abi_encode();
        let receipt = transact(&self.node, "collection", owner, account, U256::ZERO, transaction).await?;
        self.node.anvil_stop_impersonating_account(owner).await.map_err(during("acting for the operator"))?;
        self.node.anvil_set_balance(owner, U256::ZERO).await.map_err(during("acting for the operator"))?;

        Ok(DemoCollection {
            chain_id: self.chain.id,
            address: event::<CreatorFactory::SetupNewContract>("collection", &receipt)?.newContract,
            name: release.name,
            artist: account,
            tokens: [SOLD_FOR_ETHER, SOLD_FOR_USDC].map(TokenId::from),
        })
    }

    /// The moments [`SOLD_FOR_ETHER`] and [`SOLD_FOR_USDC`], on sale without end.
    fn moments(&self, release: &Release) -> Result<Vec<NewMoment>, StepError> {
        let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
        let sales = [
            Sale::FixedPrice { terms, price: Amount(release.price) },
            Sale::Erc20 { terms, price: Amount(USDC_PRICE), currency: self.chain.addresses.usdc.into() },
        ];
        let moment = |(sale, uri): (Sale, &str)| {
            Ok(NewMoment {
                uri: uri.parse().map_err(during("moment's URI"))?,
                max_supply: OPEN_EDITION,
                create_referral: Address::ZERO.into(),
                sale,
                payout_recipient: None,
                mint_to_creator: 0,
                royalty: RoyaltyBps::default(),
            })
        };
        sales.into_iter().zip(release.moment_uris).map(moment).collect()
    }

    /// Collects [`SOLD_FOR_ETHER`].
    pub(super) async fn collect(
        &self,
        collector: Address,
        collection: &DemoCollection,
        price: U256,
        comment: &str,
    ) -> Result<(), StepError> {
        let step = "collecting";
        let fee = Creator1155::new(collection.address, &self.node).mintFee().call().await.map_err(during(step))?;
        let mint = Creator1155::mintCall {
            minter: self.chain.addresses.fixed_price_minter,
            tokenId: SOLD_FOR_ETHER,
            quantity: U256::ONE,
            rewardsRecipients: Vec::new(),
            minterArguments: (collector, comment).abi_encode_params().into(),
        };
        self.send(step, collector, collection.address, fee + price, &mint).await.map(drop)
    }

    /// Collects [`SOLD_FOR_USDC`].
    pub(super) async fn collect_for_usdc(
        &self,
        collector: Address,
        collection: &DemoCollection,
        comment: &str,
    ) -> Result<(), StepError> {
        let step = "collecting for USDC";
        let (currency, minter) = (self.chain.addresses.usdc, self.chain.addresses.erc20_minter);
        let money = Currency::mintCall { account: collector, amount: USDC_PRICE };
        self.send(step, collector, currency, U256::ZERO, &money).await?;
        let approval = Currency::approveCall { spender: minter, amount: USDC_PRICE };
        self.send(step, collector, currency, U256::ZERO, &approval).await?;

        let reward = Erc20Minter::new(minter, &self.node).ethRewardAmount().call().await.map_err(during(step))?;
        let mint = Erc20Minter::mintCall {
            mintTo: collector,
            quantity: U256::ONE,
            tokenAddress: collection.address,
            tokenId: SOLD_FOR_USDC,
            totalValue: USDC_PRICE,
            currency,
            mintReferral: Address::ZERO,
            comment: comment.to_owned(),
        };
        self.send(step, collector, minter, reward, &mint).await.map(drop)
    }

    /// Comments on the moment of `reply_to`: a reply, unless its commenter is zero.
    pub(super) async fn comment(
        &self,
        commenter: Address,
        text: &str,
        reply_to: &CommentIdentifier,
    ) -> Result<Commented, StepError> {
        let comment = CommentsProtocol::commentCall {
            commenter,
            contractAddress: reply_to.contractAddress,
            tokenId: reply_to.tokenId,
            text: text.to_owned(),
            replyTo: reply_to.clone(),
            commenterSmartWallet: Address::ZERO,
            referrer: Address::ZERO,
        };
        let step = "commenting";
        let receipt = self.send(step, commenter, self.chain.addresses.comments, self.spark_value, &comment).await?;
        event(step, &receipt)
    }

    /// Sends a spark to a comment.
    pub(super) async fn spark(&self, sparker: Address, comment: &CommentIdentifier) -> Result<(), StepError> {
        let spark = CommentsProtocol::sparkCommentCall {
            commentIdentifier: comment.clone(),
            sparksQuantity: U256::ONE,
            referrer: Address::ZERO,
        };
        self.send("sparking", sparker, self.chain.addresses.comments, self.spark_value, &spark).await.map(drop)
    }

    async fn send(
        &self,
        step: &'static str,
        from: Address,
        to: Address,
        value: U256,
        call: &impl SolCall,
    ) -> Result<TransactionReceipt, StepError> {
        transact(&self.node, step, from, to, value, call.abi_encode()).await
    }
}

/// The first event of type `E` in a receipt.
fn event<E: SolEvent>(step: &'static str, receipt: &TransactionReceipt) -> Result<E, StepError> {
    receipt.decoded_log::<E>().map(|log| log.data).ok_or(E::SIGNATURE).map_err(during(step))
}
