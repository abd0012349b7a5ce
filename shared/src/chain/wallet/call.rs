use alloy::{
    primitives::{Address, Bytes, U256, address},
    sol_types::SolCall,
};

pub use crate::model::Call;
use crate::chain::contracts::native::MultiSendCallOnly;

/// Contract that runs several calls in one transaction of an account.
pub const MULTI_SEND_CALL_ONLY: Address = address!("9641d764fc13c8B624c04430C7356C1C7C8102e2");

const CALL: u8 = 0;

impl Call {
    /// A call without value.
    pub fn new(target: Address, function: &impl SolCall) -> Self {
        Self { target, value: U256::ZERO, data: function.abi_encode().into() }
    }

    /// The same call with `value` wei.
    pub fn with_value(self, value: U256) -> Self {
        Self { value, ..self }
    }

    /// A plain payment of `value` wei.
    pub fn payment(to: Address, value: U256) -> Self {
        Self { target: to, value, data: Bytes::new() }
    }
}

/// Several calls as one call of `MultiSendCallOnly`, which reverts if one of them does.
pub fn batch(calls: &[Call]) -> Call {
    let mut transactions = Vec::new();
    for Call { target, value, data } in calls {
        transactions.push(CALL);
        transactions.extend_from_slice(target.as_slice());
        transactions.extend_from_slice(&value.to_be_bytes::<32>());
        transactions.extend_from_slice(&U256::from(data.len()).to_be_bytes::<32>());
        transactions.extend_from_slice(data);
    }
    Call::new(MULTI_SEND_CALL_ONLY, &MultiSendCallOnly::multiSendCall { transactions: transactions.into() })
}
