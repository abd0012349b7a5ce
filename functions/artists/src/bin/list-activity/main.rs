//! `GET /artists/activity`: what happened to the artist's account, newest first.

use artists::list_activity::{ActivityView, ListActivityQuery, ListActivityResponse};
use shared::{
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{Activities, ArtistTable},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListActivity>().await
}

struct ListActivity {
    sessions: SessionAuthenticator,
    activities: Activities,
}

impl Endpoint for ListActivity {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            activities: Activities::new(ArtistTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let ListActivityQuery { limit, before } = request.query().read()?;
        let found = self.activities.list(artist, before, limit.get(), clock::now()?.as_secs()).await?;
        let last = found.last().map(|last| last.id).filter(|_| found.len() == limit.get() as usize);
        let activity = found.into_iter().map(ActivityView::try_from).collect::<Result<_, _>>()?;
        let response = Response::json(&ListActivityResponse { activity })?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
