//! `POST /sale`: changes a moment's sale. Missing fields keep their onchain values.

#[cfg(test)]
mod description;

use shared::{
    api::transact::TransactionService,
    chain::protocol::permission::Permission,
    http::{ApiError, Endpoint, Fields, FromFields, Request, Response, StartError, serve},
    model::{Amount, CheckedAddress, Creation, Invalid, MomentEdit, MomentRef, SaleEdit, Scope, Whole},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateSale>().await
}

struct UpdateSale {
    service: TransactionService,
}

/// The moment and its sale's changes.
#[derive(FromFields)]
struct UpdateSaleRequest {
    moment: MomentRef,
    #[field(flatten)]
    change: SaleChange,
}

/// A moment, and the changed fields of its sale: at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
struct SaleChange {
    /// In the currency's smallest unit; `0` means free.
    price_per_token: Option<Amount>,
    /// Unix time in seconds.
    sale_start: Option<Whole>,
    /// Unix time in seconds; the largest value, 18446744073709551615, means no end.
    sale_end: Option<Whole>,
    /// 0 means unlimited.
    max_tokens_per_address: Option<Whole>,
    /// Recipient of the proceeds.
    funds_recipient: Option<CheckedAddress>,
}

impl SaleChange {
    fn check(&self, fields: &Fields<'_>) {
        if *self == Self::default() {
            let reason = "or one of saleStart, saleEnd, maxTokensPerAddress and fundsRecipient must be given";
            fields.field("pricePerToken").refuse(&Invalid(reason));
        }
    }
}

impl From<SaleChange> for SaleEdit {
    fn from(change: SaleChange) -> Self {
        let number = |field: Option<Whole>| field.map(|Whole(number)| number);
        Self {
            price: change.price_per_token,
            start: number(change.sale_start),
            end: number(change.sale_end),
            max_per_address: number(change.max_tokens_per_address),
            funds_recipient: change.funds_recipient.map(|CheckedAddress(recipient)| recipient),
        }
    }
}

impl Endpoint for UpdateSale {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let UpdateSaleRequest { moment, change } = request.json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                session.require(&moment, Permission::Sales).await?;
                Ok(moment.update(MomentEdit::Sale(change.into())))
            })
            .await
    }
}
