//! Pictures that pages show: `GET /pages/card/m/{chain}/{contract}/{card}`, where `card` is a token's number and `.png`, a
//! moment's share card, drawn once and kept until it would show something else; `GET /pages/card/pay/{chain}/{account}`, the
//! QR code of a payment.

use maud::PreEscaped;
use pages::{ShareCard, not_found, qr_code};
use shared::{
    api::read::{MomentView, Reader, Site},
    bucket::Bucket,
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, FromFields, Request, Response, StatusCode, serve},
    model::{Address, Amount, ChainId, CurrencyName, Invalid, MomentRef, Picture},
    store::{artist::ArtistTable, chain::ChainTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeCard>().await
}

struct ServeCard {
    site: Site,
    chains: Chains,
    reader: Reader,
    bucket: Bucket,
}

#[derive(FromFields)]
struct CardPath {
    chain: ChainId,
    contract: Address,
}

#[derive(FromFields)]
struct PayPath {
    chain: ChainId,
    account: Address,
}

#[derive(FromFields)]
struct PayQuery {
    currency: Option<CurrencyName>,
    amount: Option<Amount>,
}

/// Pages name a card with its version; one that is asked for without it changes.
const KEPT: u32 = 60 * 60;

impl Endpoint for ServeCard {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            site: Site::from_env(),
            chains: Chains::from_env()?,
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
            bucket: Bucket::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let unknown = || not_found("There is no such card.", &self.site);
        if let Ok(path) = request.path_parameters().read_for::<PayPath>(&self.chains) {
            return self.payment(&path, &request.query().read_for(&self.chains)?);
        }
        let Ok(path) = request.path_parameters().read_for::<CardPath>(&self.chains) else { return unknown() };
        let token = request.path().rsplit('/').next().and_then(|file| file.strip_suffix(".png")?.parse().ok());
        let (Some(token), Ok(chain)) = (token, self.chains.get(path.chain)) else { return unknown() };
        let place = MomentRef { chain: path.chain, collection: path.contract, token };
        let moment = self.reader.moment(&place).await?.filter(MomentView::is_shown);
        let Some(moment) = moment else { return unknown() };
        let card = ShareCard::of(&moment, chain);
        let object = format!("cards/{}/{}/{token}/{}", path.chain, path.contract, card.version());
        let png = match self.bucket.read_whole(&object).await? {
            Some(png) => png,
            None => {
                let picture = match card.picture() {
                    Some((hash, width)) => self.bucket.read_whole(&Picture::object(hash, width)).await?,
                    None => None,
                };
                let png = card.draw(picture.as_deref()).map_err(ApiError::internal)?;
                self.bucket.put(&object, "image/png", png.clone()).await?;
                png
            }
        };
        let answer = Response::bytes(StatusCode::OK, "image/png", png)?.cacheable(KEPT);
        answer.with("cross-origin-resource-policy", "cross-origin")?.with("x-content-type-options", "nosniff")
    }
}

impl ServeCard {
    fn payment(&self, path: &PayPath, query: &PayQuery) -> Result<Response, ApiError> {
        let chain = self.chains.get(path.chain).map_err(ApiError::internal)?;
        let currency = match &query.currency {
            Some(CurrencyName(name)) => {
                chain.currency(name).map_err(|Invalid(words)| ApiError::invalid_field("currency", words))?
            }
            None => chain.native_currency(),
        };
        let uri = currency.payment_uri(path.chain, path.account, query.amount);
        let PreEscaped(svg) = qr_code(&uri, &uri).map_err(ApiError::internal)?;
        let answer = Response::bytes(StatusCode::OK, "image/svg+xml; charset=utf-8", svg.into_bytes())?.cacheable(KEPT);
        answer.with("x-content-type-options", "nosniff")
    }
}
