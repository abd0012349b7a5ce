use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use alloy::primitives::U256;
use futures::future::try_join_all;

use super::refusal::Budget;
use crate::{
    api::error::{no_collection, no_moment},
    auth::api_key::Credential,
    chain::{
        Chain, History,
        node::Node,
        protocol::{
            currency::{Currency, outlay},
            permission::{Permission, Permissions},
            provenance::was_made_since,
        },
        transaction::{Planned, Planner, collections},
    },
    clock, deadline,
    http::{ApiError, Request},
    model::{Address, Call, Creation, DailyLimit, DailySpend, FeeRecipient, KeyId, MomentRef, Plan, Protocol},
    store::{
        StoreError,
        artist::{
            Admission, AdmissionRefusal, Admitted, Artists, CallerState, DAY, NewTransaction, Outlay, ReplayClaim,
            Transaction, Transactions,
        },
        chain::{ChainTable, Moments},
        engine::Progress,
    },
};

/// Time that admission may take: nothing is queued whose client wouldn't be told.
const ADMISSION: Duration = Duration::from_secs(5);

/// Seconds in which a write that pays must be sent: prices and minds change.
const PAYMENT_VALIDITY: u64 = 10 * 60;
/// Seconds in which any other write must be sent.
const VALIDITY: u64 = DAY;

/// What sessions read and write.
pub(super) struct Stores {
    pub(super) artists: Artists,
    pub(super) transactions: Transactions,
    pub(super) moments: Moments,
    /// The chain table, for the index's progress.
    pub(super) chain: ChainTable,
}

/// A write in progress: its artist and chain.
pub struct WriteSession<'a> {
    pub(super) planner: &'a Planner,
    pub(super) stores: &'a Stores,
    pub(super) request: &'a Request,
    pub(super) caller: CallerState,
    pub(super) history: History,
    /// Idempotency key and hash of the request, with the replay that the key has outlived.
    pub(super) replay: Option<ReplayClaim>,
    /// What the request is authenticated by.
    pub(super) credential: Credential,
    /// What old tokens may spend in a day.
    pub(super) daily_spend: DailySpend,
    /// Unix time in seconds.
    pub(super) now: u64,
    /// Collections that a factory is known to have made.
    pub(super) genuine: Mutex<BTreeSet<Address>>,
}

/// Cost of a write, in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The currency.
    pub currency: Currency,
    /// In its smallest unit.
    pub amount: U256,
}

