//! Meaning of a node's error for a transaction. Nodes share neither error codes nor messages, so messages are matched,
//! and only here. Their sources:
//! - geth and op-geth: <https://github.com/ethereum/go-ethereum/blob/master/core/error.go> and
//!   <https://github.com/ethereum/go-ethereum/blob/master/core/txpool/errors.go>
//! - reth: <https://github.com/paradigmxyz/reth/blob/main/crates/rpc/rpc-eth-types/src/error/mod.rs>
//! - erigon: <https://github.com/erigontech/erigon/blob/main/txnprovider/txpool/txpoolcfg/txpoolcfg.go>
//! - nethermind: <https://github.com/NethermindEth/nethermind/blob/master/src/Nethermind/Nethermind.TxPool/AcceptTxResult.cs>
//! - besu: <https://github.com/hyperledger/besu/blob/main/ethereum/api/src/main/java/org/hyperledger/besu/ethereum/api/jsonrpc/internal/response/RpcErrorType.java>
//! - Arbitrum nitro: <https://github.com/OffchainLabs/nitro/blob/master/execution/gethexec/sequencer.go>
//! - anvil: <https://github.com/foundry-rs/foundry/blob/master/crates/anvil/src/eth/error.rs>

use alloy::transports::{RpcError, TransportErrorKind};

/// Meaning of a node's error for the call or transaction that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeFault {
    /// No node will ever accept this transaction.
    Refused,
    /// This node's own limits forbid the call or transaction; another node's may not.
    Unwilling,
    /// The call or transaction reverts.
    Reverted,
    /// The node has this very transaction already.
    AlreadyKnown,
    /// A transaction with this nonce is already mined: this one or another.
    NonceTooLow,
    /// The node lacks transactions with lower nonces.
    NonceTooHigh,
    /// The node has another transaction with this nonce, and the new fees aren't high enough to replace it.
    ReplacementUnderpriced,
    /// The fees are below the minimum of the node or of the next block.
    FeeTooLow,
    /// The sender can't pay.
    InsufficientFunds,
    /// The node is full or limits its callers; a retry can succeed.
    Busy,
    /// The node failed or didn't answer; it may have accepted the transaction.
    NoAnswer,
    /// An unknown message; the node may have accepted the transaction.
    Unknown,
}

use NodeFault::{
    AlreadyKnown, Busy, FeeTooLow, InsufficientFunds, NoAnswer, NonceTooHigh, NonceTooLow, Refused,
    ReplacementUnderpriced, Reverted, Unknown, Unwilling,
};

