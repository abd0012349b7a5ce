//! A batch's signed bytes, and the transaction in them.

use alloy::{
    consensus::{SignableTransaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    network::TxSigner,
    primitives::{Address, Bytes, TxKind, U256},
};
use shared::{
    chain::{transaction::Packed, wallet::LaneSigner},
    model::{ChainId, Fees},
    store::artist::{Attempt, Batch},
};

use crate::error::RelayError;

/// Gas of a transaction that does nothing; a node may ask for a little more, as on chains that charge for data.
const NOOP_GAS: u64 = 30_000;

/// An unsigned transaction with this nonce and these fees.
pub(crate) fn request(chain: ChainId, nonce: u64, packed: &Packed, fees: Fees) -> TxEip1559 {
    TxEip1559 {
        chain_id: chain.0,
        nonce,
        gas_limit: packed.gas_limit,
        max_fee_per_gas: fees.max_fee_per_gas.into(),
        max_priority_fee_per_gas: fees.max_priority_fee_per_gas.into(),
        to: TxKind::Call(packed.to),
        value: U256::ZERO,
        input: packed.data.clone(),
        ..TxEip1559::default()
    }
}

/// A transaction that does nothing: the lane pays itself nothing.
pub(crate) fn noop(chain: ChainId, lane: Address, nonce: u64, fees: Fees) -> TxEip1559 {
    request(chain, nonce, &Packed { to: lane, data: Bytes::new(), gas_limit: NOOP_GAS }, fees)
}

/// The newest version of a batch that isn't a no-op, with other fees.
pub(crate) fn repriced(batch: &Batch, fees: Fees) -> Result<TxEip1559, RelayError> {
    Ok(TxEip1559 {
        max_fee_per_gas: fees.max_fee_per_gas.into(),
        max_priority_fee_per_gas: fees.max_priority_fee_per_gas.into(),
        ..transaction(batch)?
    })
}

/// Signs a transaction. One KMS call.
pub(crate) async fn sign(
    signer: &LaneSigner,
    mut request: TxEip1559,
    fills: bool,
    signed_at: u64,
) -> Result<(Attempt, Bytes), RelayError> {
    let fees = Fees {
        max_fee_per_gas: u64::try_from(request.max_fee_per_gas).unwrap_or(u64::MAX),
        max_priority_fee_per_gas: u64::try_from(request.max_priority_fee_per_gas).unwrap_or(u64::MAX),
    };
    let signature = signer.sign_transaction(&mut request).await?;
    let signed = request.into_signed(signature);
    let attempt = Attempt { hash: *signed.hash(), fees, signed_at, fills };
    Ok((attempt, Bytes::from(signed.encoded_2718())))
}

/// The newest version of a batch that isn't a no-op.
pub(crate) fn transaction(batch: &Batch) -> Result<TxEip1559, RelayError> {
    let hash = || batch.attempts.last().map(|attempt| attempt.hash).unwrap_or_default();
    decoded(&batch.signed).ok_or_else(|| RelayError::Bytes(hash()))
}

/// Gas limit of a batch's newest version.
pub(crate) fn gas_limit(batch: &Batch) -> u64 {
    decoded(batch.newest()).map_or(0, |transaction| transaction.gas_limit)
}

/// Most wei that a batch may cost, with what it pays another lane, and without the fee for its data.
pub(crate) fn max_cost(batch: &Batch) -> U256 {
    let fees = batch.attempts.iter().map(|attempt| attempt.fees.max_fee_per_gas).max().unwrap_or_default();
    let (gas, value) = decoded(batch.newest()).map_or((0, U256::ZERO), |newest| (newest.gas_limit, newest.value));
    U256::from(gas) * U256::from(fees) + value
}

/// The lane that a batch pays; `None` for other batches.
pub(crate) fn payee(batch: &Batch) -> Option<Address> {
    let payment = decoded(batch.newest()).filter(|request| batch.members.is_empty() && !request.value.is_zero())?;
    payment.to.to().copied()
}

fn decoded(signed: &[u8]) -> Option<TxEip1559> {
    match TxEnvelope::decode_2718(&mut &*signed).ok()? {
        TxEnvelope::Eip1559(signed) => Some(signed.strip_signature()),
        _ => None,
    }
}
