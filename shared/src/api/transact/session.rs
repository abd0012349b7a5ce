use std::time::Duration;

use alloy::primitives;

use super::{
    refusal::answer_error,
    reply::{ReplyFormat, ended},
};
use crate::{
    api::error::{no_collection, no_moment},
    chain::{
        Chain,
        node::Node,
        protocol::{
            currency::Currency,
            permission::{Permission, Standing},
        },
        transaction::{Outcome, Policy, TransactionSender, WriteError, WriteRequest},
        wallet::Call,
    },
    http::{ApiError, LimitUnit, RateLimit, Request, Response},
    model::{Address, MomentRef, TokenId},
    store::{Artists, CallerState, DAY, ReplayKey},
};

/// A write in progress: its artist, chain and answer.
pub struct WriteSession<'a> {
    pub(super) sender: &'a TransactionSender,
    pub(super) artists: &'a Artists,
    /// Gets the rate-limit headers; `None` where gas isn't counted.
    pub(super) request: Option<&'a Request>,
    pub(super) caller: CallerState,
    pub(super) replay: Option<(ReplayKey, String)>,
    /// Whether the key of `replay` is claimed already.
    pub(super) holds_key: bool,
    pub(super) format: ReplyFormat,
    pub(super) now: u64,
}

/// Cost of a write, in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The currency.
    pub currency: Currency,
    /// In its smallest unit.
    pub amount: primitives::U256,
}

impl WriteSession<'_> {
    /// The artist's embedded wallet.
    pub fn account(&self) -> Address {
        self.caller.artist.embedded_wallet
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        self.sender.chain()
    }

    /// The chain's nodes.
    pub fn node(&self) -> &Node {
        self.sender.node()
    }

    /// Requires the moment (404) and the account's permission on it (403).
    pub async fn require(&self, moment: &MomentRef, permission: Permission) -> Result<Standing, ApiError> {
        let standing = Standing::of(self.node(), self.account().into(), moment).await?;
        if !standing.exists {
            return Err(no_moment(moment));
        }
        self.expect(&standing, permission, &format!("moment {} of {}", moment.token, moment.collection))?;
        Ok(standing)
    }

    /// Requires the collection (404) and the account's permission on all of it (403).
    pub async fn require_on_collection(&self, collection: Address, permission: Permission) -> Result<(), ApiError> {
        let whole = MomentRef { chain: self.chain().id, collection, token: TokenId::from(primitives::U256::ZERO) };
        let standing = Standing::of(self.node(), self.account().into(), &whole).await?;
        if !standing.is_collection {
            return Err(no_collection(collection));
        }
        self.expect(&standing, permission, &format!("collection {collection}"))
    }

    fn expect(&self, standing: &Standing, permission: Permission, on: &str) -> Result<(), ApiError> {
        if standing.may(permission) {
            return Ok(());
        }
        let (account, permission) = (self.account(), permission.name());
        Err(ApiError::forbidden(format!("{account} is your account and lacks the permission {permission} on {on}")))
    }

    /// Requires the account's balances for `calls`, one currency per cost. One call to the chain each.
    ///
    /// # Errors
    /// 402 with balance and cost of each short currency; 403 or 422 where `calls` would fail with enough money, too, as far
    /// as a simulation can tell.
    pub async fn afford(&self, costs: &[Cost], calls: &[Call]) -> Result<(), ApiError> {
        let account = self.account();
        let balances = costs.iter().map(|cost| cost.currency.balance(self.node(), account.into()));
        let balances = futures::future::try_join_all(balances).await?;
        let short: Vec<_> = costs.iter().zip(balances).filter(|(cost, balance)| *balance < cost.amount).collect();
        if short.is_empty() {
            return Ok(());
        }
        if short.iter().all(|(cost, _)| cost.currency.contract.is_none()) {
            // Errors that money doesn't solve come first.
            let wealthy = self.sender.simulate_wealthy(&self.caller.artist, calls).await;
            wealthy.map_err(|error| self.worded(error))?;
        }
        let short = short.into_iter().map(|(Cost { currency, amount }, balance)| {
            format!("{} is needed and {} is there", currency.format(*amount), currency.format(balance))
        });
        let short: Vec<_> = short.collect();
        Err(ApiError::payment_required(format!("Your account {account} can't pay for this: {}", short.join("; "))))
    }

    /// Requires a wallet to be the artist's own (400); defaults to the embedded one. At most one AWS call.
    pub async fn own_wallet(&self, named: Option<Address>) -> Result<Address, ApiError> {
        match named {
            None => Ok(self.account()),
            Some(wallet) if wallet == self.account() => Ok(wallet),
            Some(wallet) if self.artists.owns(self.caller.artist.artist_id, wallet).await? => Ok(wallet),
            Some(_) => Err(ApiError::invalid_field("account", "must be one of your own wallets")),
        }
    }

    pub(super) async fn estimate(self, calls: Vec<Call>) -> Result<u64, ApiError> {
        let write = WriteRequest { caller: self.caller.clone(), calls, replay: None };
        let prepared = self.sender.prepare(&write).await.map_err(|error| self.worded(error))?;
        Ok(prepared.gas_limit())
    }

    /// Sends `calls` in one transaction and answers with it.
    pub(super) async fn send(self, calls: Vec<Call>) -> Result<Response, ApiError> {
        let write = WriteRequest { caller: self.caller.clone(), calls, replay: self.replay.clone() };
        let (sender, patience) = (self.sender, self.format.patience());
        let answer = |outcome: &Outcome| {
            self.count(outcome);
            self.format.tell(sender.chain(), outcome)
        };
        let answer = sender.write(write, self.now, patience, answer).await.map_err(|error| self.failure(error))?;
        Response::stored(answer.status, answer.body)
    }

    pub(super) fn count(&self, outcome: &Outcome) {
        if let Some(request) = self.request {
            let spent = self.caller.gas_spent.saturating_add(outcome.gas_limit());
            request.note_limits(&[gas_limit(spent, self.sender.policy(), self.now)]);
        }
    }

    fn worded(&self, error: WriteError) -> ApiError {
        answer_error(error, &gas_limit(self.caller.gas_spent, self.sender.policy(), self.now))
    }

    /// The answer to a failed write, which is counted.
    pub(super) fn failure(&self, error: WriteError) -> ApiError {
        let error = self.worded(error);
        ended(if error.status().is_client_error() { "refused" } else { "failed" }, error)
    }
}

pub(super) fn gas_limit(spent: u64, policy: &Policy, now: u64) -> RateLimit {
    RateLimit {
        unit: LimitUnit::Gas,
        max: policy.artist_gas_daily,
        window: Duration::from_secs(DAY),
        left: policy.artist_gas_daily.saturating_sub(spent),
        reset: Duration::from_secs(DAY - now % DAY),
    }
}
