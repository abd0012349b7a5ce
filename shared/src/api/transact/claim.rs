//! Claims: a token of a link's moment for whoever has the link, at the expense of the artist who made it.

use super::{
    follow::follow,
    refusal::in_progress,
    reply::{count, failure},
    service::TransactionService,
};
use crate::{
    api::error::withheld,
    auth::api_key::{Caller, Credential},
    chain::protocol::{
        gift::gift,
        permission::{Permission, Permissions},
    },
    clock,
    http::{ApiError, Request},
    model::{Address, ArtistId, ClaimToken, Creation, TransactionId, TransactionStatus},
    store::{
        StoreError,
        artist::{BatchStatus, ClaimLink, ClaimPlace, NewClaim, Slot, Taken, TakenPlaces, Transaction},
    },
};

/// Who claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimer {
    /// Whom a place counts for: a person's account, or a wallet that is nobody's.
    pub person: Address,
    /// Who gets the token.
    pub account: Address,
}

/// What somebody has by a link.
#[derive(Debug)]
pub struct Claim {
    /// The link.
    pub link: ClaimLink,
    /// Who has the token, or gets it.
    pub account: Address,
    /// The mint, queued, sent or mined; `None` if it is long ago.
    pub mint: Option<Transaction>,
}

/// How a person stands with a link.
enum Standing {
    /// Has what the link gives, or gets it.
    Has(Taken, Box<Option<Transaction>>),
    /// The mint of a place failed for good.
    Failed(TransactionId),
    /// May take a further place.
    May,
}

/// Times that a claim is made anew because the same person, or the last of the others, was faster.
const ATTEMPTS: usize = 3;

impl TransactionService {
    /// Whose link the token is of; 404 if it was never given out. One read.
    pub async fn claim_place(&self, token: &ClaimToken) -> Result<ClaimPlace, ApiError> {
        self.stores.claims.place(token).await?.ok_or_else(no_claim_link)
    }

    /// The claimer that a signed-in artist is.
    pub fn claimer(&self, place: &ClaimPlace, artist: ArtistId) -> Result<Claimer, ApiError> {
        let account = self.planner(place.chain_id)?.wallet(artist).address().into();
        Ok(Claimer { person: account, account })
    }

    /// Takes a place of the link, queues its mint in the same transaction, and waits for it; a person who has all that they
    /// may is answered with that. Six reads, a transaction and four calls to the chain; two or three reads if nothing is queued.
    ///
    /// # Errors
    /// 409 if no place is left or the link is stopped for now; 410 if it is over, or deleted; 404 if the operator hid the
    /// moment; 422 if the mint fails; 429, 502 or 503 when nothing was queued.
    pub async fn claim(&self, request: &Request, place: &ClaimPlace, claimer: Claimer) -> Result<Claim, ApiError> {
        for _ in 0..ATTEMPTS {
            let found = self.stores.claims.taken_by(place, claimer.person).await?;
            let (link, taken) = found.ok_or_else(deleted_claim_link)?;
            let failed = match self.standing(&link, &taken).await? {
                Standing::Has(Taken { account, .. }, mint) => return self.followed(link, account, *mint).await,
                Standing::Failed(failed) => Some(failed),
                Standing::May => None,
            };
            refuse_closed(&link, failed.is_none(), clock::now()?.as_secs())?;
            let claim = NewClaim { link, person: claimer.person, account: claimer.account, taken, failed };
            if let Some(mint) = self.take(request, &claim).await? {
                return self.followed(claim.link, claim.account, Some(mint)).await;
            }
        }
        Err(in_progress())
    }

