//! What every endpoint that writes to a chain has in common: who asks, have they asked before, may they, and what they
//! are answered.

use std::time::Duration;

use alloy::{primitives, rpc::types::TransactionReceipt};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    auth::api_key::KeyAuthenticator,
    chain::{
        Chain, Chains,
        account::Call,
        engine::{CLAIM_LIFETIME, End, Engine, Outcome, Write, WriteError},
        node::{Node, NodeError, NodeUrls},
        node_error::NodeFault,
        permission::{Permission, Standing},
        policy::{Policy, PolicyError},
        signer::LaneSigners,
    },
    clock, config,
    http::{ApiError, FieldError, Fields, Request, Response, StartError},
    model::{Address, ArtistId, ChainId, Invalid, MomentRef, TokenId},
    store::{
        Answer, Artists, CallerState, ClaimRefusal, Keys, ReplayKey, ReplayedRequest, Status, Table, Transaction,
        Transactions,
    },
    telemetry::{self, Metric},
};

/// Longest wait for one node's answer while a client waits for ours.
const NODE_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a receipt is waited for. What takes longer is answered with its hash.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long a receipt is waited for where the answer is in it.
const FINDING_PATIENCE: Duration = Duration::from_secs(20);
const DAY: u64 = 24 * 60 * 60;

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
    caller: CallerState,
    replay: Option<(ReplayKey, String)>,
    wording: Wording,
    now: u64,
}

/// Whether a request is new.
pub enum Begun<'a> {
    /// It is.
    Fresh(Box<Writing<'a>>),
    /// It isn't: this is what it was answered.
    Replayed(Response),
}

/// What a write is answered besides its hash and chain, read from its receipt; `None` where it isn't there.
pub type Findings = fn(&Chain, &TransactionReceipt) -> Option<Map<String, Value>>;

/// How the transaction is told to the client.
#[derive(Clone, Copy)]
pub enum Wording {
    /// By its hash and chain alone, mined or not.
    Hash,
    /// With what its receipt says; 202 and the hash until there is one.
    Receipt(Findings),
}

