//! A purchase, read from the chain.

use alloy::primitives::{Address, U256, uint};
use shared::{
    api::error::no_moment,
    chain::{
        ChainAddresses,
        contracts::native::{Creator1155, Erc20Minter, LimitedMinter},
        node::{Node, NodeError},
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
    /// currency, in the chain's own, timed. Two rounds of calls, another one where the account has had all of its list.
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
        let (token, sales, now) = tokio::try_join!(
            node.read(moment.collection.into(), &token_info),
            CurrentSale::all(node, addresses, moment),
            node.newest_block_time()
        )?;
        // Token 0 stands for the collection: like an unknown token, it has no supply.
        let token = token.filter(|token| !token.maxSupply.is_zero()).ok_or_else(|| no_moment(moment))?;
        let mut refusal = ApiError::unprocessable("This moment is not for sale");
        for choice in choices(by, moment, &sales, lists, now).await? {
            let Choice { sale, proof } = choice;
            let purchase = Self { moment: *moment, sale, quantity: U256::from(quantity), fee: U256::ZERO, proof };
            purchase.check_supply(&token)?;
            let (fee, had) =
                tokio::try_join!(fee(&purchase, node, addresses), had_by(&purchase, node, addresses, by.account))?;
            match purchase.check_limit(had) {
                Ok(()) => return purchase.at(fee, by),
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

/// Protocol's fee per token; `None` if the contract has none.
async fn fee(purchase: &Purchase, node: &Node, addresses: &ChainAddresses) -> Result<Option<U256>, NodeError> {
    match purchase.sale.strategy {
        Strategy::FixedPrice | Strategy::AllowList { .. } => {
            node.read(purchase.moment.collection.into(), &Creator1155::mintFeeCall {}).await
        }
        Strategy::Erc20 { .. } => node.read(addresses.erc20_minter, &Erc20Minter::ethRewardAmountCall {}).await,
        Strategy::Timed => Ok(Some(TIMED_SALE_FEE)),
    }
}

/// Tokens that an account collected from a sale with a limit per address.
async fn had_by(
    purchase: &Purchase,
    node: &Node,
    addresses: &ChainAddresses,
    account: Address,
) -> Result<U256, NodeError> {
    if purchase.sale.terms.max_per_address == 0 {
        return Ok(U256::ZERO);
    }
    let had = LimitedMinter::getMintedPerWalletCall {
        tokenContract: purchase.moment.collection.into(),
        tokenId: purchase.moment.token.into(),
        wallet: account,
    };
    Ok(node.read(purchase.sale.strategy.minter(addresses), &had).await?.unwrap_or_default())
}
