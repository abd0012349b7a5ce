use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Display,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use alloy::primitives::U256;
use futures::future::try_join_all;

use super::refusal::{Budget, refused_claim};
use crate::{
    api::{
        activity::ActivityRetention,
        cost::{Cost, Shortfall, cannot_pay, shortfalls},
        error::{no_collection, no_moment},
    },
    auth::api_key::Credential,
    chain::{
        Chain, History,
        node::Node,
        protocol::{
            currency::{Currency, outlay},
            permission::{Permission, Permissions},
            provenance::{Origin, Provenance},
        },
        transaction::{Planned, Planner, collections, kind_of},
    },
    clock, deadline,
    http::{ApiError, Request},
    model::{
        ActivityKind, Address, ArtistId, Call, Creation, DAY, DailyLimit, DailySpend, FeeRecipient, KeyId, MomentRef,
        Plan, Protocol, WriteKind,
    },
    store::{
        StoreError,
        artist::{
            Admission, AdmissionRefusal, Admitted, Artists, CallerState, Claims, NewClaim, NewTransaction, Outlay,
            ReplayClaim, Spent, Transaction, Transactions,
        },
        chain::Moments,
        secret::RequestCounts,
    },
    telemetry,
};

/// Time that admission may take: nothing is queued whose client wouldn't be told.
const ADMISSION: Duration = Duration::from_secs(5);

/// Seconds in which a write that pays must be sent: prices and minds change.
const PAYMENT_VALIDITY: u64 = 10 * 60;
/// Seconds in which any other write must be sent.
const VALIDITY: u64 = DAY;

/// Seconds in which the index mostly has a new block.
const INDEXING: u64 = 5;

/// Neither the index nor a log says who made a collection.
#[derive(Debug, thiserror::Error)]
#[error("the index and the nodes' logs lag behind collection {0}")]
struct UnknownOrigin(Address);

/// 503 for a collection or a moment that the chain has and the index hasn't yet.
pub(super) fn too_new(what: &str, cause: impl Error + Send + Sync + 'static) -> ApiError {
    ApiError::unavailable(format!("The {what} isn't known yet: try again in a moment"), INDEXING, cause)
}

/// What sessions read and write.
pub(super) struct Stores {
    pub(super) artists: Artists,
    pub(super) transactions: Transactions,
    pub(super) claims: Claims,
    pub(super) moments: Moments,
    pub(super) provenance: Provenance,
    pub(super) retention: ActivityRetention,
    pub(super) counts: RequestCounts,
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
    /// The place of a claim link that the write takes; the request isn't the artist's then.
    pub(super) claim: Option<NewClaim>,
    /// What the request is authenticated by.
    pub(super) credential: Credential,
    /// What old tokens may spend in a day.
    pub(super) daily_spend: DailySpend,
    /// Unix time in seconds.
    pub(super) now: u64,
    /// Unix time in seconds, by which the client wants its transactions sent.
    pub(super) valid_until: Option<u64>,
    /// Collections that a factory is known to have made.
    pub(super) genuine: Mutex<BTreeSet<Address>>,
    /// Ids of collections' next tokens, where they were read.
    pub(super) next_tokens: Mutex<BTreeMap<Address, U256>>,
    /// What the artist's activity will say of the write.
    pub(super) noted: Mutex<Option<(ActivityKind, String)>>,
}

