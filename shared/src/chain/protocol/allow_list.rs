//! Sales to the accounts of a list.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolCall,
};

use super::{
    permission::Permission,
    sale::{CurrentSale, Strategy},
};
use crate::{
    chain::{
        contracts::native::{Creator1155, MerkleMinter},
        wallet::Call,
    },
    model::{MomentRef, SaleTerms},
};

/// The call that sells a moment to a list with this root, beside its other sales, instead of an earlier one. `may_mint` says
/// whether the strategy has the permission to mint, which it is given otherwise.
pub fn sell_to_list(
    moment: &MomentRef,
    strategy: Strategy,
    (start, end): (u64, u64),
    funds_recipient: Address,
    may_mint: bool,
) -> Option<Call> {
    let Strategy::AllowList { minter, .. } = strategy else { return None };
    let terms = SaleTerms { start, end, max_per_address: 0 };
    let sale = CurrentSale { strategy, terms, price: U256::ZERO, funds_recipient };
    Some(on_strategy(moment, minter, sale.setting(moment.token.into(), ""), may_mint))
}

/// The call that ends a moment's sale to a list.
pub fn end_list_sale(moment: &MomentRef, minter: Address, may_mint: bool) -> Call {
    let reset = MerkleMinter::resetSaleCall { tokenId: moment.token.into() };
    on_strategy(moment, minter, reset.abi_encode().into(), may_mint)
}

/// Collections call strategies that may mint, and no others.
fn on_strategy(moment: &MomentRef, minter: Address, data: Bytes, may_mint: bool) -> Call {
    let (collection, token) = (moment.collection.into(), moment.token.into());
    let call = Creator1155::callSaleCall { tokenId: token, salesConfig: minter, data };
    if may_mint {
        return Call::new(collection, &call);
    }
    let grant = Permission::Minter.grant(token, minter);
    let data = vec![grant.abi_encode().into(), call.abi_encode().into()];
    Call::new(collection, &Creator1155::multicallCall { data })
}
