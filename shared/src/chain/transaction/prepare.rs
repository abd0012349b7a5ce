use std::time::Duration;

use alloy::{primitives::U256, rpc::types::TransactionRequest};

use super::{
    context::Context,
    policy::PolicyError,
    request::{WriteError, WriteRequest},
    simulate::simulate,
};
use crate::{
    chain::{
        node::NodeError,
        wallet::{Call, EmbeddedWallet},
    },
    model::Fees,
    store::{ClaimRefusal, Intent, LaneState, NewTransaction},
};

/// A write that was simulated and allowed. Nothing is reserved for it yet.
#[derive(Debug)]
pub struct Prepared {
    pub(super) wallet: EmbeddedWallet,
    pub(super) calls: Vec<Call>,
    pub(super) new: NewTransaction,
    pub(super) fees: Fees,
    pub(super) lane: Option<LaneState>,
}

impl Prepared {
    /// Gas limit of the transaction.
    pub fn gas_limit(&self) -> u64 {
        self.new.intent.gas_limit
    }
}

impl Context {
    pub(super) async fn prepare(&self, write: &WriteRequest) -> Result<Prepared, WriteError> {
        let artist = write.caller.artist;
        let wallet = EmbeddedWallet::new(artist.lane.into(), artist.artist_id);
        if artist.embedded_wallet != wallet.address().into() {
            return Err(WriteError::ForeignWallet(artist.embedded_wallet));
        }
        self.policy.admit_calls(&self.chain, wallet.address(), &write.calls)?;
        let (simulated, market, balance, deployed) = tokio::join!(
            simulate(&self.node, wallet.address(), &write.calls),
            self.node.market_fees(),
            self.node.balance(wallet.owner),
            self.is_deployed(&wallet, write)
        );
        simulated?;
        let (market, balance, deployed) = (market?, balance?, deployed?);
        let cap = self.policy.max_fee_per_gas;
        if market.base > cap {
            return Err(PolicyError::Fee { base: market.base, cap }.into());
        }
        let first = if deployed { None } else { self.first_transaction(&wallet, &write.calls).await? };
        let deploys_account = first.is_some();
        let (transaction, estimate) = match first {
            Some(first) => first,
            None => {
                let transaction = wallet.transaction(&write.calls);
                let estimate = self.estimate(&wallet, &transaction).await.map_err(not_executed)?;
                (transaction, estimate)
            }
        };
        let gas_limit = self.policy.gas_limit(estimate)?;
        let fees = market.quote(cap);
        if balance < U256::from(gas_limit) * U256::from(fees.max_fee_per_gas) {
            return Err(WriteError::LaneCannotPay(wallet.owner));
        }
        let intent = Intent { to: transaction.target, data: transaction.data, gas_limit };
        let new = NewTransaction { artist_id: artist.artist_id, intent, deploys_account, replay: write.replay.clone() };
        Ok(Prepared { wallet, calls: write.calls.clone(), new, fees, lane: write.caller.lane.clone() })
    }

    /// A transaction that also deploys the account, and its gas; `None` if another one has deployed it meanwhile.
    async fn first_transaction(
        &self,
        wallet: &EmbeddedWallet,
        calls: &[Call],
    ) -> Result<Option<(Call, u64)>, WriteError> {
        let owner = self.signers.get(wallet.owner)?;
        let transaction = wallet.first_transaction(self.chain.id, calls, owner).await?;
        match self.estimate(wallet, &transaction).await {
            Ok(gas) => Ok(Some((transaction, gas))),
            Err(_) if self.node.has_code(wallet.address()).await? => Ok(None),
            Err(error) => Err(not_executed(error)),
        }
    }

    async fn estimate(&self, wallet: &EmbeddedWallet, transaction: &Call) -> Result<u64, NodeError> {
        let request = TransactionRequest::default().from(wallet.owner).to(transaction.target);
        self.node.estimate_gas(&request.input(transaction.data.clone().into())).await
    }

    async fn is_deployed(&self, wallet: &EmbeddedWallet, write: &WriteRequest) -> Result<bool, WriteError> {
        if write.caller.account.deployed || self.node.has_code(wallet.address()).await? {
            return Ok(true);
        }
        match write.caller.account.deployed_by {
            None => Ok(false),
            Some(_) => self.wait_for_deployment(wallet).await.map(|()| true),
        }
    }

    /// Waits up to 8 seconds until another write's transaction has deployed the account.
    pub(super) async fn wait_for_deployment(&self, wallet: &EmbeddedWallet) -> Result<(), WriteError> {
        const POLLS: u32 = 16;
        for _ in 0..POLLS {
            if self.node.has_code(wallet.address()).await? {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Err(WriteError::Claim(ClaimRefusal::AccountUnderWay))
    }
}

/// A transaction that fails after a successful simulation: the state has changed in between.
fn not_executed(error: NodeError) -> WriteError {
    match error.revert_data() {
        Some(_) => WriteError::Reverts("The transaction would fail: things have changed meanwhile".to_owned()),
        None => error.into(),
    }
}
