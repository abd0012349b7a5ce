//! What every endpoint that writes to a chain has in common: who asks, have they asked before, may they, and what they
//! are answered.

mod refusal;
mod series;
mod wording;

use std::time::Duration;

use alloy::primitives;

use self::{
    refusal::{answer_error, in_progress, no_artist},
    wording::ended,
};
pub use self::{
    refusal::{answer_node_error, no_collection, no_moment},
    wording::{Findings, SentTransaction, Wording, WriteResponse, WritesResponse},
};
use crate::{
    auth::api_key::KeyAuthenticator,
    chain::{
        Chain, Chains,
        account::Call,
        currency::Currency,
        engine::{Engine, Outcome, Write, WriteError},
        node::{Node, NodeError, NodeUrls},
        permission::{Permission, Standing},
        policy::Policy,
        signer::LaneSigners,
    },
    clock, config,
    http::{ApiError, FieldError, Fields, LimitUnit, RateLimit, Request, Response, StartError},
    model::{Address, ArtistId, CaipContract, CaipNetwork, ChainId, Invalid, MomentRef, TokenId},
    store::{Artists, CallerState, DAY, Keys, ReplayKey, ReplayedRequest, Table, Transactions},
};

/// Writes to the chains for those who bring an API key.
pub struct Writers {
    keys: KeyAuthenticator,
    chains: Chains,
    engines: Vec<Engine>,
    artists: Artists,
    transactions: Transactions,
}

/// A request that was not answered yet.
pub struct Writing<'a> {
    engine: &'a Engine,
    artists: &'a Artists,
    /// What the answer's headers are told; nothing where nothing is counted.
    request: Option<&'a Request>,
    caller: CallerState,
    replay: Option<(ReplayKey, String)>,
    /// Whether the key of `replay` is this request's already.
    holds_key: bool,
    wording: Wording,
    now: u64,
}

/// What a write costs the artist's account, in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The currency.
    pub currency: Currency,
    /// How much, in its smallest unit.
    pub amount: primitives::U256,
}

/// Whether a request is new.
pub enum Begun<'a> {
    /// It is.
    Fresh(Box<Writing<'a>>),
    /// It isn't: this is what it was answered.
    Replayed(Response),
}