impl WriteSession<'_> {
    /// The artist's embedded wallet.
    pub fn account(&self) -> Address {
        self.caller.artist.embedded_wallet
    }

    /// The embedded wallet of any artist.
    pub fn wallet_of(&self, artist: ArtistId) -> Address {
        self.planner.wallet(artist).address().into()
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

    /// Requires a configured factory to have made the collection (422; 503 while that isn't known yet). One read; for one
    /// that isn't indexed for good, what [`Provenance::of`] takes.
    pub async fn require_genuine(&self, collection: Address) -> Result<(), ApiError> {
        if self.genuine.lock().unwrap_or_else(PoisonError::into_inner).contains(&collection) {
            return Ok(());
        }
        match self.stores.provenance.of::<ApiError>(self.node(), self.chain(), collection).await? {
            Origin::Factory => {
                self.note_genuine(collection);
                Ok(())
            }
            Origin::Stranger => {
                let words = format!("{collection} was not made by a factory that this service knows");
                Err(ApiError::unprocessable(words))
            }
            Origin::Unknown => Err(too_new("collection", UnknownOrigin(collection))),
        }
    }

    /// Notes that the chain's factory makes the collection at this address.
    pub fn note_genuine(&self, collection: Address) {
        self.genuine.lock().unwrap_or_else(PoisonError::into_inner).insert(collection);
    }

    /// Notes the id of a collection's next token, as the chain has just said it: the first trial needn't ask again.
    pub fn note_next_token(&self, collection: Address, next: U256) {
        self.next_tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(collection, next);
    }

    /// Notes what the artist's activity says once the write is queued; it costs no call. The subject holds no words of
    /// whoever asks.
    pub fn note(&self, kind: ActivityKind, subject: impl Display) {
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) = Some((kind, subject.to_string()));
    }

    /// Notes that a moment's sale changes, and whom it pays from then on if that does.
    pub fn note_sale(&self, moment: &MomentRef, recipient: Option<Address>) {
        match recipient {
            Some(recipient) => self.note(ActivityKind::SaleChanged, format_args!("{moment}, which pays {recipient}")),
            None => self.note(ActivityKind::SaleChanged, moment),
        }
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
    /// 402 with what is missing; 403 or 422 where `calls` would fail with enough money, too.
    pub async fn afford(&self, costs: &[Cost], calls: &[Call]) -> Result<(), ApiError> {
        let account = self.account();
        let short = shortfalls(self.node(), account.into(), costs).await?;
        if short.is_empty() {
            return Ok(());
        }
        if short.iter().all(Shortfall::is_native) {
            // Errors that money doesn't solve come first.
            self.planner.simulate_wealthy(account, calls).await?;
        }
        Err(cannot_pay(&format!("Your account {account}"), &short))
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
        let next_token = self.next_token(&plan);
        Ok(self.planner.plan(&self.caller, plan, next_token).await?)
    }

    fn next_token(&self, plan: &Plan) -> Option<U256> {
        let Plan::Tokens(tokens) = plan else { return None };
        let known = self.next_tokens.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&tokens.collection).copied()
    }

    /// Queues one transaction per plan, all or none; `None` if another request with the same idempotency key was faster, or
    /// took the place of a claim.
    pub(super) async fn queue(
        &self,
        plans: Vec<Plan>,
        creation: Creation,
    ) -> Result<Option<Vec<Transaction>>, ApiError> {
        let planned = try_join_all(plans.into_iter().map(|plan| self.plan(plan))).await?;
        if deadline::is_within(ADMISSION) {
            return Err(ApiError::late());
        }
        let paid = self.outlay(planned.iter().map(|planned| &planned.plan))?;
        let kinds = try_join_all(planned.iter().map(|planned| self.kind(&planned.plan))).await?;
        let new = |(Planned { plan, gas, reserve, .. }, kind)| {
            let latest = self.now + if self.paid_by(&plan).is_any() { PAYMENT_VALIDITY } else { VALIDITY };
            let valid_until = Some(self.valid_until.map_or(latest, |until| until.min(latest)));
            NewTransaction { plan, kind, gas, creation, reserve, valid_until }
        };
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner).take();
        let activity = noted.map(|(kind, subject)| self.stores.retention.activity(self.request, kind, &subject));
        let admission = Admission {
            artist: self.caller.artist.artist_id,
            key: self.key(),
            outlay: paid,
            chain: self.chain().id,
            wallet: self.account(),
            account: self.caller.account,
            transactions: planned.into_iter().zip(kinds).map(new).collect(),
            replay: self.replay.clone(),
            claim: self.claim.clone(),
            activity: activity.transpose()?,
            artist_limit: self.chain().spending.artist_limit(self.history),
            pool: self.chain().spending.pool(self.history),
        };
        let now = clock::now()?;
        let share = self.take_network_share(&admission).await?;
        let admitted = self.stores.transactions.admit(&admission, now).await;
        if let Some((subject, wei)) = share
            && !matches!(admitted, Ok(Admitted::Queued(_)))
            && let Err(error) = self.stores.counts.take_back(wei, &subject, self.now / DAY).await
        {
            tracing::error!(error = telemetry::chain(&error), "a network's share of fees not given back");
        }
        match admitted? {
            Admitted::Queued(transactions) if self.claim.is_some() => Ok(Some(transactions)),
            Admitted::Queued(transactions) => {
                let wei = transactions.iter().map(|transaction| transaction.charge.wei).sum();
                self.request.note_limits(&[self.budget(wei).limit()]);
                Ok(Some(transactions))
            }
            Admitted::Refused(AdmissionRefusal::KeyInUse | AdmissionRefusal::NoPlace) => Ok(None),
            Admitted::Refused(refusal) if self.claim.is_some() => Err(refused_claim(refusal, self.now)),
            Admitted::Refused(AdmissionRefusal::DailySpent) if self.credential == Credential::OldToken => {
                Err(ApiError::stale_sign_in())
            }
            Admitted::Refused(refusal) => Err(self.budget(0).refused(refusal)),
        }
    }

    /// Counts what is reserved for the request's network, and returns the count's subject and the wei, for an artist who
    /// counts there; 429 if its new artists have reserved its share of their budget. One write, for such an artist.
    async fn take_network_share(&self, admission: &Admission) -> Result<Option<(String, u64)>, ApiError> {
        let (spending, day) = (&self.chain().spending, self.now / DAY);
        if !spending.is_of_a_network(self.history) {
            return Ok(None);
        }
        let (wei, _) = admission.demand();
        let subject = format!("gas#{}#client#{}", self.chain().id, self.request.widest_network());
        let counted = self.stores.counts.count_within((wei, spending.network_daily), &subject, day, (day + 2) * DAY);
        if counted.await? {
            return Ok(Some((subject, wei)));
        }
        let words = "New artists of your network have used up its part of today's fees: wait until midnight, UTC";
        Err(ApiError::too_many(words, (day + 1) * DAY - self.now))
    }

    /// The queue for a plan; the relay comes to the same. A read for each account that isn't the artist's embedded one and
    /// whose permissions change.
    async fn kind(&self, plan: &Plan) -> Result<WriteKind, ApiError> {
        let calls = plan.outline(&self.chain().addresses);
        let kind = kind_of(self.chain(), &self.stores.artists, &self.caller.artist, &calls).await?;
        kind.ok_or_else(|| {
            ApiError::unprocessable("One write can't both pay and change who may do what: make two of it")
        })
    }

    /// Whether calls pay more than an old token may in a day: the artist is told of them.
    pub fn is_large(&self, calls: &[Call]) -> bool {
        !Outlay { key: None, limit: self.daily_spend, each: vec![self.paid_in(calls)] }.fits()
    }

    fn paid_by(&self, plan: &Plan) -> Spent {
        self.paid_in(&plan.outline(&self.chain().addresses))
    }

    fn paid_in(&self, calls: &[Call]) -> Spent {
        let (eth, usdc) = outlay(self.chain(), calls);
        Spent { eth: eth.saturating_to(), usdc: usdc.saturating_to() }
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
        let outlay = Outlay { key: self.key(), limit, each: plans.map(|plan| self.paid_by(plan)).collect() };
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
