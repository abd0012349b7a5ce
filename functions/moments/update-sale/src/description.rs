use shared::{api::transact::SentTransaction, model::MomentRef};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        AllOfBuilder, ObjectBuilder, Ref, RefOr, Schema, Type,
        schema::{AnyOfBuilder, SchemaType},
    },
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
    security(("apiKey" = [])),
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
        let moment =
            ObjectBuilder::new().property("moment", Ref::from_schema_name(MomentRef::name())).required("moment");
        let given = |name: &str, r#type: &SchemaType| {
            ObjectBuilder::new().property(name, ObjectBuilder::new().schema_type(r#type.clone())).required(name)
        };
        let (text, whole) = (&Type::String.into(), &SchemaType::from_iter([Type::Integer, Type::String]));
        let one_at_least = AnyOfBuilder::new()
            .item(given("pricePerToken", text))
            .item(given("saleStart", whole))
            .item(given("saleEnd", whole))
            .item(given("maxTokensPerAddress", whole))
            .item(given("fundsRecipient", text));
        AllOfBuilder::new().item(moment).item(SaleChange::schema()).item(one_at_least).into()
    }
}
