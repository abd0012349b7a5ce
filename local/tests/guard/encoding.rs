//! Calls of Safe contracts, in right and in wrong encodings.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol,
    sol_types::{SolCall, SolValue},
};

sol! {
    interface Safe {
        function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler,
            address paymentToken, uint256 payment, address paymentReceiver) external;
        function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas,
            uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) external;
        function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation) external;
        function getTransactionHash(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas,
            uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, uint256 nonce) external
            returns (bytes32);
        function enableModule(address module) external;
        function setGuard(address guard) external;
        function setFallbackHandler(address handler) external;
        function addOwnerWithThreshold(address owner, uint256 threshold) external;
        function removeOwner(address previous, address owner, uint256 threshold) external;
        function swapOwner(address previous, address old, address new_) external;
        function approveHash(bytes32 hash) external;
        function nonce() external returns (uint256);
    }

    interface ProxyFactory {
        function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) external
            returns (address);
        function createProxyWithCallback(address singleton, bytes initializer, uint256 saltNonce, address callback)
            external returns (address);
    }

    function multiSend(bytes transactions) external payable;
    function transfer(address to, uint256 amount) external;
}

/// The token that is none: the sha256 precompile, in which a refund costs nothing.
pub const NO_TOKEN: Address = Address::with_last_byte(2);

/// Before the first of a Safe's owners and modules.
pub const SENTINEL: Address = Address::with_last_byte(1);

/// Arguments of `execTransaction`.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    pub to: Address,
    pub value: U256,
    pub data: Vec<u8>,
    pub operation: u8,
    pub safe_gas: u64,
    pub base_gas: u64,
    pub gas_price: u64,
    pub gas_token: Address,
    pub refund_receiver: Address,
    pub signatures: Vec<u8>,
}

impl Exec {
    /// A call that `owner`, its sender, approves.
    pub fn call(owner: Address, to: Address, data: Vec<u8>) -> Self {
        Self { to, data, signatures: approved_by(owner), ..Self::default() }
    }

    /// The same as a delegatecall.
    pub fn delegatecall(owner: Address, to: Address, data: Vec<u8>) -> Self {
        Self { operation: 1, ..Self::call(owner, to, data) }
    }

    pub fn encode(&self) -> Vec<u8> {
        let Self { to, value, operation, gas_token, refund_receiver, .. } = *self;
        Safe::execTransactionCall {
            to,
            value,
            data: self.data.clone().into(),
            operation,
            safeTxGas: U256::from(self.safe_gas),
            baseGas: U256::from(self.base_gas),
            gasPrice: U256::from(self.gas_price),
            gasToken: gas_token,
            refundReceiver: refund_receiver,
            signatures: self.signatures.clone().into(),
        }
        .abi_encode()
    }
}

/// The signature of an owner that is the sender.
pub fn approved_by(owner: Address) -> Vec<u8> {
    [owner.into_word().as_slice(), &[0; 32], &[1]].concat()
}

/// A packed call of a batch.
#[derive(Clone, Debug)]
pub struct Entry {
    pub operation: u8,
    pub to: Address,
    pub value: U256,
    /// Stated length of the data.
    pub length: U256,
    pub data: Vec<u8>,
}

impl Entry {
    pub fn new(to: Address, data: Vec<u8>) -> Self {
        Self { operation: 0, to, value: U256::ZERO, length: U256::from(data.len()), data }
    }

    pub fn pack(&self) -> Vec<u8> {
        let (value, length) = (self.value.to_be_bytes::<32>(), self.length.to_be_bytes::<32>());
        [&[self.operation], self.to.as_slice(), &value, &length, &self.data].concat()
    }
}

pub fn pack(entries: &[Entry]) -> Vec<u8> {
    entries.iter().flat_map(Entry::pack).collect()
}

/// `multiSend` of packed bytes, in the canonical encoding.
pub fn multi_send(packed: Vec<u8>) -> Vec<u8> {
    multiSendCall { transactions: packed.into() }.abi_encode()
}

/// Arguments after a selector, word by word, with bytes behind them.
pub fn words(selector: [u8; 4], words: &[U256], rest: &[u8]) -> Vec<u8> {
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes::<32>()).collect();
    [&selector[..], &words, rest].concat()
}

/// `setup` of a Safe with one owner.
pub fn setup(owner: Address, handler: Address) -> Vec<u8> {
    Safe::setupCall {
        owners: vec![owner],
        threshold: U256::ONE,
        to: Address::ZERO,
        data: Bytes::new(),
        fallbackHandler: handler,
        paymentToken: Address::ZERO,
        payment: U256::ZERO,
        paymentReceiver: Address::ZERO,
    }
    .abi_encode()
}

/// Data of a contract's constructor.
pub fn arguments(addresses: [Address; 3]) -> Vec<u8> {
    addresses.abi_encode()
}