/// What a write is answered.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WriteResponse {
    /// Hash of the transaction.
    hash: primitives::B256,
    /// Its chain.
    chain_id: ChainId,
    #[serde(flatten)]
    findings: Map<String, Value>,
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
            let node = Node::with_timeout(&urls, chain.id, NODE_TIMEOUT)?;
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

    /// The `chainId` of a request, 8453 unless given: a chain that is written to.
    pub fn chain(&self, fields: &mut Fields) -> Option<ChainId> {
        let id = fields.optional_number_or("chainId", ChainId::DEFAULT)?;
        let known = self.chains.get(id).and_then(|_| self.engine(id));
        known.map_err(|error| fields.refuse("chainId", error)).ok().map(|_| id)
    }

    /// Looks whether the request was made before. One AWS call, two when it was.
    ///
    /// # Errors
    /// 400 for an unusable idempotency key, 409 while the earlier request is answered, 422 when that was another one.
    pub async fn begin(
        &self,
        artist: ArtistId,
        chain: ChainId,
        request: &Request,
        wording: Wording,
    ) -> Result<Begun<'_>, ApiError> {
        let now = clock::now()?.as_secs();
        let engine = self.engine(chain)?;
        let replay =
            request.idempotency_key()?.map(|key| (ReplayKey::new(artist, key.as_str()), request.fingerprint()));
        let (key, guess) = (replay.as_ref().map(|(key, _)| key), engine.signers().likely(artist).map(Address::from));
        let caller = self.transactions.caller(artist, chain, guess, key, now).await?;
        let mut caller = caller.ok_or_else(no_artist)?;
        match (caller.replayed.take(), &replay) {
            (Some(earlier), Some((key, fingerprint))) => {
                if earlier.fingerprint != *fingerprint {
                    return Err(ApiError::unprocessable("This Idempotency-Key was used for another request"));
                }
                self.replay(engine, &earlier, key, wording, now).await.map(Begun::Replayed)
            }
            _ => {
                let artists = &self.artists;
                Ok(Begun::Fresh(Box::new(Writing { engine, artists, caller, replay, wording, now })))
            }
        }
    }

    /// A write that is only tried: idempotency keys have no part in it. One AWS call.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn rehearse(&self, artist: ArtistId, chain: ChainId) -> Result<Writing<'_>, ApiError> {
        let (engine, now) = (self.engine(chain)?, clock::now()?.as_secs());
        let guess = engine.signers().likely(artist).map(Address::from);
        let caller = self.transactions.caller(artist, chain, guess, None, now).await?.ok_or_else(no_artist)?;
        Ok(Writing { engine, artists: &self.artists, caller, replay: None, wording: Wording::Hash, now })
    }

    /// What the earlier request was answered, or what it would be answered now if it ended without.
    async fn replay(
        &self,
        engine: &Engine,
        earlier: &ReplayedRequest,
        key: &ReplayKey,
        wording: Wording,
        now: u64,
    ) -> Result<Response, ApiError> {
        let answer = match &earlier.answer {
            Some(answer) => answer.clone(),
            None => {
                let transaction = self.transactions.get(&earlier.slot).await?.ok_or_else(in_progress)?;
                let answer = wording.late(engine, &transaction, now).await.map_err(answer_node_error)?;
                let answer = answer.ok_or_else(in_progress)?;
                if answer.is_final() {
                    self.transactions.answer(key, &answer).await?;
                }
                answer
            }
        };
        Ok(Response::stored(answer.status, answer.body)?.replayed())
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
    pub async fn require(&self, moment: &MomentRef, permission: Permission) -> Result<(), ApiError> {
        let standing = Standing::of(self.node(), self.account().into(), moment).await.map_err(answer_node_error)?;
        if !standing.exists {
            return Err(ApiError::not_found(format!(
                "There is no moment {} in {} on chain {}",
                moment.token, moment.collection, moment.chain
            )));
        }
        self.expect(&standing, permission, &format!("moment {} of {}", moment.token, moment.collection))
    }

    /// Makes sure that the artist's account has this permission on a whole collection.
    ///
    /// # Errors
    /// 403.
    pub async fn require_on_collection(&self, collection: Address, permission: Permission) -> Result<(), ApiError> {
        let whole = MomentRef { chain: self.chain().id, collection, token: TokenId::from(primitives::U256::ZERO) };
        let standing = Standing::of(self.node(), self.account().into(), &whole).await.map_err(answer_node_error)?;
        self.expect(&standing, permission, &format!("collection {collection}"))
    }

    fn expect(&self, standing: &Standing, permission: Permission, on: &str) -> Result<(), ApiError> {
        if standing.may(permission) {
            return Ok(());
        }
        let (account, permission) = (self.account(), permission.name());
        Err(ApiError::forbidden(format!("{account} is your account and lacks the permission {permission} on {on}")))
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
        let write = Write { caller: self.caller, calls, replay: None };
        let prepared =
            self.engine.prepare(&write).await.map_err(|error| answer_error(error, self.engine.policy(), self.now))?;
        Ok(prepared.gas_limit())
    }

    /// Makes the artist's account do `calls`, all of them or none, and answers with the transaction.
    ///
    /// # Errors
    /// 402, 403, 409, 422, 429, 502 or 503, each saying why.
    pub async fn send(self, calls: Vec<Call>) -> Result<Response, ApiError> {
        let Self { engine, caller, replay, wording, now, .. } = self;
        let write = Write { caller, calls, replay };
        let patience = match wording {
            Wording::Hash => PATIENCE,
            Wording::Receipt(_) => FINDING_PATIENCE,
        };
        let answer = |outcome: &Outcome| match &outcome.end {
            End::Mined(receipt) => ended("mined", wording.mined(engine.chain(), receipt)),
            End::Pending { .. } => ended("pending", wording.pending(engine.chain(), outcome.hash)),
            End::Reverted(reason, _) => ended("reverted", refused(&ApiError::unprocessable(reason))),
        };
        let answer = engine.write(write, now, patience, answer).await.map_err(|error| {
            let error = answer_error(error, engine.policy(), now);
            ended(if error.status().is_client_error() { "refused" } else { "failed" }, error)
        })?;
        Response::stored(answer.status, answer.body)
    }
}

