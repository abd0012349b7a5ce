//! `POST /moment/claims`: makes a link that gives tokens of a moment away, and shows it, this once.

use alloy::primitives::U256;
use moments::create_claim_link::{CreateClaimLinkRequest, CreateClaimLinkResponse};
use shared::{
    api::{
        activity::ActivityRetention,
        read::Site,
        transact::{TransactionService, WriteSession},
    },
    chain::protocol::{gift::mintable, permission::Permission},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, ClaimToken, MomentRef, Scope},
    store::artist::{ArtistTable, Claims, MAX_CLAIM_LINKS, NewClaimLink},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateClaimLink>().await
}

struct CreateClaimLink {
    service: TransactionService,
    claims: Claims,
    retention: ActivityRetention,
    site: Site,
}

impl Endpoint for CreateClaimLink {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self {
            service: TransactionService::from_env().await?,
            claims: Claims::new(ArtistTable::from_env(&config::aws().await)?),
            retention: ActivityRetention::from_env()?,
            site: Site::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let wanted: CreateClaimLinkRequest = request.json()?.read_for(&self.service)?;
        let now = clock::now()?.as_secs();
        let until = wanted.end(now).map_err(|error| ApiError::invalid_field("until", error.to_string()))?;
        let (moment, count, per_person) = (wanted.moment, wanted.count.0, wanted.per_person.0);
        let look = async |session: &WriteSession<'_>| {
            session.require(&moment, Permission::Minter).await?;
            require_supply(session, &moment, count).await
        };
        self.service.look(request, caller, moment.chain, look).await?;
        let token = ClaimToken::random()?;
        let new = NewClaimLink { artist: caller.artist, moment, count, per_person, until };
        let subject = format!("{moment}, for {count}");
        let activity = self.retention.activity(request, ActivityKind::ClaimLinkCreated, &subject)?;
        let Some(claim_id) = self.claims.create(new, &token, &activity).await? else {
            return Err(ApiError::conflict(format!(
                "You have {MAX_CLAIM_LINKS} claim links already: delete one first"
            )));
        };
        let url = self.site.page(&format!("/claim/{}", token.reveal()));
        Response::json(&CreateClaimLinkResponse { claim_id, url })
    }
}

async fn require_supply(session: &WriteSession<'_>, moment: &MomentRef, count: u64) -> Result<(), ApiError> {
    match mintable(session.node(), moment).await? {
        Some(left) if left < U256::from(count) => {
            Err(ApiError::unprocessable(format!("Only {left} more of this moment can be minted")))
        }
        _ => Ok(()),
    }
}
