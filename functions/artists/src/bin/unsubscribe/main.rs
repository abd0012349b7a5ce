//! `POST /mails/unsubscribe`: stops mails of collects and comments.

use artists::unsubscribe::{UnsubscribeQuery, UnsubscribeResponse};
use shared::{
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::artist::{ArtistTable, NewsQueue},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<Unsubscribe>().await
}

struct Unsubscribe {
    news: NewsQueue,
}

impl Endpoint for Unsubscribe {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { news: NewsQueue::new(ArtistTable::from_env(&config::aws().await)?) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let UnsubscribeQuery { token } = request.query().read()?;
        if !self.news.unsubscribe(&token).await? {
            return Err(ApiError::not_found("No mails have this link: take it from the newest one, or sign in"));
        }
        Response::json(&UnsubscribeResponse { success: true })
    }
}
