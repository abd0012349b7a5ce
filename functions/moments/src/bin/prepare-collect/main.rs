//! `POST /moment/collect/prepare`: what a wallet of anybody sends to collect a moment.

use moments::{
    prepare_collect::PrepareCollectRequest,
    purchase::{Collector, Purchase, ReleasePurchase, require_price},
    referral::OwnReferral,
};
use shared::{
    api::{error::no_moment, prepare::CallPreparer},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef, Protocol},
    store::{
        artist::{AllowLists, ArtistTable, Artists},
        chain::{ChainTable, Moments},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<PrepareCollect>().await
}

struct PrepareCollect {
    moments: Moments,
    artists: Artists,
    preparer: CallPreparer,
    own: OwnReferral,
    lists: AllowLists,
}

impl Endpoint for PrepareCollect {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            moments: Moments::new(ChainTable::from_env(&aws)?.eventually_consistent()),
            artists: Artists::new(ArtistTable::from_env(&aws)?.eventually_consistent()),
            preparer: CallPreparer::from_env(&aws).await?,
            own: OwnReferral::from_env()?,
            lists: AllowLists::new(ArtistTable::from_env(&aws)?.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let order: PrepareCollectRequest = request.json()?.read_for(&self.preparer)?;
        let PrepareCollectRequest { moment, amount, account, comment, max_price, referral } = order;
        self.preparer.admit(request).await?;
        let CheckedAddress(account) = account;
        let referral = self.own.rewarded(&self.artists, referral.as_ref(), account).await?;
        let sender = self.preparer.sender(moment.chain, account)?;
        let by = Collector { chain: sender.chain, node: sender.node, account: sender.account, referral };
        // Only what a known factory made: its index is what says so.
        let (costs, calls) = match self.protocol(&moment).await? {
            Protocol::Registry => {
                let purchase = ReleasePurchase::of(by, &moment, amount, &comment).await?;
                (vec![purchase.cost()], purchase.calls(by))
            }
            _ => {
                let purchase = Purchase::read(by, &moment, amount, &self.lists).await?;
                purchase.check_comment(&comment)?;
                (purchase.costs(by.chain), purchase.calls(by, &comment))
            }
        };
        let cost = *costs.first().ok_or_else(|| ApiError::unprocessable("This moment can't be paid for"))?;
        require_price(cost, max_price)?;
        Response::json(&sender.prepare(cost, costs.get(1).copied(), calls).await?)
    }
}

impl PrepareCollect {
    /// The protocol of an indexed moment's collection (404). One read.
    async fn protocol(&self, moment: &MomentRef) -> Result<Protocol, ApiError> {
        let collection = self.moments.collection(moment.chain, moment.collection).await?;
        collection.map(|collection| collection.protocol).ok_or_else(|| no_moment(moment))
    }
}
