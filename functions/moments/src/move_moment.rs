//! Request and description of `PATCH /moment`.

use shared::{
    api::{
        publish::CreatedMoment,
        transact::{Move, WriteResponse},
    },
    http::FromFields,
    model::{Address, MetadataUri, MomentRef},
};
use utoipa::ToSchema;

/// The moment, and where it goes.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct MoveMomentRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Another collection on the same chain.
    pub new_collection_address: Address,
    /// Metadata of the copy; by default that of the moment.
    pub new_uri: Option<MetadataUri>,
}

impl From<MoveMomentRequest> for Move {
    fn from(MoveMomentRequest { moment, new_collection_address: to, new_uri }: MoveMomentRequest) -> Self {
        Self { moment, to, new_uri }
    }
}

/// Move a moment to another collection
///
/// One transaction makes a copy there with the same metadata, sale, royalty and admins, and as many tokens as are left; ends
/// the sale of the old one; and lets its URI point to the copy (`movedTo`). Tokens stay where they are. Needs ADMIN on the
/// moment or its collection, MINTER or ADMIN on the other one, and the scope `admin` or a sign-in within the last 15 minutes.
#[utoipa::path(
    patch,
    path = "/moment",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = MoveMomentRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "newCollectionAddress": "0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0",
    })),
    responses((status = 200, description = "The copy.", body = inline(WriteResponse<CreatedMoment>))),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn move_moment() {}
