//! Tokens that an admin mints to others.

use alloy::{
    primitives::{Bytes, U256},
    sol_types::SolCall,
};

use crate::{
    chain::{
        contracts::native::Creator1155,
        node::{Node, NodeError},
        wallet::Call,
    },
    model::{Address, MomentRef},
};

/// One token of the moment to each of the accounts; to one that is named twice, two.
pub fn gift(moment: &MomentRef, accounts: impl IntoIterator<Item = Address>) -> Call {
    let mint = |account: Address| Creator1155::adminMintCall {
        recipient: account.into(),
        tokenId: moment.token.into(),
        quantity: U256::ONE,
        data: Bytes::new(),
    };
    let mints = accounts.into_iter().map(|account| mint(account).abi_encode().into());
    Call::new(moment.collection.into(), &Creator1155::multicallCall { data: mints.collect() })
}

/// How many tokens of the moment can still be minted; `None` if there is no such moment. One call.
pub async fn mintable(node: &Node, moment: &MomentRef) -> Result<Option<U256>, NodeError> {
    let info = Creator1155::getTokenInfoCall { tokenId: moment.token.into() };
    let info = node.read(moment.collection.into(), &info).await?;
    Ok(info.map(|info| info.maxSupply.saturating_sub(info.totalMinted)))
}
