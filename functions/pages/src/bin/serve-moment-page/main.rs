//! `GET /pages/m/{chain}/{contract}/{token}`: a moment's page; `GET /pages/embed/m/…`: the same to be shown in a frame;
//! `GET /pages/claim/{link}`: the page of a claim link.

use futures::try_join;
use pages::{Clock, MomentParts, claim_page, embed_page, gone, moment_page, not_found, page, secret_page};
use shared::{
    api::read::{MomentView, Person, Reader, Site},
    chain::{Chain, Chains},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, serve},
    model::{Address, ChainId, ClaimToken, MomentRef, TokenId},
    store::{
        artist::{ArtistTable, Claims},
        chain::{ChainTable, Comments, TransferList, Transfers},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeMomentPage>().await
}

struct ServeMomentPage {
    site: Site,
    chains: Chains,
    reader: Reader,
    comments: Comments,
    transfers: Transfers,
    claims: Claims,
}

/// Collectors on the page.
const COLLECTORS: usize = 24;

#[derive(FromFields)]
struct LinkPath {
    link: ClaimToken,
}

#[derive(FromFields)]
struct MomentPath {
    chain: ChainId,
    contract: Address,
    token: TokenId,
}

impl Endpoint for ServeMomentPage {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        let artists = ArtistTable::from_env(&aws)?;
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            comments: Comments::new(chain.clone()),
            transfers: Transfers::new(chain.clone()),
            claims: Claims::new(artists.clone()),
            reader: Reader::from_env(chain, artists)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        if request.route().ends_with("/claim/{link}") {
            return self.claim(request).await;
        }
        let unknown = || not_found("No such moment is known. It may be too new: look again in a minute.", &self.site);
        let Ok(path) = request.path_parameters().read_for::<MomentPath>(&self.chains) else { return unknown() };
        let Ok(chain) = self.chains.get(path.chain) else { return unknown() };
        let place = MomentRef { chain: path.chain, collection: path.contract, token: path.token };
        let Some(moment) = self.reader.moment(&place).await? else { return unknown() };
        if moment.is_withheld {
            return not_found("The operator of this site doesn't show this moment.", &self.site);
        }
        if !moment.hidden.is_empty() {
            return unknown();
        }
        let frame = if request.path().contains("/embed/") {
            embed_page(&self.site, &moment, chain, Clock::now()?)
        } else {
            moment_page(&self.site, &moment, &self.parts(&moment, chain).await?, Clock::now()?)
        };
        page(frame, &self.site)
    }
}

impl ServeMomentPage {
    /// Two reads besides those of the moment; one for a link that was never given out.
    async fn claim(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown = || not_found("There is no such link: open it as you got it, whole.", &self.site);
        let Ok(LinkPath { link: token }) = request.path_parameters().read() else { return unknown() };
        let Some(place) = self.claims.place(&token).await? else { return unknown() };
        let Some(link) = self.claims.link(&place).await? else {
            return gone("The artist took this link back.", &self.site);
        };
        if link.is_over(clock::now()?.as_secs()) {
            return gone("The time for claiming with this link has ended.", &self.site);
        }
        let moment = self.reader.moment(&link.moment()).await?.filter(|moment| !moment.is_withheld);
        let Some(moment) = moment else {
            return not_found("This moment can't be shown. If it is new, look again in a minute.", &self.site);
        };
        let frame = claim_page(&self.site, &token, &link, &moment, Clock::now()?).map_err(ApiError::internal)?;
        secret_page(frame, &self.site)
    }

    async fn parts<'a>(&self, moment: &MomentView, chain: &'a Chain) -> Result<MomentParts<'a>, ApiError> {
        let place = moment.place();
        let list = [(place.chain, TransferList::Moment(place.collection, place.token))];
        let (comments, transfers) =
            try_join!(self.comments.top_level(&place, 0), self.transfers.newest_of(&list, 0, COLLECTORS))?;
        let names = self.reader.names(transfers.transfers.iter().map(|transfer| transfer.to)).await?;
        let person = |account| Person { address: account, username: names.get(&account).cloned().unwrap_or_default() };
        let collectors = transfers.transfers.into_iter().map(|transfer| {
            let collector = person(transfer.to);
            (transfer, collector)
        });
        Ok(MomentParts { chain, collectors: collectors.collect(), collects: transfers.total, comments })
    }
}
