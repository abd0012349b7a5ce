//! Signs, stores and sends a batch, in this order: another process can send stored bytes again.

use std::time::Instant;

use alloy::{
    consensus::{SignableTransaction, TxEip1559, TxEnvelope},
    eips::{Decodable2718, Encodable2718},
    network::TxSigner,
    primitives::{Bytes, TxKind, U256},
};
use futures::{StreamExt, stream};
use shared::{
    chain::{
        node::NodeFault,
        transaction::Packed,
        wallet::{LaneSigner, SignerError},
    },
    model::{Fees, MarketFees},
    store::artist::{Attempt, Batch, BatchStatus, Lease, Member, Slot, Transaction},
    telemetry,
};

use crate::{
    ChainRelay, RelayError,
    fleet::{Lane, Tracked},
    still_leads,
};

/// Gas of a transaction that does nothing; a node may ask for a little more, as on chains that charge for data.
const FILLER_GAS: u64 = 30_000;

/// Rows that are marked as sent side by side.
const SIDE_BY_SIDE: usize = 16;

impl ChainRelay {
    /// Signs a new batch, stores it with the lane's next nonce, and sends it. One KMS call, one write, one node call.
    pub(crate) async fn submit(
        &self,
        lease: &Lease,
        lane: &mut Lane<'_>,
        packed: &Packed,
        members: Vec<Member>,
        fees: Fees,
        now: u64,
    ) -> Result<(), RelayError> {
        let nonce = lane.next_nonce;
        self.open(lease, lane, nonce, request(self, nonce, packed, fees), members, false, now).await
    }

    /// Fills a nonce that the chain waits for and no batch has.
    pub(crate) async fn fill_gap(
        &self,
        lease: &Lease,
        lane: &mut Lane<'_>,
        nonce: u64,
        market: MarketFees,
        now: u64,
    ) -> Result<(), RelayError> {
        tracing::error!(chain.id = self.chain.id.0, lane = %lane.address, nonce, "no batch has the nonce that the chain waits for");
        let fees = market.quote(self.chain.spending.max_fee_per_gas);
        self.open(lease, lane, nonce, self.filler(lane, nonce, fees), Vec::new(), true, now).await
    }

    #[expect(clippy::too_many_arguments, reason = "what a batch is made of")]
    async fn open(
        &self,
        lease: &Lease,
        lane: &mut Lane<'_>,
        nonce: u64,
        request: TxEip1559,
        members: Vec<Member>,
        fills: bool,
        now: u64,
    ) -> Result<(), RelayError> {
        let signer = lane.signer.ok_or(SignerError::UnknownLane(lane.address.into()))?;
        let (attempt, signed) = sign(signer, request, fills, now).await?;
        let slot = Slot { chain: self.chain.id, lane: lane.address, nonce };
        let (bytes, filler) = if fills { (Vec::new(), signed.to_vec()) } else { (signed.to_vec(), Vec::new()) };
        let batch = Batch {
            slot,
            members,
            status: BatchStatus::Open,
            attempts: vec![attempt],
            signed: bytes,
            filler,
            mined: None,
            created_at: now,
        };
        still_leads(self.transactions.open_batch(lease, &batch, lane.next_nonce).await?)?;
        lane.track(batch);
        Ok(())
    }

    /// Replaces a batch's newest version by one with other fees, or by a filler. One KMS call, one write.
    pub(crate) async fn replace(
        &self,
        lease: &Lease,
        lane: &Lane<'_>,
        batch: &Batch,
        fees: Fees,
        fills: bool,
        now: u64,
    ) -> Result<Batch, RelayError> {
        let request = if fills {
            self.filler(lane, batch.slot.nonce, fees)
        } else {
            let before = transaction(&batch.signed).ok_or_else(|| unreadable(batch))?;
            TxEip1559 {
                max_fee_per_gas: fees.max_fee_per_gas.into(),
                max_priority_fee_per_gas: fees.max_priority_fee_per_gas.into(),
                ..before
            }
        };
        let signer = lane.signer.ok_or(SignerError::UnknownLane(lane.address.into()))?;
        let (attempt, signed) = sign(signer, request, fills, now).await?;
        still_leads(self.transactions.add_attempt(lease, batch, &attempt, &signed).await?)?;
        let mut replaced = batch.clone();
        replaced.attempts.push(attempt);
        *(if fills { &mut replaced.filler } else { &mut replaced.signed }) = signed.to_vec();
        Ok(replaced)
    }