/// Parts of messages in lower case; the first match decides. Permanent faults come first: some messages also sound
/// temporary ("intrinsic gas too low"). Replacements come before "underpriced", which their messages contain.
const WORDINGS: &[(&str, NodeFault)] = &[
    ("intrinsic gas", Refused),
    ("intrinsicgas", Refused),
    ("exceeds block gas limit", Refused),
    ("gas limit too high", Refused),
    ("gas limit is too high", Refused),
    ("gas limit is greater than the block gas limit", Refused),
    ("gaslimitexceeded", Unwilling),
    ("exceeds the configured cap", Unwilling),
    ("transaction fee cap exceeded", Unwilling),
    ("oversized data", Unwilling),
    ("tx too large", Unwilling),
    ("transaction too large", Unwilling),
    ("tx too big", Unwilling),
    ("rlptoolong", Unwilling),
    ("maxtxsizeexceeded", Unwilling),
    ("initcode", Refused),
    ("gas uint64 overflow", Refused),
    ("gasuintoverflow", Refused),
    ("int256overflow", Refused),
    ("negative value", Refused),
    ("invalid sender", Refused),
    ("invalid signature", Refused),
    ("failedtoresolvesender", Refused),
    ("senderiscontract", Refused),
    ("not an eoa", Refused),
    ("invalid chain id", Refused),
    ("wrong chainid", Refused),
    ("wrong chain id", Refused),
    ("transaction type not supported", Refused),
    ("invalid transaction type", Refused),
    ("higher than max fee per gas", Refused),
    ("nonce has max value", Refused),
    ("failed to decode signed transaction", Refused),
    ("execution reverted", Reverted),
    ("already known", AlreadyKnown),
    ("alreadyknown", AlreadyKnown),
    ("already imported", AlreadyKnown),
    ("known transaction", AlreadyKnown),
    ("with same hash", AlreadyKnown),
    ("nonce too low", NonceTooLow),
    ("oldnonce", NonceTooLow),
    ("nonce is too low", NonceTooLow),
    ("nonce too high", NonceTooHigh),
    ("nonce is too distant", NonceTooHigh),
    ("noncegap", NonceTooHigh),
    ("noncetoofarinfuture", NonceTooHigh),
    ("nonce too far in the future", NonceTooHigh),
    ("future transaction tries to replace pending", NonceTooHigh),
    ("replacement transaction underpriced", ReplacementUnderpriced),
    ("could not replace existing", ReplacementUnderpriced),
    ("to replace existing transaction", ReplacementUnderpriced),
    ("replacementnotallowed", ReplacementUnderpriced),
    ("insufficient funds", InsufficientFunds),
    ("insufficientfunds", InsufficientFunds),
    ("upfront cost exceeds account balance", InsufficientFunds),
    ("exceeds allowance", InsufficientFunds),
    ("out of gas", Reverted),
    ("outofgas", Reverted),
    ("invalid opcode", Reverted),
    ("invalidfeopcode", Reverted),
    ("opcodenotfound", Reverted),
    ("badinstruction", Reverted),
    ("invalid jump", Reverted),
    ("invalidjump", Reverted),
    ("stack underflow", Reverted),
    ("stackunderflow", Reverted),
    ("stack limit reached", Reverted),
    ("stackoverflow", Reverted),
    ("write protection", Reverted),
    ("statechangeduringstaticcall", Reverted),
    ("return data out of bounds", Reverted),
    ("outofoffset", Reverted),
    ("underpriced", FeeTooLow),
    ("fee too low", FeeTooLow),
    ("feetoolow", FeeTooLow),
    ("less than block base fee", FeeTooLow),
    ("below current base fee", FeeTooLow),
    ("below configured minimum gas price", FeeTooLow),
    ("below minimum required priority fee", FeeTooLow),
    ("gas price too low", FeeTooLow),
    ("pool is full", Busy),
    ("limit exceeded", Busy),
    ("limit reached", Busy),
    ("rate limit", Busy),
    ("too many requests", Busy),
    ("429", Busy),
    ("sync is still in progress", Busy),
    ("node is syncing", Busy),
    ("already reserved", Busy),
    ("timeout", NoAnswer),
    ("timed out", NoAnswer),
    ("deadline exceeded", NoAnswer),
    ("internal error", NoAnswer),
    ("server error", NoAnswer),
    ("service unavailable", NoAnswer),
    ("bad gateway", NoAnswer),
    ("connection", NoAnswer),
    ("error sending request", NoAnswer),
];

/// Words for calls that the EVM stops and that so give no reason of their own; by parts of messages as above.
const HALTS: &[(&str, &str)] = &[
    ("out of gas", "The call ran out of gas"),
    ("outofgas", "The call ran out of gas"),
    ("gas required exceeds allowance", "The call ran out of gas"),
    ("invalid opcode", "The contract ran into an invalid instruction"),
    ("invalidfeopcode", "The contract ran into an invalid instruction"),
    ("opcodenotfound", "The contract ran into an invalid instruction"),
    ("badinstruction", "The contract ran into an invalid instruction"),
    ("write protection", "The contract changed something where it may only read"),
    ("statechangeduringstaticcall", "The contract changed something where it may only read"),
];

/// Why the EVM stopped a call, by a node's message, in a sentence without a full stop.
pub fn halt_in_words(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    let halt = HALTS.iter().find(|(part, _)| message.contains(part)).map(|(_, words)| *words);
    halt.or_else(|| {
        let is_halted = NodeFault::from_message(&message) == Reverted && !message.contains("execution reverted");
        is_halted.then_some("The contract's code failed")
    })
}

impl NodeFault {
    /// Classifies an error of the RPC client.
    pub fn of(error: &RpcError<TransportErrorKind>) -> Self {
        match error {
            // Code 3 is geth's code for a revert; other nodes at least attach the revert's data.
            RpcError::ErrorResp(payload) if payload.code == 3 || payload.as_revert_data().is_some() => Reverted,
            RpcError::ErrorResp(payload) => Self::from_message(&payload.message),
            RpcError::Transport(TransportErrorKind::HttpError(http)) if http.status >= 500 => NoAnswer,
            RpcError::Transport(TransportErrorKind::HttpError(http)) if http.status == 429 => Busy,
            RpcError::Transport(TransportErrorKind::HttpErrorWithRetryAfter { .. }) => Busy,
            RpcError::Transport(_) | RpcError::DeserError { .. } | RpcError::NullResp => NoAnswer,
            _ => Unknown,
        }
    }

