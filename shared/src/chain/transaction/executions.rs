//! Outcome of each operation of a packed transaction, from the receipt's logs alone.

use alloy::{
    primitives::{Log as Event, U256},
    rpc::types::Log,
    sol_types::SolEvent,
};

use super::packing::Operation;
use crate::chain::contracts::safe::Safe::{ExecutionFailure, ExecutionSuccess, SafeMultiSigTransaction};

/// What an operation did on the chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Execution {
    /// The account ran it.
    Executed {
        /// Whether its call succeeded; without effect otherwise.
        succeeded: bool,
        /// Gas that its call used, with some 3,000 around it and, if it sends value, up to 34,000 for that.
        gas: u64,
        /// Logs of its call, in their order.
        logs: Vec<Log>,
    },
    /// The account didn't run it: no account is deployed at the address, or the whole transaction reverted.
    Absent,
}

/// What each operation did, given all logs of the transaction. `operations` are in packed order.
///
/// An operation's logs are those between its account's `SafeMultiSigTransaction` and the same account's next
/// `ExecutionSuccess` or `ExecutionFailure`. Others can log the same events at their own addresses alone: an account
/// runs no code but its own and that of `MultiSendCallOnly`, and only the operator Safe makes it start.
pub fn attribute(logs: &[Log], operations: &[Operation]) -> Vec<Execution> {
    let mut next = 0;
    let mut execution = |operation| {
        let span = find(&logs[next..], operation);
        let Some((start, end, succeeded, gas)) = span else { return Execution::Absent };
        let logs = logs[next + start + 1..next + end].to_vec();
        next += end + 1;
        Execution::Executed { succeeded, gas, logs }
    };
    operations.iter().map(&mut execution).collect()
}

/// Positions of the operation's first and last event, whether it succeeded, and its gas.
fn find(logs: &[Log], operation: &Operation) -> Option<(usize, usize, bool, u64)> {
    let own = |log: &&Log| log.address() == operation.account;
    let start = logs.iter().position(|log| own(&log) && starts(log, operation))?;
    logs.iter().enumerate().skip(start + 1).filter(|(_, log)| own(log)).find_map(|(end, log)| {
        let (succeeded, payment) = outcome(&log.inner)?;
        Some((start, end, succeeded, u64::try_from(payment).unwrap_or(u64::MAX)))
    })
}

fn starts(log: &Log, operation: &Operation) -> bool {
    SafeMultiSigTransaction::decode_log_data(&log.inner.data).is_ok_and(|event| {
        event.to == operation.call.target
            && event.value == operation.call.value
            && event.data == operation.call.data
            && event.operation == operation.kind as u8
            && event.safeTxGas == U256::from(operation.gas)
    })
}

