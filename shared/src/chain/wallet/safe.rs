//! An artist's embedded wallet: a Safe v1.4.1 account of one operator lane. The address follows from the lane and the
//! artist's id, on every chain. Changing any input of the address in this file would lose all artists' accounts.

use alloy::{
    hex,
    primitives::{Address, B256, Bytes, U256, address, keccak256},
    sol_types::{SolCall, SolValue},
};

use super::{
    call::{Call, batch},
    signer::{LaneSigner, SignerError},
};
use crate::{
    chain::contracts::native::{Safe, SafeProxyFactory},
    model::{ArtistId, ChainId},
};

// Canonical deployments of v1.4.1, the same on every chain:
// https://github.com/safe-global/safe-deployments/tree/main/src/assets/v1.4.1

/// Deploys accounts.
pub const PROXY_FACTORY: Address = address!("4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67");
/// Code of every account: the variant that emits an event per transaction.
pub const SINGLETON: Address = address!("29fcB43b46531BcA003ddC8FCB67FFE91900C762");
/// Lets accounts receive tokens and answer ERC-1271.
pub const FALLBACK_HANDLER: Address = address!("fd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99");
/// Creation code of `SafeProxy` v1.4.1, as the proxy factory's `proxyCreationCode()` returns it.
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
    /// The wallet of `artist` with the lane `owner`.
    pub fn new(owner: Address, artist: ArtistId) -> Self {
        Self { owner, artist }
    }

    /// The wallet's address, computed without any request.
    pub fn address(&self) -> Address {
        let salt = keccak256((keccak256(self.initializer()), self.salt_nonce()).abi_encode_packed());
        let mut creation_code = PROXY_CREATION_CODE.to_vec();
        creation_code.extend_from_slice(B256::left_padding_from(SINGLETON.as_slice()).as_slice());
        PROXY_FACTORY.create2(salt, keccak256(creation_code))
    }

    /// The call to [`PROXY_FACTORY`] that deploys the account. Anyone may send it; it fails if the account is deployed.
    pub fn deployment(&self) -> SafeProxyFactory::createProxyWithNonceCall {
        SafeProxyFactory::createProxyWithNonceCall {
            _singleton: SINGLETON,
            initializer: self.initializer().into(),
            saltNonce: self.salt_nonce(),
        }
    }

    /// The owner's transaction in which the deployed account makes `calls`, all or none.
    pub fn transaction(&self, calls: &[Call]) -> Call {
        let (call, operation) = single(calls);
        Call::new(self.address(), &execution(&call, operation, self.owner_is_sender()))
    }

    /// The transaction that deploys the account and makes `calls`, all or nothing. One KMS call.
    ///
    /// The account sees `MultiSendCallOnly` as its sender, so the owner can't approve by being the sender, as in
    /// [`EmbeddedWallet::transaction`], but signs the calls (EIP-712). The signature is valid only for the account's
    /// first transaction.
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

    /// The EIP-712 hash to sign: <https://github.com/safe-global/safe-smart-account/blob/v1.4.1/contracts/Safe.sol>
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

    /// The signature that means "the owner is the sender": r is the owner, s is empty, v is 1.
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

/// One operation for all calls: a single call as it is, several as a batch.
fn single(calls: &[Call]) -> (Call, Operation) {
    match calls {
        [call] => (call.clone(), Operation::Call),
        calls => (Call { value: U256::ZERO, ..batch(calls) }, Operation::DelegateCall),
    }
}

/// The account neither limits nor refunds gas, since the lane pays it.
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