    /// Classifies an error by its message.
    pub fn from_message(message: &str) -> Self {
        let message = message.to_lowercase();
        let wording = WORDINGS.iter().find(|(part, _)| message.contains(part));
        wording.map_or(Unknown, |&(_, fault)| fault)
    }

    /// Whether the fault lies with the call or transaction, so that every node would say the same.
    pub fn is_about_transaction(self) -> bool {
        !self.is_failure() && self != Unwilling
    }

    /// Whether the node failed to answer.
    pub fn is_failure(self) -> bool {
        matches!(self, Busy | NoAnswer | Unknown)
    }

    /// Whether a retry may well end otherwise.
    pub fn is_temporary(self) -> bool {
        matches!(self, Busy | NoAnswer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_nodes_are_classified() {
        for (node, message, fault) in [
            ("geth", "already known", AlreadyKnown),
            ("geth", "nonce too low: next nonce 7, tx nonce 5", NonceTooLow),
            ("geth", "nonce too high: address 0x00, tx: 9 state: 7", NonceTooHigh),
            ("geth", "future transaction tries to replace pending", NonceTooHigh),
            ("geth", "replacement transaction underpriced", ReplacementUnderpriced),
            ("geth", "transaction underpriced: tip needed 1000000, tip permitted 1", FeeTooLow),
            ("geth", "max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 7", FeeTooLow),
            ("geth", "insufficient funds for gas * price + value: balance 0, tx cost 42", InsufficientFunds),
            ("geth", "insufficient funds for transfer", InsufficientFunds),
            ("geth", "intrinsic gas too low: gas 21000, minimum needed 22600", Refused),
            ("geth", "exceeds block gas limit", Refused),
            ("geth", "transaction gas limit too high (cap: 16777216, tx: 30000000)", Refused),
            ("geth", "oversized data: transaction size 200000, limit 131072", Unwilling),
            ("geth", "max initcode size exceeded: code size 60000, limit 49152", Refused),
            ("geth", "max priority fee per gas higher than max fee per gas", Refused),
            ("geth", "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", Unwilling),
            ("geth", "invalid chain id for signer: have 1 want 8453", Refused),
            ("geth", "transaction type not supported", Refused),
            ("geth", "nonce has max value", Refused),
            ("geth", "txpool is full", Busy),
            ("geth", "account limit exceeded: pooled 64", Busy),
            ("geth", "execution reverted: Ownable: caller is not the owner", Reverted),
            ("geth", "out of gas", Reverted),
            ("geth", "invalid opcode: INVALID", Reverted),
            ("geth", "stack limit reached 1024 (1023)", Reverted),
            ("geth", "invalid jump destination", Reverted),
            ("geth", "write protection", Reverted),
            ("reth", "nonce too low: next nonce 7, tx nonce 5", NonceTooLow),
            ("reth", "out of gas: gas exhausted: 150000", Reverted),
            ("reth", "EVM error: InvalidFEOpcode", Reverted),
            ("reth", "insufficient funds for gas * price + value: have 0 want 42", InsufficientFunds),
            ("reth", "gas required exceeds allowance (21000)", InsufficientFunds),
            ("reth", "transaction priority fee below minimum required priority fee 1000000", FeeTooLow),
            ("reth", "gas limit too high", Refused),
            ("reth", "intrinsic gas too high", Refused),
            ("reth", "sender is not an EOA", Refused),
            ("erigon", "INTERNAL_ERROR: nonce too low", NonceTooLow),
            ("erigon", "ALREADY_EXISTS: already known", AlreadyKnown),
            ("erigon", "INTERNAL_ERROR: existing tx with same hash", AlreadyKnown),
            ("erigon", "existing txn with same hash", AlreadyKnown),
            ("erigon", "INTERNAL_ERROR: could not replace existing tx", ReplacementUnderpriced),
            ("erigon", "underpriced", FeeTooLow),
            ("erigon", "fee too low", FeeTooLow),
            ("erigon", "insufficient funds", InsufficientFunds),
            ("erigon", "baseFee sub-pool is full", Busy),
            ("erigon", "IntrinsicGas", Refused),
            ("erigon", "GasUintOverflow", Refused),
            ("erigon", "RLPTooLong", Unwilling),
            ("erigon", "gas limit is too high", Refused),
            ("nethermind", "AlreadyKnown", AlreadyKnown),
            ("nethermind", "OldNonce, Current nonce: 7, nonce of rejected tx: 5", NonceTooLow),
            ("nethermind", "NonceGap, Future nonce. Expected nonce: 7", NonceTooHigh),
            ("nethermind", "ReplacementNotAllowed", ReplacementUnderpriced),
            ("nethermind", "FeeTooLowToCompete", FeeTooLow),
            ("nethermind", "FeeTooLow, MaxFeePerGas too low", FeeTooLow),
            ("nethermind", "InsufficientFunds, Account balance: 0", InsufficientFunds),
            ("nethermind", "GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2", Unwilling),
            ("nethermind", "MaxTxSizeExceeded", Unwilling),
            ("nethermind", "SenderIsContract", Refused),
            ("nethermind", "Int256Overflow", Refused),
            ("besu", "Known transaction", AlreadyKnown),
            ("besu", "Nonce too low", NonceTooLow),
            ("besu", "Transaction nonce is too distant from current sender nonce", NonceTooHigh),
            ("besu", "Replacement transaction underpriced", ReplacementUnderpriced),
            ("besu", "Upfront cost exceeds account balance", InsufficientFunds),
            ("besu", "Gas price below configured minimum gas price", FeeTooLow),
            ("besu", "Gas price below current base fee", FeeTooLow),
            ("besu", "Intrinsic gas exceeds gas limit", Refused),
            ("besu", "Transaction gas limit exceeds block gas limit", Refused),
            ("besu", "Transaction fee cap exceeded", Unwilling),
            ("besu", "Wrong chainId", Refused),
            ("besu", "Invalid signature", Refused),
            ("besu", "Initial sync is still in progress", Busy),
            ("op-geth", "transaction underpriced: gas tip cap 0, minimum needed 1", FeeTooLow),
            ("op-geth", "exceeds block gas limit", Refused),
            ("op-geth", "already reserved", Busy),
            ("Arbitrum", "nonce too high: address 0x00, tx: 9 state: 7", NonceTooHigh),
            (
                "Arbitrum",
                "max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1 baseFee: 7",
                FeeTooLow,
            ),
            ("Arbitrum", "intrinsic gas too low", Refused),
            ("Arbitrum", "context deadline exceeded", NoAnswer),
            ("anvil", "nonce too low", NonceTooLow),
            ("anvil", "Nonce too high", NonceTooHigh),
            ("anvil", "transaction already imported", AlreadyKnown),
            ("anvil", "Tx: [0x00] already Imported", AlreadyKnown),
            ("anvil", "Tx: [0x00] insufficient gas price to replace existing transaction", ReplacementUnderpriced),
            ("anvil", "replacement transaction underpriced", ReplacementUnderpriced),
            ("anvil", "Insufficient funds for gas * price + value", InsufficientFunds),
            ("anvil", "max fee per gas less than block base fee", FeeTooLow),
            ("anvil", "intrinsic gas too high -- 30000000", Refused),
            ("anvil", "Failed to decode signed transaction", Refused),
            ("anvil", "EVM error OutOfGas", Reverted),
            ("anvil", "EVM error InvalidFEOpcode", Reverted),
            ("anvil", "Out of gas: gas required exceeds allowance: 21000", InsufficientFunds),
            ("nethermind", "BadInstruction", Reverted),
            ("besu", "Out of gas", Reverted),
            ("besu", "Invalid opcode: 0xfe", Reverted),
            ("anvil", "execution reverted: Some(0x82b42900)", Reverted),
            ("a gateway", "daily request count limit exceeded, request rate limited", Busy),
            ("a gateway", "Too Many Requests", Busy),
            ("a gateway", "request timed out", NoAnswer),
            ("a gateway", "could not decode the upstream's response", Unknown),
            ("a gateway", "Internal error", NoAnswer),
            ("a gateway", "502 Bad Gateway", NoAnswer),
            ("none", "the moon is full", Unknown),
        ] {
            assert_eq!(NodeFault::from_message(message), fault, "{node}: {message}");
        }
    }

    #[test]
    fn halts_have_messages_for_clients() {
        for (message, words) in [
            ("out of gas", Some("The call ran out of gas")),
            ("EVM error OutOfGas", Some("The call ran out of gas")),
            ("invalid opcode: INVALID", Some("The contract ran into an invalid instruction")),
            ("EVM error InvalidFEOpcode", Some("The contract ran into an invalid instruction")),
            ("invalid jump destination", Some("The contract's code failed")),
            ("execution reverted: no", None),
            ("nonce too low", None),
            ("Out of gas: gas required exceeds allowance: 21000", Some("The call ran out of gas")),
            ("gas required exceeds allowance (16777216)", Some("The call ran out of gas")),
        ] {
            assert_eq!(halt_in_words(message), words, "{message}");
        }
    }
}