fn outcome(event: &Event) -> Option<(bool, U256)> {
    let success = ExecutionSuccess::decode_log(event).map(|event| (true, event.payment));
    success.or_else(|_| ExecutionFailure::decode_log(event).map(|event| (false, event.payment))).ok()
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Address, B256, Bytes, LogData};

    use super::*;
    use crate::chain::wallet::Call;

    const ALICE: Address = Address::repeat_byte(0xa1);
    const BOB: Address = Address::repeat_byte(0xb0);
    const HOSTILE: Address = Address::repeat_byte(0xee);

    fn operation(account: Address, number: u8) -> Operation {
        let call = Call { target: HOSTILE, value: U256::from(number), data: vec![number; 40].into() };
        Operation::new(account, &[call], 100_000, false)
    }

    fn log(address: Address, data: LogData) -> Log {
        Log { inner: Event { address, data }, ..Log::default() }
    }

    fn started(operation: &Operation) -> LogData {
        SafeMultiSigTransaction {
            to: operation.call.target,
            value: operation.call.value,
            data: operation.call.data.clone(),
            operation: operation.kind as u8,
            safeTxGas: U256::from(operation.gas),
            baseGas: U256::ZERO,
            gasPrice: U256::ONE,
            gasToken: Address::ZERO,
            refundReceiver: Address::ZERO,
            signatures: Bytes::new(),
            additionalInfo: Bytes::new(),
        }
        .encode_log_data()
    }

    fn succeeded(gas: u64) -> LogData {
        ExecutionSuccess { txHash: B256::ZERO, payment: U256::from(gas) }.encode_log_data()
    }

    fn failed(gas: u64) -> LogData {
        ExecutionFailure { txHash: B256::ZERO, payment: U256::from(gas) }.encode_log_data()
    }

    fn noise(address: Address, number: u8) -> Log {
        log(address, LogData::new_unchecked(vec![B256::repeat_byte(number)], vec![number].into()))
    }

    #[test]
    fn logs_are_attributed_in_packed_order() {
        let operations = [operation(ALICE, 1), operation(ALICE, 2), operation(BOB, 3)];
        let logs = [
            log(ALICE, started(&operations[0])),
            noise(HOSTILE, 7),
            noise(ALICE, 8),
            log(ALICE, succeeded(72_218)),
            log(ALICE, started(&operations[1])),
            log(ALICE, failed(673)),
            log(BOB, started(&operations[2])),
            log(BOB, succeeded(5)),
            noise(HOSTILE, 9),
        ];
        let own = vec![noise(HOSTILE, 7), noise(ALICE, 8)];
        assert_eq!(
            attribute(&logs, &operations),
            [
                Execution::Executed { succeeded: true, gas: 72_218, logs: own },
                Execution::Executed { succeeded: false, gas: 673, logs: Vec::new() },
                Execution::Executed { succeeded: true, gas: 5, logs: Vec::new() },
            ]
        );
    }

    #[test]
    fn events_forged_by_other_contracts_change_nothing() {
        let operations = [operation(ALICE, 1), operation(BOB, 2)];
        let forged = [
            log(HOSTILE, succeeded(1)),
            log(HOSTILE, started(&operations[1])),
            log(HOSTILE, failed(1)),
            log(HOSTILE, started(&operations[0])),
        ];
        let mut logs = vec![log(ALICE, started(&operations[0]))];
        logs.extend(forged.clone());
        logs.extend([log(ALICE, failed(9)), log(BOB, started(&operations[1])), log(BOB, succeeded(4))]);
        assert_eq!(
            attribute(&logs, &operations),
            [
                Execution::Executed { succeeded: false, gas: 9, logs: forged.to_vec() },
                Execution::Executed { succeeded: true, gas: 4, logs: Vec::new() },
            ]
        );
    }

    #[test]
    fn operations_that_another_account_calls_stay_with_their_own() {
        // Bob's account is made to start a transaction while Alice's runs: no account allows it, and if one did, it
        // would be Bob's operation that is absent, never Alice's that ends with Bob's event.
        let operations = [operation(ALICE, 1), operation(BOB, 2)];
        let logs = [
            log(ALICE, started(&operations[0])),
            log(BOB, started(&operations[1])),
            log(BOB, failed(3)),
            log(ALICE, succeeded(50)),
        ];
        let inner = logs[1..3].to_vec();
        assert_eq!(
            attribute(&logs, &operations),
            [Execution::Executed { succeeded: true, gas: 50, logs: inner }, Execution::Absent]
        );
    }

    #[test]
    fn operations_without_logs_are_absent_and_the_others_are_found() {
        let operations = [operation(BOB, 1), operation(ALICE, 2), operation(BOB, 3), operation(ALICE, 4)];
        let logs = [log(ALICE, started(&operations[1])), log(ALICE, succeeded(1)), log(ALICE, started(&operations[3]))];
        let found = attribute(&logs, &operations);
        assert_eq!(found[1], Execution::Executed { succeeded: true, gas: 1, logs: Vec::new() });
        assert_eq!([&found[0], &found[2], &found[3]], [&Execution::Absent; 3], "an end is missing, too");
        assert_eq!(attribute(&[], &operations), [const { Execution::Absent }; 4]);
    }

    #[test]
    fn equal_operations_have_their_own_outcomes() {
        let operations = [operation(ALICE, 1), operation(ALICE, 1)];
        let start = log(ALICE, started(&operations[0]));
        let logs = [start.clone(), log(ALICE, succeeded(7)), start, log(ALICE, failed(8))];
        let gas: Vec<_> = attribute(&logs, &operations)
            .iter()
            .map(|found| match found {
                Execution::Executed { succeeded, gas, .. } => Some((*succeeded, *gas)),
                Execution::Absent => None,
            })
            .collect();
        assert_eq!(gas, [Some((true, 7)), Some((false, 8))]);
    }

    #[test]
    fn odd_logs_are_no_events() {
        let operation = operation(ALICE, 1);
        let start = log(ALICE, started(&operation));
        let topic = ExecutionSuccess::SIGNATURE_HASH;
        let odd = [
            log(ALICE, LogData::new_unchecked(Vec::new(), Bytes::new())),
            log(ALICE, LogData::new_unchecked(vec![topic], Bytes::new())),
            log(ALICE, LogData::new_unchecked(vec![topic, B256::ZERO], vec![1].into())),
            log(ALICE, LogData::new_unchecked(vec![SafeMultiSigTransaction::SIGNATURE_HASH], vec![0xff; 64].into())),
        ];
        let mut logs = odd.to_vec();
        logs.push(start);
        logs.extend(odd.clone());
        logs.push(log(ALICE, succeeded(2)));
        let expected = Execution::Executed { succeeded: true, gas: 2, logs: odd.to_vec() };
        assert_eq!(attribute(&logs, &[operation]), [expected]);
    }
}
