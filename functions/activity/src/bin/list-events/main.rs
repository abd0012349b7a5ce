//! `GET /events`: what happened, in the order of its logs. A cursor makes it resumable: nothing twice, nothing missing.
//! It never waits, so that nobody's wait stands in the way of a read.

use activity::event_reader::{EventReader, places};
use serde_json::json;
use shared::{
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{artist::ArtistTable, chain::ChainTable, secret::SecretTable},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListEvents>().await
}

struct ListEvents(EventReader);

impl Endpoint for ListEvents {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        Ok(Self(EventReader::new(chain, artists, SecretTable::from_env(&aws)?)?))
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let Self(events) = self;
        let query = events.query(request)?;
        if query.wait.is_some_and(|wait| !wait.time().is_zero()) {
            return to_the_waiting(request);
        }
        let accounts = events.accounts(request, &query).await?;
        let heads = events.heads(&query).await?;
        let places = places(query.after.as_ref(), &heads)?;
        events.answer(events.page(&places, &heads, &query, &accounts).await?).await
    }
}

/// The same query where requests wait; relative, as this endpoint has several base addresses.
fn to_the_waiting(request: &Request) -> Result<Response, ApiError> {
    let body = json!({"message": "Requests wait at location"});
    let response = Response::stored(307, body.to_string())?;
    response.with("location", &format!("events/wait?{}", request.query_with(&[])))
}
