//! Packing of many accounts' calls into one transaction of a lane: `operatorSafe.execTransaction` delegates to
//! `MultiSendCallOnly`, which calls `execTransaction` of each account. All of it is approved by being the sender, so
//! the lane's signature of the transaction is the only one.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolCall,
};

use crate::chain::{
    contracts::safe::Safe::{self, execTransactionCall},
    wallet::{
        Call, CallKind, EmbeddedWallet, MULTI_SEND_CALL_ONLY, OperatorAccount, PACKED_HEAD, PROXY_FACTORY, batch,
        capped_execution, combined, execution, unbatch,
    },
};

/// Most gas of one transaction: <https://eips.ethereum.org/EIPS/eip-7825>
pub const MAX_TRANSACTION_GAS: u64 = 16_777_216;
/// Most calldata of one transaction in bytes, since nodes refuse transactions of over 128 KiB.
pub const MAX_TRANSACTION_BYTES: usize = 120_000;

/// Gas cap of a deployment, which uses 240,000.
const DEPLOYMENT_GAS: u64 = 275_000;

/// What an account does in a packed transaction. It may fail without the others failing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The account, an artist's or the utility Safe.
    pub account: Address,
    /// The call that it makes.
    pub call: Call,
    /// How it makes the call.
    pub kind: CallKind,
    /// Most gas that the call gets; it never gets less either.
    pub gas: u64,
    /// Whether this may be the account's first transaction, which costs more.
    pub may_be_first: bool,
}

impl Operation {
    /// An account makes `calls`, all or none, with at most `gas` for all of them.
    pub fn new(account: Address, calls: &[Call], gas: u64, may_be_first: bool) -> Self {
        let (call, kind) = combined(calls);
        Self { account, call, kind, gas, may_be_first }
    }

    /// The utility Safe deploys a wallet unless it is deployed: a second deployment would burn all gas, so the wallet's
    /// `setup` is called first, which does nothing where no code is and reverts where a wallet is.
    pub fn deployment(operator: &OperatorAccount, wallet: &EmbeddedWallet) -> Self {
        let probe = Safe::setupCall {
            _owners: Vec::new(),
            _threshold: U256::ZERO,
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: Address::ZERO,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        };
        let calls = [Call::new(wallet.address(), &probe), Call::new(PROXY_FACTORY, &wallet.deployment())];
        Self::new(operator.utility, &calls, DEPLOYMENT_GAS, true)
    }

    /// Whether the operator Safe's guard lets it through: no account may call itself, the operator Safe or the zero
    /// address, nor run code but `MultiSendCallOnly`. One that is refused makes all of a batch revert.
    pub fn passes_guard(&self, operator_safe: Address) -> bool {
        let is_allowed = |target: Address| ![self.account, operator_safe, Address::ZERO].contains(&target);
        let is_allowed_batch = |calls: Vec<Call>| calls.iter().all(|call| is_allowed(call.target));
        is_allowed(self.call.target)
            && match self.kind {
                CallKind::Call => true,
                CallKind::DelegateCall => {
                    self.call.target == MULTI_SEND_CALL_ONLY && unbatch(&self.call.data).is_some_and(is_allowed_batch)
                }
            }
    }

    fn transaction(&self, operator_safe: Address) -> Call {
        Call::new(self.account, &capped_execution(&self.call, self.kind, operator_safe, self.gas))
    }

    /// The calls that the account makes.
    pub fn calls(&self) -> Vec<Call> {
        match self.kind {
            CallKind::Call => vec![self.call.clone()],
            CallKind::DelegateCall => unbatch(&self.call.data).unwrap_or_default(),
        }
    }

    fn sends_value(&self) -> bool {
        self.kind == CallKind::Call && !self.call.value.is_zero()
    }

    fn packed_calls(&self) -> u64 {
        match self.kind {
            CallKind::Call => 0,
            CallKind::DelegateCall => self.calls().len() as u64,
        }
    }
}

