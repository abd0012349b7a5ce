use std::{sync::Mutex, time::Duration};

use futures::future::BoxFuture;

use super::{
    follow::{follow, follow_in_place},
    refusal::in_progress,
    reply::{ReplyForm, ended},
    session::{Stores, WriteSession},
};
use crate::{
    api::{
        activity::ActivityRetention,
        error::{no_artist, refuse_suspended},
    },
    auth::{
        api_key::{Caller, Credential},
        caller::CallerAuthenticator,
        client_limit::ClientLimit,
    },
    chain::{
        Chain, Chains, History,
        node::{Node, NodeError, NodeUrls},
        protocol::provenance::Provenance,
        transaction::{Planner, Policy},
        wallet::OperatorAccount,
    },
    clock,
    config::{self, StartError},
    http::{AllowedChains, ApiError, Request, Response},
    model::{ArtistId, ChainId, Creation, DailySpend, Invalid, Plan, Scope, StatsSubject},
    store::{
        StoreError,
        artist::{
            ArtistTable, Artists, CallerState, Claims, Replay, ReplayClaim, ReplayKey, Transaction, Transactions,
        },
        chain::{ChainTable, Moments, Statistics},
        secret::{RequestCounts, SecretTable, Waits},
    },
};

/// Writes to the chains for artists with a token or an API key.
pub struct TransactionService {
    callers: CallerAuthenticator,
    writes: ClientLimit,
    chains: Chains,
    planners: Vec<Planner>,
    statistics: Statistics,
    pub(super) stores: Stores,
    /// What old tokens may spend in a day.
    daily_spend: DailySpend,
    /// Where requests wait that hold up others.
    waits: Option<Waits>,
}

/// A request to carry out.
#[derive(Clone, Copy)]
struct Write<'a> {
    request: &'a Request,
    caller: Caller,
    chain: ChainId,
    form: ReplyForm,
    creation: Creation,
    repeat: Repeat,
}

/// What a repeat of a request is that has no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// Another request.
    New,
    /// The same one, for [`REPEAT_LIFETIME`]: a second click must not pay twice.
    Same,
}

/// Seconds for which an idempotency key stands for its request.
const KEY_LIFETIME: u64 = 7 * 24 * 60 * 60;
/// Seconds for which a request without a key stands for its repeats.
const REPEAT_LIFETIME: u64 = 10 * 60;

/// A new request, or the transactions of an earlier one with its idempotency key.
enum Opened<'a> {
    Fresh(Box<WriteSession<'a>>),
    Replayed(Vec<Transaction>),
}

/// Queued transactions, and whether they are an earlier request's.
type Queued = (Vec<Transaction>, bool);

