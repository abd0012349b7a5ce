use shared::{api::transact::SentTransaction, model::MomentRef};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{AllOfBuilder, ObjectBuilder, Ref, RefOr, Schema},
};

use super::{SaleChange, UpdateSaleRequest};

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
)]
fn update_sale() {}

openapi::published!(update_sale writes, 404);

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
