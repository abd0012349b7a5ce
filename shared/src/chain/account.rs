//! An artist's embedded wallet: a Safe v1.4.1 account owned by one operator lane, at an address that is known before
//! it is deployed. The address follows from the lane and the artist's id alone, the same on every chain; a change to
//! anything in this file that feeds it would lose every artist's account.

use alloy::{
    hex,
    primitives::{Address, B256, Bytes, U256, address, keccak256},
    sol_types::{SolCall, SolValue},
};

use super::{
    contracts::{MultiSendCallOnly, Safe, SafeProxyFactory},
    signer::{LaneSigner, SignerError},
};
use crate::model::{ArtistId, ChainId};

// Canonical deployments of v1.4.1, the same on every chain:
// https://github.com/safe-global/safe-deployments/tree/main/src/assets/v1.4.1

/// Deploys accounts.
pub const PROXY_FACTORY: Address = address!("4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67");
/// The code of every account: the variant that emits an event per transaction.
pub const SINGLETON: Address = address!("29fcB43b46531BcA003ddC8FCB67FFE91900C762");
/// Lets an account receive tokens and answer ERC-1271.
pub const FALLBACK_HANDLER: Address = address!("fd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99");
/// Runs several calls as one transaction of an account.
pub const MULTI_SEND_CALL_ONLY: Address = address!("9641d764fc13c8B624c04430C7356C1C7C8102e2");

/// What the proxy factory's `proxyCreationCode()` returns: the creation code of `SafeProxy` v1.4.1.
const PROXY_CREATION_CODE: [u8; 486] = hex!(
    "608060405234801561001057600080fd5b506040516101e63803806101e68339818101604052602081101561003357600080fd5b8101"
    "908080519060200190929190505050600073ffffffffffffffffffffffffffffffffffffffff168173ffffffffffffffffffffffffff"
    "ffffffffffffff1614156100ca576040517f08c379a00000000000000000000000000000000000000000000000000000000081526004"
    "018080602001828103825260228152602001806101c46022913960400191505060405180910390fd5b806000806101000a81548173ff"
    "ffffffffffffffffffffffffffffffffffffff021916908373ffffffffffffffffffffffffffffffffffffffff1602179055505060ab"
    "806101196000396000f3fe608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000"
    "000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d60"
    "00803e60008114156070573d6000fd5b3d6000f3fea264697066735822122003d1488ee65e08fa41e58e888a9865554c535f2c77126a"
    "82cb4c0f917f31441364736f6c63430007060033496e76616c69642073696e676c65746f6e20616464726573732070726f7669646564"
);

/// What an account is made to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The contract.
    pub target: Address,
    /// Wei sent along, from the account's own balance.
    pub value: U256,
    /// The function and its arguments.
    pub data: Bytes,
}

impl Call {
    /// A call that sends nothing along.
    pub fn new(target: Address, function: &impl SolCall) -> Self {
        Self { target, value: U256::ZERO, data: function.abi_encode().into() }
    }

    /// The same with so many wei sent along.
    pub fn with_value(self, value: U256) -> Self {
        Self { value, ..self }
    }

    /// Wei for somebody, and nothing else.
    pub fn payment(to: Address, value: U256) -> Self {
        Self { target: to, value, data: Bytes::new() }
    }
}

/// How a Safe runs what it is given.
#[derive(Clone, Copy)]
enum Operation {
    Call = 0,
    DelegateCall = 1,
}

/// An embedded wallet, deployed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedWallet {
    /// The lane that owns it.
    pub owner: Address,
    artist: ArtistId,
}

impl EmbeddedWallet {
    /// The wallet that `artist` has when `owner` is its lane.
    pub fn new(owner: Address, artist: ArtistId) -> Self {
        Self { owner, artist }
    }

    /// Its address. Computed, never asked for: no request, no transaction.
    pub fn address(&self) -> Address {
        let salt = keccak256((keccak256(self.initializer()), self.salt_nonce()).abi_encode_packed());
        let mut creation_code = PROXY_CREATION_CODE.to_vec();
        creation_code.extend_from_slice(B256::left_padding_from(SINGLETON.as_slice()).as_slice());
        PROXY_FACTORY.create2(salt, keccak256(creation_code))
    }

    /// The call to [`PROXY_FACTORY`] that deploys it. Anyone may send it; it fails once the account is deployed.
    pub fn deployment(&self) -> SafeProxyFactory::createProxyWithNonceCall {
        SafeProxyFactory::createProxyWithNonceCall {
            _singleton: SINGLETON,
            initializer: self.initializer().into(),
            saltNonce: self.salt_nonce(),
        }
    }

    /// The transaction by which the owner makes the deployed account do `calls`, all of them or none.
    pub fn transaction(&self, calls: &[Call]) -> Call {
        let (call, operation) = single(calls);
        Call::new(self.address(), &execution(&call, operation, self.owner_is_sender()))
    }