/// Only what makes the plans differs from endpoint to endpoint. The rest is boxed, so that it is compiled once in this
/// crate and not in each function.
impl TransactionService {
    /// Reads `CHAINS`, `RPC_URLS`, `ARTIST_TABLE`, `CHAIN_TABLE`, `SECRET_TABLE`, `OPERATOR_SAFE`,
    /// `WRITES_PER_CLIENT_MINUTELY`, `KEY_DAILY_WEI`, `KEY_DAILY_USDC`, `ACTIVITY_RETENTION_DAYS`, the parties of tokens
    /// and the limits of [`Policy`].
    pub async fn from_env() -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::WRITES_PER_CLIENT_MINUTELY)?);
        let secrets = SecretTable::from_env(&aws)?;
        let (operator, policy, urls) =
            (OperatorAccount::from_env()?, Policy::from_env()?, NodeUrls::from_env(&aws).await?);
        let (artists, chain) = (ArtistTable::from_env(&aws)?, ChainTable::from_env(&aws)?);
        let chains = Chains::from_env()?;
        let planner = |chain: &Chain| {
            let node = Node::for_requests(&urls, chain.id)?;
            Ok::<_, NodeError>(Planner::new(chain.clone(), node, operator, policy.clone()))
        };
        Ok(Self {
            writes: ClientLimit::new(secrets.clone(), "write", most, MINUTE),
            callers: CallerAuthenticator::from_env(secrets.clone())?,
            planners: chains.iter().filter(|chain| urls.names(chain.id)).map(planner).collect::<Result<_, _>>()?,
            chains,
            statistics: Statistics::new(chain.clone()),
            daily_spend: Credential::daily_spend()?,
            waits: None,
            stores: Stores {
                artists: Artists::new(artists.clone()),
                transactions: Transactions::new(artists.clone()),
                claims: Claims::new(artists.clone()),
                moments: Moments::new(chain.clone()),
                provenance: Provenance::new(chain, artists),
                retention: ActivityRetention::from_env()?,
                counts: RequestCounts::new(secrets),
            },
        })
    }

    /// The same for a function that answers few requests at a time: few of an artist, a network and a provider wait for
    /// outcomes at once. Others are answered 202.
    pub async fn from_env_with_places() -> Result<Self, StartError> {
        let waits = Waits::new(SecretTable::from_env(&config::aws().await)?);
        Ok(Self { waits: Some(waits), ..Self::from_env().await? })
    }

    /// Whom the request's token or API key stands for; 401 without one, 403 for a key without the scope, 429 over a limit.
    pub fn authenticate<'a>(&'a self, request: &'a Request, scope: Scope) -> BoxFuture<'a, Result<Caller, ApiError>> {
        Box::pin(async move {
            let now = clock::now()?;
            let caller = self.callers.authenticate_for(request, scope, now).await?;
            self.count_write(request).await?;
            Ok(caller)
        })
    }

    /// Counts a write of the client's network; 429 over its limit. One write.
    pub async fn count_write(&self, request: &Request) -> Result<(), ApiError> {
        self.writes.admit(request, clock::now()?).await.map(drop)
    }

    /// Returns the chain with this id; 422 if the service doesn't write to it.
    pub fn chain(&self, id: ChainId) -> Result<&Chain, ApiError> {
        Ok(self.planner(id)?.chain())
    }

    /// All artists.
    pub fn artists(&self) -> &Artists {
        &self.stores.artists
    }

    /// Queues the planned calls as one transaction, waits for its outcome and answers: 200 when it is mined, 202 while it
    /// isn't, 422 when it failed. A request with a known idempotency key is answered in the same way, without a plan.
    ///
    /// # Errors
    /// 400 or 422 for an idempotency key; those of `plan`; 402, 403, 422, 429, 502 or 503 when nothing was queued.
    pub async fn transact<P: Into<Plan>>(
        &self,
        request: &Request,
        caller: Caller,
        chain: ChainId,
        creation: Creation,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<P, ApiError>,
    ) -> Result<Response, ApiError> {
        let plans = async |session: &WriteSession<'_>| Ok(vec![plan(session).await?]);
        let (form, repeat) = (ReplyForm::One, Repeat::New);
        self.carry_out(Write { request, caller, chain, form, creation, repeat }, plans).await
    }

    /// The same where money moves: without an idempotency key, the same request within ten minutes is a repeat of the first
    /// one, unless that failed.
    pub async fn transact_once<P: Into<Plan>>(
        &self,
        request: &Request,
        caller: Caller,
        chain: ChainId,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<P, ApiError>,
    ) -> Result<Response, ApiError> {
        let plans = async |session: &WriteSession<'_>| Ok(vec![plan(session).await?]);
        let (form, creation, repeat) = (ReplyForm::One, Creation::Nothing, Repeat::Same);
        self.carry_out(Write { request, caller, chain, form, creation, repeat }, plans).await
    }

    /// The same with one transaction per plan, all of them queued or none.
    pub async fn transact_each<P: Into<Plan>>(
        &self,
        request: &Request,
        caller: Caller,
        chain: ChainId,
        plans: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<P>, ApiError>,
    ) -> Result<Response, ApiError> {
        let (form, creation, repeat) = (ReplyForm::Each, Creation::Nothing, Repeat::New);
        self.carry_out(Write { request, caller, chain, form, creation, repeat }, plans).await
    }

    /// What a session of the caller finds; nothing is sent or stored.
    pub async fn look<T>(
        &self,
        request: &Request,
        caller: Caller,
        chain: ChainId,
        look: impl AsyncFnOnce(&WriteSession<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let (state, history) = self.state(caller.artist, chain, None).await?;
        look(&self.session(request, caller, chain, state, history)?).await
    }

    /// Estimates the gas limit of the planned calls; nothing is sent or stored.
    pub async fn estimate<P: Into<Plan>>(
        &self,
        request: &Request,
        caller: Caller,
        chain: ChainId,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<P, ApiError>,
    ) -> Result<u64, ApiError> {
        self.look(request, caller, chain, async |session| {
            let plan = plan(session).await?.into();
            Ok(session.plan(plan).await?.gas_limit)
        })
        .await
    }

    async fn carry_out<P: Into<Plan>>(
        &self,
        write: Write<'_>,
        plans: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<P>, ApiError>,
    ) -> Result<Response, ApiError> {
        let admitted = self.admit(write, plans).await;
        self.reply(write, admitted).await
    }

    fn reply<'a>(
        &'a self,
        write: Write<'a>,
        admitted: Result<Queued, ApiError>,
    ) -> BoxFuture<'a, Result<Response, ApiError>> {
        if let Err(error) = &admitted {
            ended(if error.status().is_client_error() { "refused" } else { "failed" });
        }
        Box::pin(async move {
            let (transactions, is_replayed) = admitted?;
            let (store, asks) = (&self.stores.transactions, (write.request, write.caller.artist));
            let transactions = match &self.waits {
                Some(waits) => follow_in_place(store, waits, asks, transactions).await,
                None => follow(store, transactions).await,
            };
            let reply = write.form.reply(write.request, &transactions);
            match (reply, is_replayed) {
                (Ok(response), true) => Ok(response.replayed()),
                (Err(error), true) => Err(error.with("idempotent-replayed", "true")),
                (reply, false) => reply,
            }
        })
    }

    /// Queues what is planned.
    async fn admit<'a, P: Into<Plan>>(
        &'a self,
        write: Write<'a>,
        plans: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<P>, ApiError>,
    ) -> Result<Queued, ApiError> {
        let mut session = match self.open(write).await? {
            // It stays one when the time is over.
            Opened::Replayed(earlier) => return write.request.valid_until(0).map(|_| (earlier, true)),
            Opened::Fresh(session) => session,
        };
        session.valid_until = write.request.valid_until(session.now)?;
        let plans: Vec<_> = plans(&session).await?.into_iter().map(Into::into).collect();
        self.queue(write, session, plans).await
    }

    fn queue<'a>(
        &'a self,
        write: Write<'a>,
        session: Box<WriteSession<'a>>,
        plans: Vec<Plan>,
    ) -> BoxFuture<'a, Result<Queued, ApiError>> {
        Box::pin(async move {
            if plans.is_empty() {
                return Ok((Vec::new(), false));
            }
            if let Some(queued) = session.queue(plans, write.creation).await? {
                return Ok((queued, false));
            }
            // Another request with the same key was faster.
            match self.open(write).await? {
                Opened::Replayed(earlier) => Ok((earlier, true)),
                Opened::Fresh(_) => Err(in_progress()),
            }
        })
    }

    /// Looks an earlier request up by the idempotency key, or by its repeat. One AWS call beside one for the artist's
    /// statistics, one more for a repeated request.
    fn open<'a>(&'a self, write: Write<'a>) -> BoxFuture<'a, Result<Opened<'a>, ApiError>> {
        let Write { request, caller, chain, repeat, .. } = write;
        Box::pin(async move {
            let sent = request.idempotency_key()?;
            // The whole body is hashed only where a repeat must be told.
            let fingerprint = (sent.is_some() || repeat == Repeat::Same).then(|| request.fingerprint());
            let claim = fingerprint.map(|fingerprint| match &sent {
                Some(key) => (ReplayKey::new(caller.artist, key.as_str()), fingerprint),
                None => (ReplayKey::of_request(caller.artist, &fingerprint), fingerprint),
            });
            let key = claim.as_ref().map(|(key, _)| key);
            let (mut state, history) = self.state(caller.artist, chain, key).await?;
            let earlier = state.replayed.take();
            let mut session = self.session(request, caller, chain, state, history)?;
            request.note_limits(&[session.budget(0).limit()]);
            let Some((key, fingerprint)) = claim else { return Ok(Opened::Fresh(Box::new(session))) };
            let mut outlived = None;
            if let Some(earlier) = earlier {
                let transactions = self.transactions_of(caller.artist, &earlier).await?;
                let is_over = transactions.iter().all(|transaction| transaction.status.is_final());
                let is_failed = transactions.iter().all(|transaction| transaction.status.is_failure());
                let is_free = is_over && earlier.reusable_at <= session.now || is_failed && sent.is_none();
                if !is_free && earlier.fingerprint != fingerprint {
                    return Err(ApiError::unprocessable("This Idempotency-Key was used for another request"));
                }
                if !is_free {
                    return Ok(Opened::Replayed(transactions));
                }
                outlived = Some(earlier);
            }
            let lifetime = if sent.is_some() { KEY_LIFETIME } else { REPEAT_LIFETIME };
            session.replay = Some(ReplayClaim { key, fingerprint, lifetime, outlived });
            Ok(Opened::Fresh(Box::new(session)))
        })
    }

    /// In the order of the request.
    async fn transactions_of(&self, artist: ArtistId, earlier: &Replay) -> Result<Vec<Transaction>, StoreError> {
        let ids: Vec<_> = earlier.transactions.iter().map(|id| (artist, *id)).collect();
        let mut transactions = self.stores.transactions.get_many(&ids).await?;
        // Later ids are of later transactions.
        transactions.sort_unstable_by_key(|transaction| transaction.id);
        Ok(transactions)
    }

    async fn state(
        &self,
        artist: ArtistId,
        chain: ChainId,
        key: Option<&ReplayKey>,
    ) -> Result<(CallerState, History), ApiError> {
        self.find_state(artist, chain, key).await?.ok_or_else(no_artist)
    }

    /// An artist before a write; `None` if there is none. Two reads.
    pub(super) async fn find_state(
        &self,
        artist: ArtistId,
        chain: ChainId,
        key: Option<&ReplayKey>,
    ) -> Result<Option<(CallerState, History)>, ApiError> {
        let wallet = self.planner(chain)?.wallet(artist).address().into();
        let (caller, counted) = tokio::try_join!(
            self.stores.transactions.caller(artist, chain, key),
            self.statistics.of([(chain, StatsSubject::Artist(wallet))])
        )?;
        let Some(caller) = caller else { return Ok(None) };
        let history = History::at(clock::now()?.as_secs(), caller.joined_at, counted.first());
        Ok(Some((caller, history)))
    }

    pub(super) fn session<'a>(
        &'a self,
        request: &'a Request,
        Caller { credential, even_suspended, .. }: Caller,
        chain: ChainId,
        caller: CallerState,
        history: History,
    ) -> Result<WriteSession<'a>, ApiError> {
        let (planner, now) = (self.planner(chain)?, clock::now()?.as_secs());
        if !even_suspended {
            refuse_suspended(caller.suspension, now)?;
        }
        let (stores, daily_spend) = (&self.stores, self.daily_spend);
        Ok(WriteSession {
            planner,
            stores,
            request,
            caller,
            history,
            replay: None,
            claim: None,
            credential,
            daily_spend,
            now,
            valid_until: None,
            genuine: Mutex::default(),
            next_tokens: Mutex::default(),
            noted: Mutex::default(),
        })
    }

    /// Requests name no other chain, but what was stored before may be of one that has no nodes any more.
    pub(super) fn planner(&self, chain: ChainId) -> Result<&Planner, ApiError> {
        self.find_planner(chain).map_err(|reason| ApiError::unprocessable(format!("Chain {chain} {reason}")))
    }

    fn find_planner(&self, chain: ChainId) -> Result<&Planner, Invalid> {
        let planner = self.planners.iter().find(|planner| planner.chain().id == chain);
        planner.ok_or(Invalid("is not a chain that this service writes to"))
    }
}

impl AllowedChains for TransactionService {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chains.get(chain).and_then(|_| self.find_planner(chain)).map(drop)
    }
}
