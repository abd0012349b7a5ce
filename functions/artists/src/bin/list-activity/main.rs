//! `GET /artists/activity`: what happened to the artist's account, newest first.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    auth::session::SessionAuthenticator,
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{ActivityId, ActivityKind, PageLimit},
    store::{
        artist::{Activities, Activity, ArtistTable},
        secret::SecretTable,
    },
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListActivity>().await
}

struct ListActivity {
    sessions: SessionAuthenticator,
    activities: Activities,
}

/// The page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
struct ListActivityQuery {
    /// Most entries.
    #[param(default = 20, required = false)]
    limit: PageLimit,
    /// The last id of the page before; the newest entries by default.
    before: Option<ActivityId>,
}

#[derive(Serialize, ToSchema)]
struct ListActivityResponse {
    activity: Vec<ActivityView>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Activity)]
struct ActivityView {
    id: ActivityId,
    kind: ActivityKind,
    /// ISO 8601.
    at: String,
    /// Network that asked for it; of IPv6 the /64.
    network: String,
    /// What it concerns, such as a key's name or an address; may be empty.
    subject: String,
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

impl TryFrom<Activity> for ActivityView {
    type Error = ApiError;

    fn try_from(Activity { id, kind, at, network, subject, .. }: Activity) -> Result<Self, ApiError> {
        Ok(Self { id, kind, at: clock::iso_8601(at)?, network, subject })
    }
}
