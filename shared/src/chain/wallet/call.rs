use alloy::{
    primitives::{Address, Bytes, U256, address},
    sol_types::SolCall,
};

use crate::chain::contracts::safe::MultiSendCallOnly::multiSendCall;
pub use crate::model::Call;

/// Contract that runs several calls in one transaction of an account.
pub const MULTI_SEND_CALL_ONLY: Address = address!("9641d764fc13c8B624c04430C7356C1C7C8102e2");

/// Bytes of a packed call before its data: kind, target, value and the data's length.
pub(crate) const PACKED_HEAD: usize = 1 + 20 + 32 + 32;

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

/// How an account runs a call's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// As the target, with the account as the sender.
    Call = 0,
    /// As the account itself.
    DelegateCall = 1,
}

/// Several calls as one call of `MultiSendCallOnly`, which reverts if one of them does.
pub fn batch(calls: &[Call]) -> Call {
    let mut transactions = Vec::new();
    for Call { target, value, data } in calls {
        transactions.push(CallKind::Call as u8);
        transactions.extend_from_slice(target.as_slice());
        transactions.extend_from_slice(&value.to_be_bytes::<32>());
        transactions.extend_from_slice(&U256::from(data.len()).to_be_bytes::<32>());
        transactions.extend_from_slice(data);
    }
    Call::new(MULTI_SEND_CALL_ONLY, &multiSendCall { transactions: transactions.into() })
}

/// The calls that `data` makes `MultiSendCallOnly` run; `None` unless [`batch`] encodes them to these very bytes.
pub fn unbatch(data: &[u8]) -> Option<Vec<Call>> {
    let transactions = multiSendCall::abi_decode(data).ok()?.transactions;
    let mut rest: &[u8] = &transactions;
    let mut calls = Vec::new();
    while let Some((head, tail)) = rest.split_first_chunk::<PACKED_HEAD>() {
        let length = usize::try_from(U256::from_be_slice(&head[53..])).ok()?;
        let (data, tail) = tail.split_at_checked(length)?;
        let (target, value) = (Address::from_slice(&head[1..21]), U256::from_be_slice(&head[21..53]));
        calls.push(Call { target, value, data: Bytes::copy_from_slice(data) });
        rest = tail;
    }
    (*batch(&calls).data == *data).then_some(calls)
}

/// One call for all of `calls`: a single one as it is, several as a batch that runs as the account.
pub(crate) fn combined(calls: &[Call]) -> (Call, CallKind) {
    match calls {
        [call] => (call.clone(), CallKind::Call),
        calls => (batch(calls), CallKind::DelegateCall),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call() -> impl Strategy<Value = Call> {
        (any::<[u8; 20]>(), any::<u128>(), prop::collection::vec(any::<u8>(), 0..200)).prop_map(
            |(target, value, data)| Call { target: target.into(), value: U256::from(value), data: data.into() },
        )
    }

    proptest! {
        #[test]
        fn batches_are_decoded_to_their_calls(calls in prop::collection::vec(call(), 0..8)) {
            prop_assert_eq!(unbatch(&batch(&calls).data), Some(calls));
        }

        #[test]
        fn changed_batches_are_other_calls_or_none(
            calls in prop::collection::vec(call(), 1..4), at in any::<prop::sample::Index>(), bits in 1..=255u8,
        ) {
            let mut data = batch(&calls).data.to_vec();
            let at = at.index(data.len());
            data[at] ^= bits;
            prop_assert_ne!(unbatch(&data), Some(calls));
        }
    }

    #[test]
    fn delegatecalls_and_trailing_bytes_are_no_batches() {
        let call = Call::payment(Address::repeat_byte(1), U256::ONE);
        let packed = |first: u8, tail: &[u8]| {
            let transactions =
                multiSendCall::abi_decode(&batch(std::slice::from_ref(&call)).data).unwrap().transactions;
            multiSendCall { transactions: [&[first], &transactions[1..], tail].concat().into() }.abi_encode()
        };
        assert_eq!(unbatch(&packed(0, &[])), Some(vec![call.clone()]));
        assert_eq!(unbatch(&packed(1, &[])), None);
        assert_eq!(unbatch(&packed(0, &[0])), None);
        assert_eq!(unbatch(&[]), None);
    }
}
