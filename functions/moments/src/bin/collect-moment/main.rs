//! `POST /moment/collect`: buys tokens of a moment for the artist's account, which pays for them.

use moments::{
    collect_moment::CollectMomentRequest,
    purchase::{Collector, Purchase, ReleasePurchase, require_price},
    referral::OwnReferral,
};
use shared::{
    api::{
        activity::ActivityLog,
        transact::{TransactionService, WriteSession},
    },
    chain::wallet::Call,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, MomentRef, Protocol, Scope},
    store::artist::{AllowLists, ArtistTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CollectMoment>().await
}

struct CollectMoment {
    service: TransactionService,
    activity: ActivityLog,
    own: OwnReferral,
    lists: AllowLists,
}

impl Endpoint for CollectMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: TransactionService::from_env().await?,
            activity: ActivityLog::from_env(&aws)?,
            own: OwnReferral::from_env()?,
            lists: AllowLists::new(ArtistTable::from_env(&aws)?.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Collect).await?;
        let order: CollectMomentRequest = request.json()?.read_for(&self.service)?;
        let CollectMomentRequest { moment, amount, comment, max_price, referral } = order;
        let mut is_large = false;
        let answer = self
            .service
            .transact_once(request, caller, moment.chain, async |session| {
                let (artists, account) = (self.service.artists(), session.account());
                let referral = self.own.rewarded(artists, referral.as_ref(), account).await?;
                let by = Collector { chain: session.chain(), node: session.node(), account: account.into(), referral };
                if session.protocol(moment.collection).await? == Some(Protocol::Registry) {
                    session.require_indexed(&moment).await?;
                    let purchase = ReleasePurchase::of(by, &moment, amount, &comment).await?;
                    require_price(purchase.cost(), max_price)?;
                    let calls = purchase.calls(by);
                    session.afford(&[purchase.cost()], &calls).await?;
                    is_large = note_purchase(session, &moment, &calls);
                    return Ok(calls);
                }
                let purchase = Purchase::read(by, &moment, amount, &self.lists).await?;
                purchase.check_comment(&comment)?;
                session.require_genuine(moment.collection).await?;
                let costs = purchase.costs(session.chain());
                costs.first().map_or(Ok(()), |cost| require_price(*cost, max_price))?;
                let calls = purchase.calls(by, &comment);
                session.afford(&costs, &calls).await?;
                is_large = note_purchase(session, &moment, &calls);
                Ok(calls)
            })
            .await?;
        if is_large {
            self.activity.note(request, caller.artist, ActivityKind::Collected, &moment.to_string()).await;
        }
        Ok(answer)
    }
}

/// Whether a purchase is large, and so mailed once it is queued; any other is noted.
fn note_purchase(session: &WriteSession<'_>, moment: &MomentRef, calls: &[Call]) -> bool {
    let is_large = session.is_large(calls);
    if !is_large {
        session.note(ActivityKind::Purchased, moment);
    }
    is_large
}
