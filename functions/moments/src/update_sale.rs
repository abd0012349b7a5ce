//! Request and description of `POST /sale`.

use shared::{
    api::transact::SentTransaction,
    http::{Fields, FromFields},
    model::{Amount, CheckedAddress, Invalid, MomentRef, SaleEdit, SaleTime, Whole},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{AllOfBuilder, ObjectBuilder, Ref, RefOr, Schema},
};

/// The moment and its sale's changes.
#[derive(FromFields)]
pub struct UpdateSaleRequest {
    pub moment: MomentRef,
    #[field(flatten)]
    pub change: SaleChange,
}

/// A moment, and the changed fields of its sale: at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
pub struct SaleChange {
    /// In the currency's smallest unit; `0` means free.
    pub price_per_token: Option<Amount>,
    /// Unix time in seconds.
    #[schema(value_type = Option<Whole>)]
    pub sale_start: Option<SaleTime>,
    /// Unix time in seconds; the largest value, 18446744073709551615, means no end.
    #[schema(value_type = Option<Whole>)]
    pub sale_end: Option<SaleTime>,
    /// 0 means unlimited.
    pub max_tokens_per_address: Option<Whole>,
    /// Recipient of the proceeds.
    pub funds_recipient: Option<CheckedAddress>,
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
        let time = |field: Option<SaleTime>| field.map(|SaleTime(time)| time);
        Self {
            price: change.price_per_token,
            start: time(change.sale_start),
            end: time(change.sale_end),
            max_per_address: change.max_tokens_per_address.map(|Whole(most)| most),
            funds_recipient: change.funds_recipient.map(|CheckedAddress(recipient)| recipient),
        }
    }
}

impl ToSchema for UpdateSaleRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((MomentRef::name().into_owned(), MomentRef::schema()));
        MomentRef::schemas(schemas);
        SaleChange::schemas(schemas);
    }
}

impl PartialSchema for UpdateSaleRequest {
    fn schema() -> RefOr<Schema> {
        // The moment and one field more: generators of clients don't understand which ones are meant by more than a number.
        let moment =
            ObjectBuilder::new().property("moment", Ref::from_schema_name(MomentRef::name())).required("moment");
        AllOfBuilder::new().item(moment.min_properties(Some(2))).item(SaleChange::schema()).into()
    }
}

/// Change a moment's sale
///
/// Missing fields keep their onchain values; at least one is required. Needs the permission SALES, or ADMIN, on the moment
/// or its collection.
#[utoipa::path(
    post,
    path = "/sale",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = UpdateSaleRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "pricePerToken": "2000000000000000",
        "maxTokensPerAddress": 10,
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn update_sale() {}