impl Wording {
    fn mined(self, chain: &Chain, receipt: &TransactionReceipt) -> Answer {
        let findings = match self {
            Self::Hash => Map::new(),
            Self::Receipt(findings) => match findings(chain, receipt) {
                Some(findings) => findings,
                // The transaction is done and can't be undone; its hash is what there is to tell.
                None => return accepted(202, receipt.transaction_hash, chain.id, Map::new()),
            },
        };
        accepted(200, receipt.transaction_hash, chain.id, findings)
    }

    fn pending(self, chain: &Chain, hash: primitives::B256) -> Answer {
        let status = if matches!(self, Self::Hash) { 200 } else { 202 };
        accepted(status, hash, chain.id, Map::new())
    }

    /// What a request that ended before it was answered is answered when it comes again; `None` while it may still run,
    /// or its transaction is being given up.
    async fn late(self, engine: &Engine, transaction: &Transaction, now: u64) -> Result<Option<Answer>, NodeError> {
        let failure = match transaction.status {
            Status::Reverted => Some("The transaction failed on the chain"),
            Status::Filled => Some("The chain's nodes refused the transaction: nothing was done"),
            _ => None,
        };
        if let Some(failure) = failure {
            return Ok(Some(refused(&ApiError::unprocessable(failure))));
        }
        let Some(hash) = self.late_hash(transaction, now) else { return Ok(None) };
        let receipt = match self {
            Self::Hash => None,
            Self::Receipt(_) => engine.node().receipt(hash).await?.filter(TransactionReceipt::status),
        };
        Ok(Some(match receipt {
            Some(receipt) => self.mined(engine.chain(), &receipt),
            None => self.pending(engine.chain(), hash),
        }))
    }

    /// The hash of a transaction whose request is over.
    fn late_hash(self, transaction: &Transaction, now: u64) -> Option<primitives::B256> {
        let is_over = transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now;
        match transaction.status {
            Status::Mined => transaction.mined.map(|mined| mined.hash),
            // Whoever wants more than the hash was answered 202 by then, and asks again.
            Status::Broadcast if is_over || matches!(self, Self::Receipt(_)) => transaction.hashes.last().copied(),
            Status::Signed if is_over => transaction.hashes.last().copied(),
            _ => None,
        }
    }
}

/// Counts a write by its outcome, and passes on what it is answered.
fn ended<T>(outcome: &str, answer: T) -> T {
    telemetry::record(&[("Outcome", outcome)], &[(Metric::Writes, 1)]);
    answer
}

fn accepted(status: u16, hash: primitives::B256, chain_id: ChainId, findings: Map<String, Value>) -> Answer {
    let body = serde_json::to_string(&WriteResponse { hash, chain_id, findings }).unwrap_or_default();
    Answer { status, body }
}

fn refused(error: &ApiError) -> Answer {
    Answer { status: error.status().as_u16(), body: error.body() }
}

fn no_artist() -> ApiError {
    ApiError::unauthorized_key("The API key's artist is gone")
}

fn in_progress() -> ApiError {
    ApiError::in_progress("A request with this Idempotency-Key is being answered: ask again in a moment", 2)
}

