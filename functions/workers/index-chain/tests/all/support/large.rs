//! Transactions whose events name very many tokens.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol,
};
use tests::{Error, history::History};

sol! {
    interface Calls {
        function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data) external;
        function mint(uint8 tier, address to, uint256 quantity) external;
    }
}

/// Mints so many tokens of an edition in one transaction.
pub async fn mint(history: &mut History, edition: Address, to: Address, tokens: u64) -> Result<(), Error> {
    let mint = Calls::mintCall { tier: 0, to, quantity: U256::from(tokens) };
    history.send(to, edition, U256::ZERO, &mint).await?.ok_or("not minted")?;
    Ok(())
}

/// Transfers nothing of token 1, so many times in one transaction.
pub async fn transfer_nothing(
    history: &mut History,
    collection: Address,
    from: Address,
    to: Address,
    times: usize,
) -> Result<(), Error> {
    let (ids, values) = (vec![U256::ONE; times], vec![U256::ZERO; times]);
    let batch = Calls::safeBatchTransferFromCall { from, to, ids, values, data: Bytes::new() };
    history.send(from, collection, U256::ZERO, &batch).await?.ok_or("not sent")?;
    Ok(())
}
