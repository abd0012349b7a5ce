//! What every endpoint that writes to a chain has in common: who asks, have they asked before, may they, and what they
//! are answered.

use std::time::Duration;

use alloy::primitives;
use serde::Serialize;

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
    http::{ApiError, Fields, Request, Response, StartError},
    model::{Address, ArtistId, ChainId, Invalid, MomentRef, TokenId},
    store::{
        Answer, CallerState, ClaimRefusal, Keys, ReplayKey, ReplayedRequest, Status, Table, Transaction, Transactions,
    },
};

/// Longest wait for one node's answer while a client waits for ours.
const NODE_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a receipt is waited for. What takes longer is answered with its hash.
const PATIENCE: Duration = Duration::from_secs(8);
const DAY: u64 = 24 * 60 * 60;

/// Writes to the chains for those who bring an API key.
pub struct Writers {
    keys: KeyAuthenticator,
    chains: Chains,
    engines: Vec<Engine>,
    transactions: Transactions,
}

/// A request that was not answered yet.
pub struct Writing<'a> {
    engine: &'a Engine,
    caller: CallerState,
    replay: Option<(ReplayKey, String)>,
    now: u64,
}

/// Whether a request is new.
pub enum Begun<'a> {
    /// It is.
    Fresh(Box<Writing<'a>>),
    /// It isn't: this is what it was answered.
    Replayed(Response),
}

/// What a write is answered.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WriteResponse {
    /// Hash of the transaction.
    hash: primitives::B256,
    /// Its chain.
    chain_id: ChainId,
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
        let transactions = Transactions::new(Table::artists(&aws)?);
        let chains = Chains::from_env()?;
        let engine = |chain: &Chain| {
            let node = Node::with_timeout(&urls, chain.id, NODE_TIMEOUT)?;
            Ok::<_, NodeError>(Engine::new(chain.clone(), node, signers.clone(), policy.clone(), transactions.clone()))
        };
        Ok(Self {
            keys: KeyAuthenticator::new(Keys::new(Table::secrets(&aws)?)),
            engines: chains.iter().filter(|chain| urls.names(chain.id)).map(engine).collect::<Result<_, _>>()?,
            chains,
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
    pub async fn begin(&self, artist: ArtistId, chain: ChainId, request: &Request) -> Result<Begun<'_>, ApiError> {
        let now = clock::now()?.as_secs();
        let engine = self.engine(chain)?;
        let replay =
            request.idempotency_key()?.map(|key| (ReplayKey::new(artist, key.as_str()), request.fingerprint()));
        let (key, guess) = (replay.as_ref().map(|(key, _)| key), engine.signers().likely(artist).map(Address::from));
        let caller = self.transactions.caller(artist, chain, guess, key, now).await?;
        let mut caller = caller.ok_or_else(|| ApiError::unauthorized_key("The API key's artist is gone"))?;
        match (caller.replayed.take(), &replay) {
            (Some(earlier), Some((key, fingerprint))) => {
                if earlier.fingerprint != *fingerprint {
                    return Err(ApiError::unprocessable("This Idempotency-Key was used for another request"));
                }
                self.replay(&earlier, key, now).await.map(Begun::Replayed)
            }
            _ => Ok(Begun::Fresh(Box::new(Writing { engine, caller, replay, now }))),
        }
    }

    /// What the earlier request was answered, or what it would be answered now if it ended without.
    async fn replay(&self, earlier: &ReplayedRequest, key: &ReplayKey, now: u64) -> Result<Response, ApiError> {
        let answer = match &earlier.answer {
            Some(answer) => answer.clone(),
            None => {
                let transaction = self.transactions.get(&earlier.slot).await?;
                let answer =
                    transaction.and_then(|transaction| late_answer(&transaction, now)).ok_or_else(in_progress)?;
                self.transactions.answer(key, &answer).await?;
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
        if !standing.may(permission) {
            return Err(ApiError::forbidden(format!(
                "{} is your account and lacks the permission {} on moment {} of {}",
                self.account(),
                permission.name(),
                moment.token,
                moment.collection
            )));
        }
        Ok(())
    }

    /// Makes the artist's account do `calls`, all of them or none, and answers with the transaction.
    ///
    /// # Errors
    /// 402, 403, 409, 422, 429, 502 or 503, each saying why.
    pub async fn send(self, calls: Vec<Call>) -> Result<Response, ApiError> {
        let Self { engine, caller, replay, now } = self;
        let write = Write { caller, calls, replay };
        let chain_id = engine.chain().id;
        let answer = |outcome: &Outcome| match &outcome.end {
            End::Mined(_) | End::Pending { .. } => accepted(outcome.hash, chain_id),
            End::Reverted(reason, _) => refused(&ApiError::unprocessable(reason)),
        };
        let answer = engine.write(write, now, PATIENCE, answer).await.map_err(|error| answer_error(error, now))?;
        Response::stored(answer.status, answer.body)
    }
}

fn accepted(hash: primitives::B256, chain_id: ChainId) -> Answer {
    let body = serde_json::to_string(&WriteResponse { hash, chain_id }).unwrap_or_default();
    Answer { status: 200, body }
}

fn refused(error: &ApiError) -> Answer {
    Answer { status: error.status().as_u16(), body: error.body() }
}

/// What a request that ended before it was answered is answered when it comes again; `None` while it may still run, or
/// its transaction is being given up.
fn late_answer(transaction: &Transaction, now: u64) -> Option<Answer> {
    let chain = transaction.slot.chain;
    let is_over = transaction.claimed_at + CLAIM_LIFETIME.as_secs() < now;
    match transaction.status {
        Status::Mined => transaction.mined.map(|mined| accepted(mined.hash, chain)),
        Status::Reverted => Some(refused(&ApiError::unprocessable("The transaction failed on the chain"))),
        Status::Filled => Some(refused(&ApiError::unprocessable("The chain's nodes refused it: nothing was done"))),
        Status::Signed | Status::Broadcast if is_over => transaction.hashes.last().map(|&hash| accepted(hash, chain)),
        _ => None,
    }
}

fn in_progress() -> ApiError {
    ApiError::in_progress("A request with this Idempotency-Key is being answered: ask again in a moment", 2)
}

/// The one place that says what a failed write means for the client.
fn answer_error(error: WriteError, now: u64) -> ApiError {
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
            1,
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
fn answer_node_error(error: NodeError) -> ApiError {
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
        let later = 1_001 + CLAIM_LIFETIME.as_secs();
        let hash = |status, now| late_answer(&transaction(status), now).map(|answer| (answer.status, answer.body));
        let answer =
            |byte: u8| Some((200, format!(r#"{{"hash":"{}","chainId":1}}"#, primitives::B256::repeat_byte(byte))));
        assert_eq!(hash(Status::Mined, 1_000), answer(1));
        assert_eq!(hash(Status::Broadcast, later), answer(2));
        assert_eq!(hash(Status::Signed, later), answer(2));
        for (status, now) in
            [(Status::Broadcast, 1_001), (Status::Signed, 1_001), (Status::Claimed, later), (Status::Abandoned, later)]
        {
            assert_eq!(hash(status, now), None, "{status:?}");
        }
        assert_eq!(hash(Status::Reverted, 1_000).map(|(status, _)| status), Some(422));
    }
}
