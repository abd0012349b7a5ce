use super::{
    refusal::in_progress,
    reply::ReplyFormat,
    session::{WriteSession, gas_limit},
};
use crate::{
    api::error::no_artist,
    auth::api_key::KeyAuthenticator,
    chain::{
        Chain, Chains,
        node::{Node, NodeError, NodeUrls},
        transaction::{Policy, TransactionSender},
        wallet::{Call, LaneSigners},
    },
    clock, config,
    http::{AllowedChains, ApiError, Request, Response, StartError},
    model::{Address, ArtistId, ChainId, Invalid},
    store::{ApiKeys, Artists, ReplayKey, ReplayedRequest, Table, Transactions},
};

/// Writes to the chains for artists with an API key.
pub struct TransactionService {
    keys: KeyAuthenticator,
    chains: Chains,
    senders: Vec<TransactionSender>,
    artists: Artists,
    transactions: Transactions,
}

/// A new request, or a replayed one with its earlier answer.
enum Admission<'a> {
    Fresh(Box<WriteSession<'a>>),
    Replayed(Response),
}

impl TransactionService {
    /// Reads `CHAINS`, `RPC_URLS`, `ARTIST_TABLE`, `SECRET_TABLE`, `OPERATOR_LANES`, `OPERATOR_LANE_KEYS` and the limits of
    /// [`Policy`].
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (signers, policy, urls) = (LaneSigners::from_env(&aws)?, Policy::from_env()?, NodeUrls::from_env()?);
        let table = Table::artists(&aws)?;
        let transactions = Transactions::new(table.clone());
        let chains = Chains::from_env()?;
        let sender = |chain: &Chain| {
            let node = Node::for_requests(&urls, chain.id)?;
            Ok::<_, NodeError>(TransactionSender::new(
                chain.clone(),
                node,
                signers.clone(),
                policy.clone(),
                transactions.clone(),
            ))
        };
        Ok(Self {
            keys: KeyAuthenticator::new(ApiKeys::new(Table::secrets(&aws)?)),
            senders: chains.iter().filter(|chain| urls.names(chain.id)).map(sender).collect::<Result<_, _>>()?,
            chains,
            artists: Artists::new(table),
            transactions,
        })
    }

    /// Returns the artist of the request's API key; 401 without a live key.
    pub async fn authenticate(&self, request: &Request) -> Result<ArtistId, ApiError> {
        self.keys.authenticate(request, clock::now()?).await
    }

    /// Returns the chain with this id, which must be an allowed one.
    pub fn chain(&self, id: ChainId) -> Result<&Chain, ApiError> {
        Ok(self.sender(id)?.chain())
    }

    /// Sends the planned calls in one transaction and answers with it. A known idempotency key gets its first answer again,
    /// without a plan.
    ///
    /// # Errors
    /// 400 for a malformed idempotency key, 409 while its first request runs, 422 when that was another one; those of
    /// `plan`; 402, 403, 422, 429, 502 or 503 when nothing was sent.
    pub async fn transact(
        &self,
        request: &Request,
        artist: ArtistId,
        chain: ChainId,
        format: ReplyFormat,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<Call>, ApiError>,
    ) -> Result<Response, ApiError> {
        match self.admit(request, artist, chain, format).await? {
            Admission::Fresh(session) => {
                let calls = plan(&session).await?;
                session.send(calls).await
            }
            Admission::Replayed(response) => Ok(response),
        }
    }

    /// The same with one transaction per batch of calls.
    pub async fn transact_each(
        &self,
        request: &Request,
        artist: ArtistId,
        chain: ChainId,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<Vec<Call>>, ApiError>,
    ) -> Result<Response, ApiError> {
        match self.admit(request, artist, chain, ReplyFormat::Each).await? {
            Admission::Fresh(session) => {
                let batches = plan(&session).await?;
                session.send_each(batches).await
            }
            Admission::Replayed(response) => Ok(response),
        }
    }

    /// Estimates the gas of the planned calls; nothing is sent or stored.
    pub async fn estimate(
        &self,
        artist: ArtistId,
        chain: ChainId,
        plan: impl AsyncFnOnce(&WriteSession<'_>) -> Result<Vec<Call>, ApiError>,
    ) -> Result<u64, ApiError> {
        let (sender, now) = (self.sender(chain)?, clock::now()?.as_secs());
        let guess = sender.signers().likely(artist).map(Address::from);
        let caller = self.transactions.caller(artist, chain, guess, None, now).await?.ok_or_else(no_artist)?;
        let (artists, format) = (&self.artists, ReplyFormat::Hash);
        let session =
            WriteSession { sender, artists, request: None, caller, replay: None, holds_key: false, format, now };
        let calls = plan(&session).await?;
        session.estimate(calls).await
    }

    /// Looks the idempotency key up. One AWS call, two for a replayed request.
    async fn admit<'a>(
        &'a self,
        request: &'a Request,
        artist: ArtistId,
        chain: ChainId,
        format: ReplyFormat,
    ) -> Result<Admission<'a>, ApiError> {
        let now = clock::now()?.as_secs();
        let sender = self.sender(chain)?;
        let replay =
            request.idempotency_key()?.map(|key| (ReplayKey::new(artist, key.as_str()), request.fingerprint()));
        let (key, guess) = (replay.as_ref().map(|(key, _)| key), sender.signers().likely(artist).map(Address::from));
        let caller = self.transactions.caller(artist, chain, guess, key, now).await?;
        let mut caller = caller.ok_or_else(no_artist)?;
        request.note_limits(&[gas_limit(caller.gas_spent, sender.policy(), now)]);
        let holds_key = match (caller.replayed.take(), &replay) {
            (Some(earlier), Some((key, fingerprint))) => {
                if earlier.fingerprint != *fingerprint {
                    return Err(ApiError::unprocessable("This Idempotency-Key was used for another request"));
                }
                if let Some(response) = self.replay(sender, &earlier, key, format, now).await? {
                    return Ok(Admission::Replayed(response));
                }
                true
            }
            _ => false,
        };
        let (artists, request) = (&self.artists, Some(request));
        let session = WriteSession { sender, artists, request, caller, replay, holds_key, format, now };
        Ok(Admission::Fresh(Box::new(session)))
    }

    /// The answer to the first request; `None` where this one resumes it.
    async fn replay(
        &self,
        sender: &TransactionSender,
        earlier: &ReplayedRequest,
        key: &ReplayKey,
        format: ReplyFormat,
        now: u64,
    ) -> Result<Option<Response>, ApiError> {
        let answer = match &earlier.answer {
            Some(answer) => answer.clone(),
            None => {
                let transaction = self.transactions.get(&earlier.slot).await?.ok_or_else(in_progress)?;
                if format.is_resumed(&transaction, now) {
                    return Ok(None);
                }
                let answer = format.late(sender, &transaction, now).await?.ok_or_else(in_progress)?;
                if answer.is_final() {
                    self.transactions.answer(key, &answer).await?;
                }
                answer
            }
        };
        Ok(Some(Response::stored(answer.status, answer.body)?.replayed()))
    }

    fn sender(&self, chain: ChainId) -> Result<&TransactionSender, ApiError> {
        self.find_sender(chain).map_err(ApiError::internal)
    }

    fn find_sender(&self, chain: ChainId) -> Result<&TransactionSender, Invalid> {
        let sender = self.senders.iter().find(|sender| sender.chain().id == chain);
        sender.ok_or(Invalid("is not a chain that this service writes to"))
    }
}

impl AllowedChains for TransactionService {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chains.get(chain).and_then(|_| self.find_sender(chain)).map(drop)
    }
}