    async fn standing(&self, link: &ClaimLink, taken: &TakenPlaces) -> Result<Standing, ApiError> {
        let ids: Vec<_> = taken.places.iter().map(|place| (link.artist_id, place.transaction)).collect();
        let mints = self.stores.transactions.get_many(&ids).await?;
        let mint_of = |place: &Taken| mints.iter().find(|mint| mint.id == place.transaction);
        let mut last = None;
        for place in &taken.places {
            let mint = mint_of(place);
            match mint.map(|mint| mint.status) {
                Some(TransactionStatus::Queued | TransactionStatus::Sent) => {
                    return Ok(Standing::Has(*place, Box::new(mint.cloned())));
                }
                Some(status) if status.is_failure() => {
                    let Some(failed) = mint else { continue };
                    if !self.is_settled(failed).await? {
                        return Err(ApiError::in_progress(
                            "Giving you the token failed, but the chain may still change its mind: try again in a minute",
                            30,
                        ));
                    }
                    return Ok(Standing::Failed(failed.id));
                }
                _ => last = Some(Standing::Has(*place, Box::new(mint.cloned()))),
            }
        }
        let has_all = taken.places.len() >= usize::try_from(link.per_person).unwrap_or(usize::MAX);
        Ok(last.filter(|_| has_all).unwrap_or(Standing::May))
    }

    /// Whether no reorganisation makes a failed transaction succeed. One read for one that was sent.
    async fn is_settled(&self, failed: &Transaction) -> Result<bool, StoreError> {
        let Some(batch) = failed.batch.filter(|_| failed.status == TransactionStatus::Reverted) else {
            return Ok(true);
        };
        let slot = Slot { chain: failed.chain, lane: batch.lane, nonce: batch.nonce };
        // The row of a final batch is deleted after a month.
        let batch = self.stores.transactions.batch(&slot).await?;
        let is_over = |status| matches!(status, BatchStatus::Final | BatchStatus::Displaced);
        Ok(batch.is_none_or(|batch| is_over(batch.status)))
    }

    /// Queues the mint if the place is taken with it; `None` if somebody was faster.
    async fn take(&self, request: &Request, claim: &NewClaim) -> Result<Option<Transaction>, ApiError> {
        let (link, moment) = (&claim.link, claim.link.moment());
        let caller = Caller { artist: link.artist_id, credential: Credential::FreshToken, even_suspended: true };
        let known = self.find_state(link.artist_id, moment.chain, None).await?;
        let (state, history) = known.ok_or_else(deleted_claim_link)?;
        let now = clock::now()?.as_secs();
        if state.suspension.is_some_and(|suspension| suspension.holds_at(now)) {
            return Err(stopped());
        }
        if self.stores.moments.moment(&moment).await?.is_some_and(|moment| moment.is_withheld) {
            return Err(withheld());
        }
        let mut session = self.session(request, caller, moment.chain, state, history)?;
        let permissions = Permissions::of(session.node(), session.account().into(), &moment).await?;
        if !permissions.may(Permission::Minter) {
            return Err(stopped());
        }
        session.claim = Some(claim.clone());
        let queued = session.queue(vec![vec![gift(&moment, [claim.account])].into()], Creation::Nothing).await?;
        Ok(queued.and_then(|mints| mints.into_iter().next()))
    }

    async fn followed(&self, link: ClaimLink, account: Address, mint: Option<Transaction>) -> Result<Claim, ApiError> {
        let mints = follow(&self.stores.transactions, mint.into_iter().collect()).await;
        let mint = mints.into_iter().next();
        if let Some(mint) = &mint {
            count(mint.status);
        }
        match mint {
            Some(mint) if mint.status.is_failure() => Err(failure(&mint)),
            mint => Ok(Claim { link, account, mint }),
        }
    }
}

/// 410 if the link is over, 409 if a place is needed and none is left.
fn refuse_closed(link: &ClaimLink, needs_place: bool, now: u64) -> Result<(), ApiError> {
    if link.is_over(now) {
        return Err(ApiError::gone(format!("This link ended at {}", clock::iso_8601(link.until)?)));
    }
    if needs_place && link.left() == 0 {
        let words = if link.count == 1 { "The one token".to_owned() } else { format!("All {} tokens", link.count) };
        return Err(ApiError::conflict(format!("{words} of this link are claimed")));
    }
    Ok(())
}

fn no_claim_link() -> ApiError {
    ApiError::not_found("There is no such link: open it as you got it, whole")
}

fn deleted_claim_link() -> ApiError {
    ApiError::gone("The artist took this link back")
}

fn stopped() -> ApiError {
    ApiError::conflict("This link is stopped: its artist can't give the moment away now")
}
