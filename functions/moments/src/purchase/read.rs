//! A purchase, read from the chain.

use alloy::primitives::{Address, U256, uint};
use futures::future::try_join_all;
use shared::{
    api::error::no_moment,
    chain::{
        contracts::native::{Creator1155, Erc20Minter, LimitedMinter},
        node::NodeError,
        protocol::sale::{CurrentSale, Strategy},
    },
    http::ApiError,
    model::MomentRef,
    store::artist::AllowLists,
};

use super::{
    Collector, Purchase,
    choice::{Choice, choices},
};
use crate::collect_moment::Quantity;

/// Fee of a timed sale per token, in wei. A constant of the strategy's contract without a function:
/// <https://github.com/ourzora/zora-protocol/blob/main/legacy/erc20z/src/minter/ZoraTimedSaleStrategyConstants.sol>
const TIMED_SALE_FEE: U256 = uint!(111_000_000_000_000_U256);

/// Most that the protocol ever took as a mint fee per token, in wei. A collection that asks for more isn't the protocol's:
/// <https://github.com/ourzora/zora-protocol/blob/main/packages/1155-contracts/CHANGELOG.md>
const MOST_MINT_FEE: U256 = uint!(777_000_000_000_000_U256);

impl Purchase {
    /// Chooses the sale of a list that the account is on and may have so many of, or the first open one: in an ERC-20
    /// currency, in the chain's own, timed. One round trip of calls.
    ///
    /// # Errors
    /// 404 for an unknown moment, 422 for one that can't be collected now, or not in this quantity, or not by the
    /// account.
    pub async fn read(
        by: Collector<'_>,
        moment: &MomentRef,
        Quantity(quantity): Quantity,
        lists: &AllowLists,
    ) -> Result<Self, ApiError> {
        let (node, addresses) = (by.node, &by.chain.addresses);
        let token_info = Creator1155::getTokenInfoCall { tokenId: moment.token.into() };
        let (token, sales, facts, now) = tokio::try_join!(
            node.read(moment.collection.into(), &token_info),
            CurrentSale::all(node, addresses, moment),
            Facts::read(by, moment),
            node.newest_block_time()
        )?;
        // Token 0 stands for the collection: like an unknown token, it has no supply.
        let token = token.filter(|token| !token.maxSupply.is_zero()).ok_or_else(|| no_moment(moment))?;
        let mut refusal = ApiError::unprocessable("This moment is not for sale");
        for choice in choices(by, moment, &sales, lists, now).await? {
            let Choice { sale, proof } = choice;
            let purchase = Self { moment: *moment, sale, quantity: U256::from(quantity), fee: U256::ZERO, proof };
            purchase.check_supply(&token)?;
            match purchase.check_limit(facts.had_by(sale.strategy.minter(addresses))) {
                Ok(()) => return purchase.at(facts.fee(sale.strategy), by),
                Err(limit) => refusal = limit,
            }
        }
        Err(refusal)
    }

    /// The purchase at its contract's fee.
    fn at(self, fee: Option<U256>, by: Collector<'_>) -> Result<Self, ApiError> {
        let fee = fee.ok_or_else(|| ApiError::unprocessable("This collection doesn't say what collecting costs"))?;
        if fee > MOST_MINT_FEE {
            return Err(ApiError::unprocessable("This collection asks for more than the protocol's mint fee"));
        }
        if let Strategy::Erc20 { currency } = self.sale.strategy
            && !by.chain.currencies().iter().any(|known| known.contract == Some(currency))
        {
            let reason =
                format!("This moment is sold for the currency {currency:#x}, which your account can't pay with");
            return Err(ApiError::unprocessable(reason));
        }
        Ok(Self { fee, ..self })
    }
}

/// What collecting depends on besides the sale, for every sale that there may be: reading all is one round trip less.
struct Facts {
    /// Protocol's fee per token for the chain's own currency, and for another one; `None` if the contract has none.
    fees: [Option<U256>; 2],
    /// Strategies, and the tokens that the account collected from each.
    had: Vec<(Address, U256)>,
}

impl Facts {
    async fn read(by: Collector<'_>, moment: &MomentRef) -> Result<Self, NodeError> {
        let (node, addresses) = (by.node, &by.chain.addresses);
        let (collection, token) = (moment.collection.into(), moment.token.into());
        let question =
            LimitedMinter::getMintedPerWalletCall { tokenContract: collection, tokenId: token, wallet: by.account };
        let question = &question;
        let limited = [addresses.fixed_price_minter, addresses.erc20_minter].into_iter().chain(addresses.merkle_minter);
        let had = limited.map(|minter| async move {
            Ok::<_, NodeError>((minter, node.read(minter, question).await?.unwrap_or_default()))
        });
        let (own, other, had) = tokio::try_join!(
            node.read(collection, &Creator1155::mintFeeCall {}),
            node.read(addresses.erc20_minter, &Erc20Minter::ethRewardAmountCall {}),
            try_join_all(had)
        )?;
        Ok(Self { fees: [own, other], had })
    }

    fn fee(&self, strategy: Strategy) -> Option<U256> {
        let [own, other] = self.fees;
        match strategy {
            Strategy::FixedPrice | Strategy::AllowList { .. } => own,
            Strategy::Erc20 { .. } => other,
            Strategy::Timed => Some(TIMED_SALE_FEE),
        }
    }

    fn had_by(&self, minter: Address) -> U256 {
        self.had.iter().find(|(strategy, _)| *strategy == minter).map(|(_, had)| *had).unwrap_or_default()
    }
}