/// A lane's transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The operator Safe.
    pub to: Address,
    /// Its call data.
    pub data: Bytes,
    /// Gas limit under which no operation can make another fail.
    pub gas_limit: u64,
}

/// Packs operations, in their order, into one transaction of `lane`.
pub fn pack(operator_safe: Address, lane: Address, operations: &[Operation]) -> Packed {
    let mut load = Load { bytes: 0, tokens: 0, ..Load::default() };
    let mut calls = Vec::new();
    for operation in operations {
        let call = operation.transaction(operator_safe);
        load.count(operation, &call);
        calls.push(call);
    }
    let data = execution(&batch(&calls), CallKind::DelegateCall, lane).abi_encode();
    load.bytes = data.len();
    load.tokens = tokens(&data);
    Packed { to: operator_safe, data: data.into(), gas_limit: load.gas_limit() }
}

/// The operations of call data, none of them an account's first; `None` unless [`pack`] makes these very bytes.
pub fn unpack(operator_safe: Address, lane: Address, data: &[u8]) -> Option<Vec<Operation>> {
    let outer = execTransactionCall::abi_decode(data).ok()?;
    let operations: Option<Vec<_>> = unbatch(&outer.data)?.iter().map(operation).collect();
    operations.filter(|operations| *pack(operator_safe, lane, operations).data == *data)
}

fn operation(call: &Call) -> Option<Operation> {
    let inner = execTransactionCall::abi_decode(&call.data).ok()?;
    let kind = match inner.operation {
        0 => CallKind::Call,
        1 if inner.to == MULTI_SEND_CALL_ONLY => CallKind::DelegateCall,
        _ => return None,
    };
    let gas = u64::try_from(inner.safeTxGas).ok()?;
    let action = Call { target: inner.to, value: inner.value, data: inner.data };
    Some(Operation { account: call.target, call: action, kind, gas, may_be_first: false })
}

/// Size and gas limit of a transaction before it is packed, never less than they turn out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    bytes: usize,
    tokens: u64,
    operations_gas: u64,
    largest_cap: u64,
}

impl Default for Load {
    fn default() -> Self {
        // Head, lengths and paddings of both calls around the operations, and the lane's approval.
        const WRAPPER: usize = 620;
        Self { bytes: WRAPPER, tokens: 4 * WRAPPER as u64, operations_gas: 0, largest_cap: 0 }
    }
}

impl Load {
    /// The load with one more operation.
    pub fn with(mut self, operation: &Operation) -> Self {
        // An address without zeros is the dearest.
        let call = operation.transaction(Address::repeat_byte(0xff));
        self.bytes += PACKED_HEAD + call.data.len();
        let (kind, value, length) = (1, 32, U256::from(call.data.len()).to_be_bytes::<32>());
        self.tokens += kind + tokens(call.target.as_slice()) + value + tokens(&length) + tokens(&call.data);
        self.count(operation, &call);
        self
    }

    /// Whether the transaction stays within limits, as [`MAX_TRANSACTION_GAS`] and [`MAX_TRANSACTION_BYTES`].
    pub fn fits(&self, max_gas: u64, max_bytes: usize) -> bool {
        self.bytes <= max_bytes && self.gas_limit() <= max_gas
    }

    fn count(&mut self, operation: &Operation, transaction: &Call) {
        /// A Safe transaction besides its inner call, with margin for a cold target and the guard.
        const OVERHEAD: u64 = 35_000;
        /// Hashing, copying and logging of one byte of an account's transaction.
        const PER_BYTE: u64 = 12;
        /// What the guard takes for a call in an account's batch.
        const PER_PACKED_CALL: u64 = 600;
        /// A nonce that is set for the first time rather than changed.
        const FIRST: u64 = 17_100;
        /// Sending value, to an account that doesn't exist. The call's own gas doesn't pay for it.
        const VALUE: u64 = 9_000 + 25_000;
        self.largest_cap = self.largest_cap.max(operation.gas);
        let bytes = PER_BYTE * transaction.data.len() as u64;
        let first = if operation.may_be_first { FIRST } else { 0 };
        let value = if operation.sends_value() { VALUE } else { 0 };
        let gas = OVERHEAD + bytes + first + value + PER_PACKED_CALL * operation.packed_calls();
        self.operations_gas = self.operations_gas.saturating_add(operation.gas).saturating_add(gas);
    }

