//! Addresses of Safe v1.4.1 accounts. Changing any input of an address in this file would lose all accounts.

use alloy::{
    hex,
    primitives::{Address, B256, Bytes, U256, address, keccak256},
    sol_types::{SolCall, SolValue},
};

use super::call::Call;
use crate::chain::contracts::safe::{Safe, SafeProxyFactory::createProxyWithNonceCall};

// Canonical deployments of v1.4.1, the same on every chain:
// https://github.com/safe-global/safe-deployments/tree/main/src/assets/v1.4.1

/// Deploys accounts.
pub const PROXY_FACTORY: Address = address!("4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67");
/// Code of every artist's account: the variant that emits an event per transaction.
pub const SINGLETON: Address = address!("29fcB43b46531BcA003ddC8FCB67FFE91900C762");
/// Code of the operator Safe: the variant that emits no event per transaction.
pub const OPERATOR_SINGLETON: Address = address!("41675C099F32341bf84BFc5382aF534df5C7461a");
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

/// How an account is set up when it is deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Birth {
    pub(super) singleton: Address,
    pub(super) owner: Address,
    pub(super) fallback_handler: Address,
    pub(super) salt_nonce: U256,
}

impl Birth {
    pub(super) fn address(&self) -> Address {
        let salt = keccak256((keccak256(self.initializer()), self.salt_nonce).abi_encode_packed());
        let mut creation_code = PROXY_CREATION_CODE.to_vec();
        creation_code.extend_from_slice(B256::left_padding_from(self.singleton.as_slice()).as_slice());
        PROXY_FACTORY.create2(salt, keccak256(creation_code))
    }

    pub(super) fn deployment(&self) -> createProxyWithNonceCall {
        let initializer = self.initializer().into();
        createProxyWithNonceCall { _singleton: self.singleton, initializer, saltNonce: self.salt_nonce }
    }

    pub(super) fn call(&self) -> Call {
        Call::new(PROXY_FACTORY, &self.deployment())
    }

    fn initializer(&self) -> Vec<u8> {
        Safe::setupCall {
            _owners: vec![self.owner],
            _threshold: U256::ONE,
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: self.fallback_handler,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        }
        .abi_encode()
    }
}
