//! `GET /moment/allow-list`: an account's entry on the list that a moment is sold to, with its proof.

use moments::read_allow_list::{ReadAllowListQuery, ReadAllowListResponse};
use shared::{
    api::error::{no_moment, withheld},
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{AllowListView, MomentRef, WholeText},
    store::{
        artist::{AllowLists, ArtistTable},
        chain::{ChainTable, Moments},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadAllowList>().await
}

struct ReadAllowList {
    chains: Chains,
    moments: Moments,
    lists: AllowLists,
}

impl Endpoint for ReadAllowList {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            chains: Chains::from_env()?,
            moments: Moments::new(ChainTable::from_env(&aws)?.eventually_consistent()),
            lists: AllowLists::new(ArtistTable::from_env(&aws)?.eventually_consistent()),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadAllowListQuery { collection_address: collection, token_id: token, chain_id: chain, account } =
            request.query().read_for(&self.chains)?;
        let place = MomentRef { chain, collection, token };
        let moment = self.moments.moment(&place).await?.ok_or_else(|| no_moment(&place))?;
        if moment.is_withheld {
            return Err(withheld());
        }
        let nothing = || ApiError::not_found("This moment is sold to no list");
        let allow_list = moment.allow_list().and_then(AllowListView::of).ok_or_else(nothing)?;
        let minter = self.chains.get(chain).map_err(ApiError::internal)?.addresses.merkle_minter.ok_or_else(nothing)?;
        let Some(proof) = self.lists.proof(&place, allow_list.root, account).await? else {
            return Err(ApiError::not_found(format!("{account} is not on the list of this moment")));
        };
        Response::public(&ReadAllowListResponse {
            account,
            max_amount: WholeText(proof.entry.max_amount),
            price: proof.entry.price,
            proof: proof.path,
            minter: minter.into(),
            allow_list,
        })
    }
}
