use serde::{Deserialize, Serialize};

/// Fees of one signed attempt (EIP-1559), in wei per unit of gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// Most that is paid, base fee and tip together.
    pub max_fee_per_gas: u64,
    /// Most of it that the block's producer gets as a tip.
    pub max_priority_fee_per_gas: u64,
}

/// Current market fees, in wei per unit of gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketFees {
    /// The newest block that they are of.
    pub block: u64,
    /// Base fee of the next block.
    pub base: u64,
    /// Median tip of the last blocks.
    pub tip: u64,
}