    /// Computed, not estimated: operations may use more later, and the whole transaction would revert. The factor 1.033 and the sixteenth of the largest cap are what calls at depth 5 leave to their callers (1/64
    /// each, EIP-150); the quadratic term is memory. Data costs at least what EIP-7623 says.
    pub fn gas_limit(&self) -> u64 {
        const TRANSACTION: u64 = 21_000;
        /// The operator Safe's own work, its guard's included.
        const WRAPPER: u64 = 60_000;
        let bytes = self.bytes as u64;
        let memory = bytes.saturating_mul(bytes) / 262_144;
        let operations = self.operations_gas.saturating_add(self.largest_cap / 16).saturating_mul(1_033) / 1_000;
        let execution = (TRANSACTION + 4 * self.tokens + WRAPPER + memory).saturating_add(operations);
        execution.max(TRANSACTION + 10 * self.tokens)
    }
}

/// Calldata tokens of EIP-7623: 1 for a zero byte, 4 for any other; 4 gas each, 10 at the floor.
pub(super) fn tokens(data: &[u8]) -> u64 {
    data.iter().map(|byte| if *byte == 0 { 1 } else { 4 }).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPERATOR: Address = Address::repeat_byte(0xaa);
    const LANE: Address = Address::repeat_byte(0xbb);

    fn call() -> impl Strategy<Value = Call> {
        (any::<[u8; 20]>(), any::<u64>(), prop::collection::vec(any::<u8>(), 0..300)).prop_map(
            |(target, value, data)| Call { target: target.into(), value: U256::from(value), data: data.into() },
        )
    }

    prop_compose! {
        fn operations()(
            operations in prop::collection::vec(
                (any::<[u8; 20]>(), prop::collection::vec(call(), 1..4), 1..5_000_000u64, any::<bool>()),
                0..12,
            ),
        ) -> Vec<Operation> {
            let new = |(account, calls, gas, first): ([u8; 20], Vec<Call>, u64, bool)| {
                Operation::new(account.into(), &calls, gas, first)
            };
            operations.into_iter().map(new).collect()
        }
    }

    proptest! {
        #[test]
        fn packed_operations_are_unpacked(operations in operations()) {
            let packed = pack(OPERATOR, LANE, &operations);
            let unmarked = |operation| Operation { may_be_first: false, ..operation };
            let expected: Vec<_> = operations.into_iter().map(unmarked).collect();
            prop_assert_eq!(unpack(OPERATOR, LANE, &packed.data), Some(expected));
            prop_assert_eq!(unpack(OPERATOR, OPERATOR, &packed.data), None);
        }

        #[test]
        fn changed_bytes_are_unpacked_to_something_else(
            operations in operations(), at in any::<prop::sample::Index>(), bits in 1..=255u8,
        ) {
            let mut data = pack(OPERATOR, LANE, &operations).data.to_vec();
            let at = at.index(data.len());
            data[at] ^= bits;
            if let Some(changed) = unpack(OPERATOR, LANE, &data) {
                prop_assert_eq!(pack(OPERATOR, LANE, &changed).data, data);
            }
        }

        #[test]
        fn load_is_at_least_what_is_packed(operations in operations()) {
            let load = operations.iter().fold(Load::default(), |load, operation| load.with(operation));
            let packed = pack(OPERATOR, LANE, &operations);
            prop_assert!(load.bytes >= packed.data.len());
            prop_assert!(load.gas_limit() >= packed.gas_limit);
            prop_assert!(load.gas_limit() <= packed.gas_limit + packed.gas_limit / 5);
        }
    }

    /// A batch of the prototype's measurements: the same call of every account, with data of this length.
    fn measured(count: u8, gas: u64, data: usize, may_be_first: bool) -> Vec<Operation> {
        let operation = |index| {
            let data = vec![7; data].into();
            let call = Call { target: Address::repeat_byte(3), value: U256::ZERO, data };
            Operation::new(Address::repeat_byte(index + 1), &[call], gas, may_be_first)
        };
        (0..count).map(operation).collect()
    }

    /// Least limits found by bisection on a chain, when every operation burns all that it may.
    #[test]
    fn gas_limits_are_little_above_what_burning_batches_need() {
        for (count, gas, data, first, least, formula) in [
            (1, 30_000, 4, false, 122_013, 162_927),
            (1, 150_000, 4, false, 249_800, 294_646),
            (5, 30_000, 4, false, 390_626, 470_624),
            (5, 150_000, 4, false, 1_013_883, 1_098_232),
            (20, 150_000, 4, false, 3_880_426, 4_112_141),
            (50, 30_000, 4, false, 3_419_733, 3_935_488),
            (50, 150_000, 4, false, 9_616_256, 10_141_836),
            (1, 10_000_000, 4, false, 10_903_608, 11_105_637),
            (20, 150_000, 4, true, 4_233_925, 4_465_451),
            (100, 60_000, 4, false, 9_892_076, 10_892_685),
            (1, 1, 4, false, 90_440, 129_989),
            (1, 1, 4, true, 108_172, 147_653),
            (50, 1, 4, false, 1_870_173, 2_383_503),
            (100, 60_000, 1_004, false, 12_599_602, 13_803_889),
            (10, 100_000, 8_004, false, 3_571_543, 3_883_354),
            (5, 100_000, 24_004, false, 4_871_251, 4_871_220),
        ] {
            let limit = pack(OPERATOR, LANE, &measured(count, gas, data, first)).gas_limit;
            let case = format!("{count} of {gas} gas with {data} bytes: {limit}, least {least}, formula {formula}");
            // Other addresses have other zeros: up to 1 % of the gas is theirs.
            assert!(limit.abs_diff(formula) < formula / 100, "{case}");
            assert!(limit * 1_000 >= least * 999, "{case}");
        }
    }

    #[test]
    fn loads_fit_as_many_operations_as_were_measured() {
        let fit = |gas, data| {
            let call = Call { target: Address::repeat_byte(3), value: U256::ZERO, data: vec![0; data].into() };
            let operation = Operation::new(Address::repeat_byte(1), &[call], gas, false);
            let mut load = Load::default().with(&operation);
            for count in 1.. {
                load = load.with(&operation);
                if !load.fits(MAX_TRANSACTION_GAS, MAX_TRANSACTION_BYTES) {
                    return count;
                }
            }
            0
        };
        // The measurement had 109 of the first, some of them first transactions of their accounts.
        assert_eq!([fit(100_000, 68), fit(150_000, 150), fit(300_000, 500)], [110, 82, 45]);
        assert_eq!(fit(30_000, 10_000), 11, "bytes are a limit, too");
    }

    #[test]
    fn value_is_paid_for_besides_the_cap() {
        let limit = |calls: &[Call]| {
            pack(OPERATOR, LANE, &[Operation::new(Address::repeat_byte(1), calls, 50_000, false)]).gas_limit
        };
        let call = Call::payment(Address::repeat_byte(2), U256::ZERO);
        let paying = call.clone().with_value(U256::from(u64::MAX));
        let extra = limit(std::slice::from_ref(&paying)) - limit(std::slice::from_ref(&call));
        assert!((34_000..36_000).contains(&extra), "{extra}");
        // In a batch of the account's own the value is paid for within the cap.
        assert!(limit(&[paying, call.clone()]) - limit(&[call.clone(), call]) < 1_000);
    }
}