/// The one place that says what a failed write means for the client.
fn answer_error(error: WriteError, policy: &Policy, now: u64) -> ApiError {
    const LATER: &str = "The service can't send transactions now: try again later";
    match error {
        WriteError::Reverts(reason) => ApiError::unprocessable(reason),
        WriteError::AccountCannotPay => ApiError::payment_required("Your account can't pay for this"),
        WriteError::Policy(PolicyError::Function { target, .. }) => {
            ApiError::forbidden(format!("This service makes no such call to {}", Address::from(target)))
        }
        WriteError::Policy(PolicyError::Gas { needed, max }) => {
            ApiError::unprocessable(format!("This needs {needed} gas, more than the {max} that one request may use"))
        }
        WriteError::Policy(PolicyError::Fee { .. }) => {
            ApiError::unavailable("The chain's fees are too high now: try again later", 60, error)
        }
        WriteError::Claim(ClaimRefusal::KeyInUse) => in_progress(),
        WriteError::Claim(ClaimRefusal::ArtistGasSpent) => ApiError::too_many_requests(
            "Your transactions have used up today's gas: wait until midnight, UTC",
            u32::try_from(policy.artist_gas_daily).unwrap_or(u32::MAX),
            Duration::from_secs(DAY - now % DAY),
        ),
        WriteError::Claim(ClaimRefusal::LaneGasSpent) => ApiError::unavailable(LATER, DAY - now % DAY, error),
        WriteError::Claim(ClaimRefusal::LaneFull) => ApiError::unavailable(LATER, 5, error),
        WriteError::Claim(ClaimRefusal::AccountUnderWay) => {
            ApiError::unavailable("Your account is being set up by another request: try again in a moment", 2, error)
        }
        WriteError::LaneCannotPay(_) => ApiError::unavailable(LATER, 60, error),
        WriteError::TooLate => ApiError::unavailable("That took too long, and nothing was sent: try again", 1, error),
        WriteError::Refused(_) => ApiError::bad_gateway("The chain's nodes refuse the transaction", error),
        WriteError::Signer(_) | WriteError::Signature(_) => {
            ApiError::bad_gateway("The transaction could not be signed: try again in a moment", error)
        }
        WriteError::Node(error) => answer_node_error(error),
        WriteError::Store(_) | WriteError::ForeignWallet(_) => error.into(),
    }
}

/// What a node that fails means for the client.
pub fn answer_node_error(error: NodeError) -> ApiError {
    match error.fault() {
        NodeFault::Busy => ApiError::unavailable("The chain's nodes are busy: try again in a moment", 2, error),
        _ => ApiError::bad_gateway("The chain's nodes don't answer: try again in a moment", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Intent, MinedIn, Slot};

    fn transaction(status: Status) -> Transaction {
        Transaction {
            slot: Slot { chain: ChainId(1), lane: primitives::Address::ZERO.into(), nonce: 0 },
            artist_id: ArtistId::random(),
            intent: Intent { to: primitives::Address::ZERO, data: primitives::Bytes::new(), gas_limit: 0 },
            deploys_account: false,
            replay: None,
            status,
            attempt: None,
            hashes: vec![primitives::B256::repeat_byte(1), primitives::B256::repeat_byte(2)],
            filler_hashes: Vec::new(),
            mined: Some(MinedIn { hash: primitives::B256::repeat_byte(1), block: 1, gas_used: 1 }),
            is_moved: false,
            claimed_at: 1_000,
        }
    }

    #[test]
    fn a_request_that_ended_unanswered_is_answered_once_its_end_is_known() {
        let (soon, later) = (1_001, 1_001 + CLAIM_LIFETIME.as_secs());
        let hash = |wording: Wording, status, now| wording.late_hash(&transaction(status), now);
        let (first, last) = (Some(primitives::B256::repeat_byte(1)), Some(primitives::B256::repeat_byte(2)));
        let finding = Wording::Receipt(|_, _| None);
        for wording in [Wording::Hash, finding] {
            assert_eq!(hash(wording, Status::Mined, soon), first);
            assert_eq!(hash(wording, Status::Broadcast, later), last);
            assert_eq!(hash(wording, Status::Signed, later), last);
            assert_eq!(hash(wording, Status::Signed, soon), None);
            for status in [Status::Claimed, Status::Abandoned] {
                assert_eq!(hash(wording, status, later), None, "{status:?}");
            }
        }
        assert_eq!(hash(Wording::Hash, Status::Broadcast, soon), None, "its request may still be answered");
        assert_eq!(hash(finding, Status::Broadcast, soon), last);
    }
}