    /// The transaction that deploys the account and makes it do `calls`, all of it or nothing.
    ///
    /// It goes to `MultiSendCallOnly`, which is then the sender that the account sees. So the owner can't say "I am the
    /// sender", as with [`EmbeddedWallet::transaction`], and signs what the account shall do (EIP-712). The signature
    /// holds for the account's first transaction only. One KMS call.
    ///
    /// # Errors
    /// When the lane doesn't sign.
    pub async fn first_transaction(
        &self,
        chain: ChainId,
        calls: &[Call],
        owner: &LaneSigner,
    ) -> Result<Call, SignerError> {
        let (call, operation) = single(calls);
        let signature = owner.sign(&self.first_transaction_hash(chain, &call, operation)).await?;
        let execution = execution(&call, operation, signature.as_bytes().into());
        let steps = [Call::new(PROXY_FACTORY, &self.deployment()), Call::new(self.address(), &execution)];
        Ok(batch(&steps))
    }

    /// What the owner signs (EIP-712): <https://github.com/safe-global/safe-smart-account/blob/v1.4.1/contracts/Safe.sol>
    fn first_transaction_hash(&self, chain: ChainId, call: &Call, operation: Operation) -> B256 {
        let domain = keccak256(
            (keccak256("EIP712Domain(uint256 chainId,address verifyingContract)"), U256::from(chain.0), self.address())
                .abi_encode(),
        );
        let (gas, nonce) = (U256::ZERO, U256::ZERO);
        let message = (
            keccak256(
                "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,\
                 uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)",
            ),
            call.target,
            call.value,
            keccak256(&call.data),
            U256::from(operation as u8),
            (gas, gas, gas),
            (Address::ZERO, Address::ZERO),
            nonce,
        );
        keccak256([&[0x19, 0x01], domain.as_slice(), keccak256(message.abi_encode()).as_slice()].concat())
    }

    /// The signature that stands for "the owner itself sends this": r is the owner, s is empty, v is 1.
    fn owner_is_sender(&self) -> Bytes {
        let mut signature = [0; 65];
        signature[12..32].copy_from_slice(self.owner.as_slice());
        signature[64] = 1;
        signature.into()
    }

    fn initializer(&self) -> Vec<u8> {
        Safe::setupCall {
            _owners: vec![self.owner],
            _threshold: U256::ONE,
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: FALLBACK_HANDLER,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        }
        .abi_encode()
    }

    fn salt_nonce(&self) -> U256 {
        U256::from(self.artist.as_u128())
    }
}

/// What makes an account do one thing: a call itself, several of them as a batch.
fn single(calls: &[Call]) -> (Call, Operation) {
    match calls {
        [call] => (call.clone(), Operation::Call),
        calls => (Call { value: U256::ZERO, ..batch(calls) }, Operation::DelegateCall),
    }
}

/// Several calls as one of `MultiSendCallOnly`, which reverts when one of them does.
pub fn batch(calls: &[Call]) -> Call {
    let mut transactions = Vec::new();
    for Call { target, value, data } in calls {
        transactions.push(Operation::Call as u8);
        transactions.extend_from_slice(target.as_slice());
        transactions.extend_from_slice(&value.to_be_bytes::<32>());
        transactions.extend_from_slice(&U256::from(data.len()).to_be_bytes::<32>());
        transactions.extend_from_slice(data);
    }
    Call::new(MULTI_SEND_CALL_ONLY, &MultiSendCallOnly::multiSendCall { transactions: transactions.into() })
}

/// Gas is neither limited nor refunded by the account: the lane pays it.
fn execution(call: &Call, operation: Operation, signatures: Bytes) -> Safe::execTransactionCall {
    Safe::execTransactionCall {
        to: call.target,
        value: call.value,
        data: call.data.clone(),
        operation: operation as u8,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        signatures,
    }
}

/// The lanes' addresses, over which artists are spread.
#[derive(Clone, Debug)]
pub struct Lanes(Vec<Address>);

impl Lanes {
    /// Reads `OPERATOR_LANES`: the lanes' addresses, separated by commas. Adding one at the end moves no artist who
    /// has signed in already, since an artist's lane is stored with the wallet.
    ///
    /// # Errors
    /// When it is unset, empty or holds what is no address.
    pub fn from_env() -> Result<Self, crate::config::ConfigError> {
        crate::config::parsed("OPERATOR_LANES")
    }

    /// Their addresses, in the configured order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Address> {
        self.0.iter().copied()
    }

    /// The wallet of an artist who signs in for the first time.
    pub fn assign(&self, artist: ArtistId) -> EmbeddedWallet {
        let index = artist.as_u128() % self.0.len() as u128;
        EmbeddedWallet::new(self.0[index as usize], artist)
    }
}

impl std::str::FromStr for Lanes {
    type Err = crate::model::Invalid;

    fn from_str(list: &str) -> Result<Self, Self::Err> {
        let lane = |text: &str| text.trim().parse::<crate::model::Address>().map(Into::into);
        list.split(',').map(lane).collect::<Result<_, _>>().map(Self)
    }
}