impl Writers {
    /// Reads `CHAINS`, `RPC_URLS`, `ARTIST_TABLE`, `SECRET_TABLE`, `OPERATOR_LANES`, `OPERATOR_LANE_KEYS` and the limits of
    /// [`Policy`].
    ///
    /// # Errors
    /// When one of them is unset or wrong.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (signers, policy, urls) = (LaneSigners::from_env(&aws)?, Policy::from_env()?, NodeUrls::from_env()?);
        let table = Table::artists(&aws)?;
        let transactions = Transactions::new(table.clone());
        let chains = Chains::from_env()?;
        let engine = |chain: &Chain| {
            let node = Node::for_requests(&urls, chain.id)?;
            Ok::<_, NodeError>(Engine::new(chain.clone(), node, signers.clone(), policy.clone(), transactions.clone()))
        };
        Ok(Self {
            keys: KeyAuthenticator::new(Keys::new(Table::secrets(&aws)?)),
            engines: chains.iter().filter(|chain| urls.names(chain.id)).map(engine).collect::<Result<_, _>>()?,
            chains,
            artists: Artists::new(table),
            transactions,
        })
    }

    /// Whose API key the request brings.
    ///
    /// # Errors
    /// 401 without a live one.
    pub async fn authenticate(&self, request: &Request) -> Result<ArtistId, ApiError> {
        self.keys.authenticate(request, clock::now()?).await
    }

    /// The `moment` of a request: `collectionAddress`, `tokenId` and `chainId` (8453 unless given).
    pub fn moment(&self, fields: &mut Fields) -> Option<MomentRef> {
        let mut moment = fields.object("moment")?;
        let collection = moment.required::<Address>("collectionAddress");
        let token = moment.required::<TokenId>("tokenId");
        let chain = self.chain(&mut moment);
        Some(MomentRef { chain: chain?, collection: collection?, token: token? })
    }

    /// The collection that a path names: `network` and `contract`.
    pub fn collection(&self, path: &mut Fields) -> Option<(ChainId, Address)> {
        let network = path.required("network").and_then(|CaipNetwork(chain)| {
            self.engine(chain).map_err(|error| path.refuse("network", error)).ok().map(|_| chain)
        });
        let contract = path.required("contract").map(|CaipContract(address)| address);
        network.zip(contract)
    }

    /// The `chainId` of a request, 8453 unless given: a chain that is written to.
    pub fn chain(&self, fields: &mut Fields) -> Option<ChainId> {
        let id = fields.optional_number_or("chainId", ChainId::DEFAULT)?;
        let known = self.chains.get(id).and_then(|_| self.engine(id));
        known.map_err(|error| fields.refuse("chainId", error)).ok().map(|_| id)
    }

    /// The chain with this id, if it is written to.
    pub fn chain_of(&self, id: ChainId) -> Option<&Chain> {
        self.engine(id).ok().map(Engine::chain)
    }

    /// Looks whether the request was made before. One AWS call, two when it was.
    ///
    /// # Errors
    /// 400 for an unusable idempotency key, 409 while the earlier request is answered, 422 when that was another one.
    pub async fn begin<'a>(
        &'a self,
        artist: ArtistId,
        chain: ChainId,
        request: &'a Request,
        wording: Wording,
    ) -> Result<Begun<'a>, ApiError> {
        let now = clock::now()?.as_secs();
        let engine = self.engine(chain)?;
        let replay =
            request.idempotency_key()?.map(|key| (ReplayKey::new(artist, key.as_str()), request.fingerprint()));
        let (key, guess) = (replay.as_ref().map(|(key, _)| key), engine.signers().likely(artist).map(Address::from));
        let caller = self.transactions.caller(artist, chain, guess, key, now).await?;
        let mut caller = caller.ok_or_else(no_artist)?;
        request.note_limits(&[gas_limit(caller.gas_spent, engine.policy(), now)]);
        let holds_key = match (caller.replayed.take(), &replay) {
            (Some(earlier), Some((key, fingerprint))) => {
                if earlier.fingerprint != *fingerprint {
                    return Err(ApiError::unprocessable("This Idempotency-Key was used for another request"));
                }
                if let Some(response) = self.replay(engine, &earlier, key, wording, now).await? {
                    return Ok(Begun::Replayed(response));
                }
                true
            }
            _ => false,
        };
        let artists = &self.artists;
        let request = Some(request);
        Ok(Begun::Fresh(Box::new(Writing { engine, artists, request, caller, replay, holds_key, wording, now })))
    }

    /// A write that is only tried: idempotency keys have no part in it. One AWS call.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn rehearse(&self, artist: ArtistId, chain: ChainId) -> Result<Writing<'_>, ApiError> {
        let (engine, now) = (self.engine(chain)?, clock::now()?.as_secs());
        let guess = engine.signers().likely(artist).map(Address::from);
        let caller = self.transactions.caller(artist, chain, guess, None, now).await?.ok_or_else(no_artist)?;
        let (artists, wording) = (&self.artists, Wording::Hash);
        Ok(Writing { engine, artists, request: None, caller, replay: None, holds_key: false, wording, now })
    }

    /// What the earlier request was answered, or what it would be answered now if it ended without; `None` where it is to
    /// be gone on with.
    async fn replay(
        &self,
        engine: &Engine,
        earlier: &ReplayedRequest,
        key: &ReplayKey,
        wording: Wording,
        now: u64,
    ) -> Result<Option<Response>, ApiError> {
        let answer = match &earlier.answer {
            Some(answer) => answer.clone(),
            None => {
                let transaction = self.transactions.get(&earlier.slot).await?.ok_or_else(in_progress)?;
                if wording.is_resumed(&transaction, now) {
                    return Ok(None);
                }
                let answer = wording.late(engine, &transaction, now).await.map_err(answer_node_error)?;
                let answer = answer.ok_or_else(in_progress)?;
                if answer.is_final() {
                    self.transactions.answer(key, &answer).await?;
                }
                answer
            }
        };
        Ok(Some(Response::stored(answer.status, answer.body)?.replayed()))
    }

    fn engine(&self, chain: ChainId) -> Result<&Engine, Invalid> {
        let engine = self.engines.iter().find(|engine| engine.chain().id == chain);
        engine.ok_or(Invalid("is not a chain that this service writes to"))
    }
}

