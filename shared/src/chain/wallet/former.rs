//! Transactions of accounts that a lane owns by itself. Goes with the last caller.

use alloy::{
    primitives::{Address, B256, U256, keccak256},
    sol_types::SolValue,
};

use super::{
    call::{Call, CallKind, batch, combined},
    execution::execution,
    proxy::PROXY_FACTORY,
    safe::EmbeddedWallet,
    signer::{LaneSigner, SignerError},
};
use crate::model::ChainId;

impl EmbeddedWallet {
    /// The owner's transaction in which the deployed account makes `calls`, all or none.
    pub fn transaction(&self, calls: &[Call]) -> Call {
        let (call, kind) = combined(calls);
        Call::new(self.address(), &execution(&call, kind, self.owner))
    }

    /// The transaction that deploys the account and makes `calls`, all or nothing. One KMS call.
    pub async fn first_transaction(
        &self,
        chain: ChainId,
        calls: &[Call],
        owner: &LaneSigner,
    ) -> Result<Call, SignerError> {
        let (call, kind) = combined(calls);
        let signature = owner.sign(&self.first_transaction_hash(chain, &call, kind)).await?;
        let mut execution = execution(&call, kind, self.owner);
        execution.signatures = signature.as_bytes().into();
        let steps = [Call::new(PROXY_FACTORY, &self.deployment()), Call::new(self.address(), &execution)];
        Ok(batch(&steps))
    }

    fn first_transaction_hash(&self, chain: ChainId, call: &Call, kind: CallKind) -> B256 {
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
            U256::from(kind as u8),
            (gas, gas, gas),
            (Address::ZERO, Address::ZERO),
            nonce,
        );
        keccak256([&[0x19, 0x01], domain.as_slice(), keccak256(message.abi_encode()).as_slice()].concat())
    }
}