impl WriteSession<'_> {
    /// The artist's embedded wallet.
    pub fn account(&self) -> Address {
        self.caller.artist.embedded_wallet
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        self.planner.chain()
    }

    /// The chain's nodes.
    pub fn node(&self) -> &Node {
        self.planner.node()
    }

    /// Requires the moment (404), its collection to be genuine (422), and the account's permission on it (403).
    pub async fn require(&self, moment: &MomentRef, permission: Permission) -> Result<Permissions, ApiError> {
        let permissions = Permissions::of(self.node(), self.account().into(), moment).await?;
        if !permissions.exists {
            return Err(no_moment(moment));
        }
        self.require_genuine(moment.collection).await?;
        self.expect(&permissions, permission, &format!("moment {} of {}", moment.token, moment.collection))?;
        Ok(permissions)
    }

    /// Requires the collection (404) to be genuine (422), and the account's permission on all of it (403).
    pub async fn require_on_collection(
        &self,
        collection: Address,
        permission: Permission,
    ) -> Result<Permissions, ApiError> {
        let whole = MomentRef::whole(self.chain().id, collection);
        let permissions = Permissions::of(self.node(), self.account().into(), &whole).await?;
        if !permissions.is_collection {
            return Err(no_collection(collection));
        }
        self.require_genuine(collection).await?;
        self.expect(&permissions, permission, &format!("collection {collection}"))?;
        Ok(permissions)
    }

    /// Requires a configured factory to have made the collection (422): any contract can claim prices and permissions.
    /// One read; for one that isn't indexed for good, two more and two calls.
    pub async fn require_genuine(&self, collection: Address) -> Result<(), ApiError> {
        if self.genuine.lock().unwrap_or_else(PoisonError::into_inner).contains(&collection) {
            return Ok(());
        }
        if !self.is_indexed(collection).await? {
            let chain = self.chain();
            // Read before the rows, so that a block that is indexed meanwhile is asked for as well.
            let unread =
                Progress::of(&self.stores.chain, chain.id).await?.first_unsettled().unwrap_or(chain.first_block);
            if !self.is_indexed(collection).await? && !was_made_since(self.node(), chain, collection, unread).await? {
                let words = format!("{collection} was not made by a factory that this service knows");
                return Err(ApiError::unprocessable(words));
            }
        }
        self.note_genuine(collection);
        Ok(())
    }

    /// Notes that the chain's factory makes the collection at this address.
    pub fn note_genuine(&self, collection: Address) {
        self.genuine.lock().unwrap_or_else(PoisonError::into_inner).insert(collection);
    }

    /// Recipients of an indexed split; `None` if there is none. One read.
    pub async fn split(&self, address: Address) -> Result<Option<Vec<FeeRecipient>>, StoreError> {
        self.stores.moments.split(self.chain().id, address).await
    }

    /// Protocol of an indexed collection; `None` if it isn't indexed. One read.
    pub async fn protocol(&self, collection: Address) -> Result<Option<Protocol>, StoreError> {
        let known = self.stores.moments.collection(self.chain().id, collection).await?;
        if known.is_some() {
            // The indexer follows factories alone.
            self.note_genuine(collection);
        }
        Ok(known.map(|known| known.protocol))
    }

    /// Requires an indexed moment of another protocol (404). Its contract knows who may do what. One read.
    pub async fn require_indexed(&self, moment: &MomentRef) -> Result<(), ApiError> {
        let indexed = self.stores.moments.moment(moment).await?;
        indexed.map(drop).ok_or_else(|| no_moment(moment))
    }

    async fn is_indexed(&self, collection: Address) -> Result<bool, StoreError> {
        Ok(self.protocol(collection).await?.is_some())
    }

    fn expect(&self, permissions: &Permissions, permission: Permission, on: &str) -> Result<(), ApiError> {
        if permissions.may(permission) {
            return Ok(());
        }
        let (account, permission) = (self.account(), permission.name());
        Err(ApiError::forbidden(format!("Your account {account} lacks the {permission} permission on {on}")))
    }

    /// Requires the account's balances for `calls`, one currency per cost. One call to the chain each.
    ///
    /// # Errors
    /// 402 with balance and cost of each short currency; 403 or 422 where `calls` would fail with enough money, too.
    pub async fn afford(&self, costs: &[Cost], calls: &[Call]) -> Result<(), ApiError> {
        let account = self.account();
        let balances = costs.iter().map(|cost| cost.currency.balance(self.node(), account.into()));
        let balances = try_join_all(balances).await?;
        let short: Vec<_> = costs.iter().zip(balances).filter(|(cost, balance)| *balance < cost.amount).collect();
        if short.is_empty() {
            return Ok(());
        }
        if short.iter().all(|(cost, _)| cost.currency.contract.is_none()) {
            // Errors that money doesn't solve come first.
            self.planner.simulate_wealthy(account, calls).await?;
        }
        let short = short.into_iter().map(|(Cost { currency, amount }, balance)| {
            format!("needs {}, has {}", currency.format(*amount), currency.format(balance))
        });
        let short: Vec<_> = short.collect();
        Err(ApiError::payment_required(format!("Your account {account} can't pay for this: {}", short.join("; "))))
    }

    /// Requires a wallet to be the artist's own (400); defaults to the embedded one. At most one AWS call.
    pub async fn own_wallet(&self, named: Option<Address>) -> Result<Address, ApiError> {
        match named {
            None => Ok(self.account()),
            Some(wallet) if wallet == self.account() => Ok(wallet),
            Some(wallet) if self.stores.artists.owns(self.caller.artist.artist_id, wallet).await? => Ok(wallet),
            Some(_) => {
                Err(ApiError::invalid_field("account", "must be one of your own wallets, and no contract wallet"))
            }
        }
    }

    pub(super) async fn plan(&self, plan: Plan) -> Result<Planned, ApiError> {
        let calls = plan.outline(&self.chain().addresses);
        for collection in collections(self.chain(), self.account().into(), &calls) {
            self.require_genuine(collection.into()).await?;
        }
        Ok(self.planner.plan(&self.caller, plan).await?)
    }

    /// Queues one transaction per plan, all or none; `None` if another request with the same idempotency key was faster.
    pub(super) async fn queue(
        &self,
        plans: Vec<Plan>,
        creation: Creation,
    ) -> Result<Option<Vec<Transaction>>, ApiError> {
        let valid_until = self.request.valid_until(self.now)?;
        let planned = try_join_all(plans.into_iter().map(|plan| self.plan(plan))).await?;
        if deadline::is_within(ADMISSION) {
            return Err(ApiError::late());
        }
        let paid = self.outlay(planned.iter().map(|planned| &planned.plan))?;
        let new = |Planned { plan, gas, reserve, .. }| {
            let pays = outlay(self.chain(), &plan.outline(&self.chain().addresses)) != (U256::ZERO, U256::ZERO);
            let latest = self.now + if pays { PAYMENT_VALIDITY } else { VALIDITY };
            let valid_until = Some(valid_until.map_or(latest, |until| until.min(latest)));
            NewTransaction { plan, gas, creation, reserve, valid_until }
        };
        let admission = Admission {
            artist: self.caller.artist.artist_id,
            key: self.key(),
            outlay: paid,
            chain: self.chain().id,
            wallet: self.account(),
            account: self.caller.account,
            transactions: planned.into_iter().map(new).collect(),
            replay: self.replay.clone(),
            artist_limit: self.chain().spending.artist_limit(self.history),
            pool: self.chain().spending.pool(self.history),
        };
        match self.stores.transactions.admit(&admission, clock::now()?).await? {
            Admitted::Queued(transactions) => {
                let wei = transactions.iter().map(|transaction| transaction.charge.wei).sum();
                self.request.note_limits(&[self.budget(wei).limit()]);
                Ok(Some(transactions))
            }
            Admitted::Refused(AdmissionRefusal::KeyInUse) => Ok(None),
            Admitted::Refused(AdmissionRefusal::DailySpent) if self.credential == Credential::OldToken => {
                Err(ApiError::stale_sign_in())
            }
            Admitted::Refused(refusal) => Err(self.budget(0).refused(refusal)),
        }
    }

    /// Whether calls pay more than an old token may in a day: the artist is told of them.
    pub fn is_large(&self, calls: &[Call]) -> bool {
        !self.outlay_within(self.daily_spend, calls).fits()
    }

    fn outlay_within(&self, limit: DailySpend, calls: &[Call]) -> Outlay {
        let (eth, usdc) = outlay(self.chain(), calls);
        Outlay { key: self.key(), limit, eth: eth.saturating_to(), usdc: usdc.saturating_to() }
    }

    fn key(&self) -> Option<KeyId> {
        if let Credential::Key(key) = self.credential { Some(key.id) } else { None }
    }

    /// What a key or an old token pays; 403 or 401 if that is more than it may ever spend in a day.
    fn outlay<'p>(&self, plans: impl Iterator<Item = &'p Plan>) -> Result<Option<Outlay>, ApiError> {
        let limit = match self.credential {
            Credential::FreshToken => return Ok(None),
            Credential::OldToken => self.daily_spend,
            Credential::Key(key) => key.daily_spend,
        };
        let calls: Vec<_> = plans.flat_map(|plan| plan.outline(&self.chain().addresses)).collect();
        let outlay = self.outlay_within(limit, &calls);
        if outlay.fits() {
            return Ok(Some(outlay));
        }
        if self.credential == Credential::OldToken {
            return Err(ApiError::stale_sign_in());
        }
        let [native, stable] = self.chain().currencies();
        let shown = |currency: Currency, limit: DailyLimit| currency.format(U256::from(limit.0));
        Err(ApiError::forbidden(format!(
            "This costs more than this API key may spend in a day, which is {} and {}: make one with a higher dailySpend",
            shown(native, limit.eth),
            shown(stable, limit.usdc)
        )))
    }

    /// The artist's budgets after a further `wei`.
    pub(super) fn budget(&self, wei: u64) -> Budget<'_> {
        let spent = self.caller.account.map_or(0, |account| account.spent_on(self.now / DAY));
        Budget {
            spending: &self.chain().spending,
            history: self.history,
            spent: spent.saturating_add(wei),
            now: self.now,
        }
    }
}
