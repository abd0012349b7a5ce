//! `POST /sale`: changes a moment's sale. What isn't given stays as it is on the chain.

mod change;
#[cfg(test)]
mod description;

use shared::{
    chain::{
        account::Call,
        permission::Permission,
        sale::{CurrentSale, Strategy},
    },
    http::{ApiError, Endpoint, FieldError, Request, Response, StartError, serve},
    model::{Address, Amount, CheckedAddress, Invalid, MomentRef, Whole},
    telemetry,
    writing::{Begun, Wording, Writers, answer_node_error},
};
use utoipa::ToSchema;

use crate::change::updated;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(UpdateSale { writers: Writers::from_env().await? }).await
}

struct UpdateSale {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
struct UpdateSaleRequest {
    /// `moment`: `collectionAddress`, `tokenId` and `chainId` (8453 unless given).
    moment: MomentRef,
    change: SaleChange,
}

/// The fields of a sale that a request changes: one at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ToSchema)]
struct SaleChange {
    /// In the currency's smallest unit; `0` means free.
    #[schema(rename = "pricePerToken")]
    price: Option<Amount>,
    /// Unix time in seconds.
    #[schema(rename = "saleStart")]
    start: Option<Whole>,
    /// Unix time in seconds; the largest value, 18446744073709551615, means no end.
    #[schema(rename = "saleEnd")]
    end: Option<Whole>,
    /// 0 means as many as one likes.
    #[schema(rename = "maxTokensPerAddress")]
    max_per_address: Option<Whole>,
    /// Who gets the money.
    #[schema(rename = "fundsRecipient", value_type = Option<CheckedAddress>)]
    funds_recipient: Option<Address>,
}

impl Endpoint for UpdateSale {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let UpdateSaleRequest { moment, change } = UpdateSaleRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        writing.require(&moment, Permission::Sales).await?;
        let addresses = &writing.chain().addresses;
        let sales = CurrentSale::all(writing.node(), addresses, &moment).await.map_err(answer_node_error)?;
        // A moment that is sold in two ways is sold for the ERC-20 currency, which comes first.
        let sale = sales.into_iter().find(|sale| sale.strategy != Strategy::Timed);
        let sale = sale.ok_or_else(|| ApiError::not_found("This moment has no sale that could be changed"))?;
        let update = updated(sale, &change, &moment, addresses).map_err(|(field, error)| refuse(field, &error))?;
        writing.send(vec![Call::new(moment.collection.into(), &update)]).await
    }
}

impl UpdateSaleRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let change = SaleChange {
            price: fields.optional("pricePerToken"),
            start: fields.optional_exact("saleStart"),
            end: fields.optional_exact("saleEnd"),
            max_per_address: fields.optional_exact("maxTokensPerAddress"),
            funds_recipient: fields.optional("fundsRecipient").map(|CheckedAddress(address)| address),
        };
        let names = ["pricePerToken", "saleStart", "saleEnd", "maxTokensPerAddress", "fundsRecipient"];
        if !names.into_iter().any(|name| fields.has(name)) {
            let reason = "or one of saleStart, saleEnd, maxTokensPerAddress and fundsRecipient must be given";
            fields.refuse("pricePerToken", Invalid(reason));
        }
        fields.finish(|| Some(Self { moment: moment?, change }))
    }
}

fn refuse(field: &str, error: &Invalid) -> ApiError {
    ApiError::invalid_fields(vec![FieldError { field: field.to_owned(), message: error.to_string() }])
}