    /// Sends a batch's newest version; the fault if no node took it.
    pub(crate) async fn send(&self, tracked: &mut Tracked) -> Option<(NodeFault, bool)> {
        tracked.sent_at = Some(Instant::now());
        match self.node.send(tracked.batch.newest()).await {
            Ok(()) => {
                tracked.is_taken = true;
                None
            }
            Err(error) => {
                let Slot { chain, lane, nonce } = tracked.batch.slot;
                let hash = tracked.batch.attempts.last().map(|attempt| attempt.hash).unwrap_or_default();
                tracing::warn!(chain.id = chain.0, %lane, nonce, tx.hash = %hash, error = telemetry::chain(&error), fault = ?error.fault, "not sent");
                tracked.is_taken = false;
                Some((error.fault, error.may_have_left))
            }
        }
    }

    /// Tells a batch's transactions its newest hash. What fails is told with their outcome.
    pub(crate) async fn mark_sent(&self, tracked: &mut Tracked, now: u64) -> Result<(), RelayError> {
        let Some(hash) = tracked.batch.attempts.last().map(|attempt| attempt.hash) else { return Ok(()) };
        let rows = self.members(&tracked.batch).await?;
        let reference = tracked.batch.slot.into();
        let mut marks =
            stream::iter(rows.iter().filter(|row| !row.status.is_final() && row.hashes.last() != Some(&hash)))
                .map(|row| self.transactions.mark_sent(row, reference, hash, now))
                .buffer_unordered(SIDE_BY_SIDE);
        while let Some(marked) = marks.next().await {
            marked?;
        }
        tracked.is_marked = true;
        Ok(())
    }

    /// The rows of a batch's transactions, in any order. One read per 100.
    pub(crate) async fn members(&self, batch: &Batch) -> Result<Vec<Transaction>, RelayError> {
        let ids: Vec<_> = batch.members.iter().map(|member| (member.artist_id, member.transaction_id)).collect();
        Ok(self.transactions.get_many(&ids).await?)
    }

    /// A transaction that does nothing: the lane pays itself nothing.
    fn filler(&self, lane: &Lane<'_>, nonce: u64, fees: Fees) -> TxEip1559 {
        let packed = Packed { to: lane.address.into(), data: Bytes::new(), gas_limit: FILLER_GAS };
        request(self, nonce, &packed, fees)
    }
}

fn request(relay: &ChainRelay, nonce: u64, packed: &Packed, fees: Fees) -> TxEip1559 {
    TxEip1559 {
        chain_id: relay.chain.id.0,
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

async fn sign(
    signer: &LaneSigner,
    mut request: TxEip1559,
    fills: bool,
    now: u64,
) -> Result<(Attempt, Bytes), RelayError> {
    let fees = Fees {
        max_fee_per_gas: u64::try_from(request.max_fee_per_gas).unwrap_or(u64::MAX),
        max_priority_fee_per_gas: u64::try_from(request.max_priority_fee_per_gas).unwrap_or(u64::MAX),
    };
    let signature = signer.sign_transaction(&mut request).await?;
    let signed = request.into_signed(signature);
    let attempt = Attempt { hash: *signed.hash(), fees, signed_at: now, fills };
    Ok((attempt, Bytes::from(signed.encoded_2718())))
}

/// Gas limit of a batch's newest version.
pub(crate) fn gas_limit(batch: &Batch) -> u64 {
    transaction(batch.newest()).map_or(0, |transaction| transaction.gas_limit)
}

/// The transaction of signed bytes.
pub(crate) fn transaction(signed: &[u8]) -> Option<TxEip1559> {
    match TxEnvelope::decode_2718(&mut &*signed).ok()? {
        TxEnvelope::Eip1559(signed) => Some(signed.strip_signature()),
        _ => None,
    }
}

pub(crate) fn unreadable(batch: &Batch) -> RelayError {
    RelayError::Bytes(batch.attempts.last().map(|attempt| attempt.hash).unwrap_or_default())
}