impl Writing<'_> {
    /// The artist's account.
    pub fn account(&self) -> Address {
        self.caller.artist.embedded_wallet
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        self.engine.chain()
    }

    /// Its nodes.
    pub fn node(&self) -> &Node {
        self.engine.node()
    }

    /// Makes sure that there is such a moment and that the artist's account has this permission on it.
    ///
    /// # Errors
    /// 404, or 403.
    pub async fn require(&self, moment: &MomentRef, permission: Permission) -> Result<Standing, ApiError> {
        let standing = Standing::of(self.node(), self.account().into(), moment).await.map_err(answer_node_error)?;
        if !standing.exists {
            return Err(no_moment(moment));
        }
        self.expect(&standing, permission, &format!("moment {} of {}", moment.token, moment.collection))?;
        Ok(standing)
    }

    /// Makes sure that there is such a collection and that the artist's account has this permission on all of it.
    ///
    /// # Errors
    /// 404, or 403.
    pub async fn require_on_collection(&self, collection: Address, permission: Permission) -> Result<(), ApiError> {
        let whole = MomentRef { chain: self.chain().id, collection, token: TokenId::from(primitives::U256::ZERO) };
        let standing = Standing::of(self.node(), self.account().into(), &whole).await.map_err(answer_node_error)?;
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

    /// Makes sure that the artist's account has these amounts, each of another currency, for `calls`. One call to the
    /// chain for each.
    ///
    /// # Errors
    /// 402 that says what is there and what is needed of each that is short; 403 or 422 where `calls` would fail with
    /// all the money, too, as far as that can be tried.
    pub async fn afford(&self, costs: &[Cost], calls: &[Call]) -> Result<(), ApiError> {
        let account = self.account();
        let balances = costs.iter().map(|cost| cost.currency.balance(self.node(), account.into()));
        let balances = futures::future::try_join_all(balances).await.map_err(answer_node_error)?;
        let short: Vec<_> = costs.iter().zip(balances).filter(|(cost, balance)| *balance < cost.amount).collect();
        if short.is_empty() {
            return Ok(());
        }
        if short.iter().all(|(cost, _)| cost.currency.contract.is_none()) {
            // What no money helps with is said first.
            let wealthy = self.engine.simulate_wealthy(&self.caller.artist, calls).await;
            wealthy.map_err(|error| self.worded(error))?;
        }
        let short = short.into_iter().map(|(Cost { currency, amount }, balance)| {
            format!("{} is needed and {} is there", currency.format(*amount), currency.format(balance))
        });
        let short: Vec<_> = short.collect();
        Err(ApiError::payment_required(format!("Your account {account} can't pay for this: {}", short.join("; "))))
    }

    /// The account that a request names as the artist's own; the one that the service keeps unless given. At most one
    /// AWS call.
    ///
    /// # Errors
    /// 400 when it isn't theirs.
    pub async fn own_wallet(&self, named: Option<Address>) -> Result<Address, ApiError> {
        match named {
            None => Ok(self.account()),
            Some(wallet) if wallet == self.account() => Ok(wallet),
            Some(wallet) if self.artists.owns(self.caller.artist.artist_id, wallet).await? => Ok(wallet),
            Some(_) => Err(ApiError::invalid_fields(vec![FieldError {
                field: "account".to_owned(),
                message: "must be one of your own wallets".to_owned(),
            }])),
        }
    }

    /// The gas that doing `calls` would take, without doing them.
    ///
    /// # Errors
    /// Those of [`Writing::send`], as far as they can be known.
    pub async fn estimate(self, calls: Vec<Call>) -> Result<u64, ApiError> {
        let write = Write { caller: self.caller.clone(), calls, replay: None };
        let prepared = self.engine.prepare(&write).await.map_err(|error| self.worded(error))?;
        Ok(prepared.gas_limit())
    }

    /// Makes the artist's account do `calls`, all of them or none, and answers with the transaction.
    ///
    /// # Errors
    /// 402, 403, 409, 422, 429, 502 or 503, each saying why.
    pub async fn send(self, calls: Vec<Call>) -> Result<Response, ApiError> {
        let write = Write { caller: self.caller.clone(), calls, replay: self.replay.clone() };
        let (engine, patience) = (self.engine, self.wording.patience());
        let answer = |outcome: &Outcome| {
            self.count(outcome);
            self.wording.tell(engine.chain(), outcome)
        };
        let answer = engine.write(write, self.now, patience, answer).await.map_err(|error| self.failure(error))?;
        Response::stored(answer.status, answer.body)
    }

    /// Lets the answer tell what the artist has left of the day's gas after a transaction.
    fn count(&self, outcome: &Outcome) {
        if let Some(request) = self.request {
            let spent = self.caller.gas_spent.saturating_add(outcome.gas_limit());
            request.note_limits(&[gas_limit(spent, self.engine.policy(), self.now)]);
        }
    }

    fn worded(&self, error: WriteError) -> ApiError {
        answer_error(error, &gas_limit(self.caller.gas_spent, self.engine.policy(), self.now))
    }

    /// What a write that isn't made is answered. It counts as one that was tried.
    fn failure(&self, error: WriteError) -> ApiError {
        let error = self.worded(error);
        ended(if error.status().is_client_error() { "refused" } else { "failed" }, error)
    }
}

/// How far a day's gas for one artist on one chain is used up when `spent` of it is.
fn gas_limit(spent: u64, policy: &Policy, now: u64) -> RateLimit {
    RateLimit {
        unit: LimitUnit::Gas,
        max: policy.artist_gas_daily,
        window: Duration::from_secs(DAY),
        left: policy.artist_gas_daily.saturating_sub(spent),
        reset: Duration::from_secs(DAY - now % DAY),
    }
}
