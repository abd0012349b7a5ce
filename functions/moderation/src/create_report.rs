//! Contract of `POST /reports`.

use serde::Serialize;
use serde_json::Value;
use shared::{
    http::{Field, FromField, FromFields},
    model::{Address, ChainId, Cid, CommentId, Email, Invalid, MomentRef, Reason, Statement, Subject},
};
use utoipa::ToSchema;
use uuid::Uuid;

/// A report.
#[derive(FromFields, ToSchema)]
pub struct CreateReportRequest {
    /// What it is about: one of its fields.
    #[schema(value_type = SubjectFields)]
    pub subject: ReportedSubject,
    /// Why.
    pub reason: Reason,
    /// What else the operator should know.
    pub text: Option<Statement>,
    /// Address for an answer.
    pub email: Option<Email>,
}

pub struct ReportedSubject(pub Subject);

/// A subject.
#[derive(FromFields, ToSchema)]
#[schema(min_properties = 1, max_properties = 1)]
pub struct SubjectFields {
    /// A moment.
    moment: Option<MomentRef>,
    /// A collection.
    collection: Option<CollectionFields>,
    /// An artist's account or wallet.
    artist: Option<Address>,
    /// A file.
    cid: Option<Cid>,
    /// A comment.
    comment: Option<CommentFields>,
}

/// A collection on a chain.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CollectionFields {
    /// Its contract.
    collection_address: Address,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain_id: ChainId,
}

/// A comment on a chain.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CommentFields {
    /// Its `commentId`.
    comment_id: CommentId,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain_id: ChainId,
}

/// The report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateReportResponse {
    /// Its id, to name it to the operator.
    #[schema(value_type = String, format = "uuid", example = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d")]
    pub report_id: Uuid,
}

impl FromField for ReportedSubject {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        // As forms name it.
        if let Value::String(text) = field.given()? {
            let subject = text.parse().map(Self);
            return field.note(subject.map_err(|_: Invalid| {
                Invalid("must be an object with one of moment, collection, artist, cid and comment")
            }));
        }
        let SubjectFields { moment, collection, artist, cid, comment } = field.read()?;
        let given = [
            moment.map(Subject::Moment),
            collection.map(|fields| Subject::Collection(fields.chain_id, fields.collection_address)),
            artist.map(Subject::Artist),
            cid.map(Subject::File),
            comment.map(|fields| Subject::Comment(fields.chain_id, fields.comment_id)),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(subject), None) => Some(Self(subject)),
            _ => {
                field.refuse(&Invalid("must have one of moment, collection, artist, cid and comment"));
                None
            }
        }
    }
}

/// Report something
///
/// Tells the operator of a moment, a collection, an artist, a file or a comment that shouldn't be shown. Anybody may; no
/// sign-in.
#[utoipa::path(
    post,
    path = "/reports",
    tag = "Moderation",
    request_body(content = CreateReportRequest, example = json!({
        "subject": {"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}},
        "reason": "copyright",
        "text": "I drew this in 2019, and it is on my site.",
        "email": "ada@example.com",
    })),
    responses((status = 202, description = "The operator will see it.", body = CreateReportResponse)),
    extensions(("x-errors" = json!([404, 409, 429]))),
)]
pub fn create_report() {}
