//! `POST /moment/collect`: buys tokens of a moment for the artist's account, which pays for them.

#[cfg(test)]
mod description;
mod purchase;

use std::str::FromStr;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{CommentText, Invalid, MomentRef, Whole},
    telemetry,
    writing::{Begun, Wording, Writers},
};
use utoipa::ToSchema;

use crate::purchase::Purchase;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CollectMoment { writers: Writers::from_env().await? }).await
}

struct CollectMoment {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct CollectMomentRequest {
    /// Which moment.
    moment: MomentRef,
    /// How many tokens.
    #[schema(value_type = u16, minimum = 1, maximum = 1000)]
    amount: Quantity,
    /// What the collector says with it, without control characters.
    #[schema(value_type = Option<String>, default = "", max_length = 1000, pattern = r"^([^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*)?$")]
    comment: Remark,
}

/// How many tokens are collected at once: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quantity(u64);

/// What is said while collecting: up to 1000 characters, without control characters; nothing, if one likes.
#[derive(Debug, PartialEq, Eq)]
struct Remark(String);

impl Endpoint for CollectMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let CollectMomentRequest { moment, amount, comment } = CollectMomentRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let purchase = Purchase::of(&writing, &moment, amount).await?;
        let calls = purchase.calls(&writing, &comment);
        writing.afford(&purchase.costs(writing.chain()), &calls).await?;
        writing.send(calls).await
    }
}

impl CollectMomentRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let amount = fields.required_number("amount");
        let comment = fields.optional_or("comment", Remark(String::new()));
        fields.finish(|| Some(Self { moment: moment?, amount: amount?, comment: comment? }))
    }
}

impl FromStr for Quantity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(Whole(number @ 1..=1_000)) => Ok(Self(number)),
            _ => Err(Invalid("must be a whole number from 1 to 1000")),
        }
    }
}

impl FromStr for Remark {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_short = text.is_empty() || text.parse::<CommentText>().is_ok();
        if !is_short || text.contains(char::is_control) {
            return Err(Invalid("must be up to 1000 characters long, without control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}
