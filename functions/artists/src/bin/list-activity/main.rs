//! `GET /artists/activity`: what happened to the artist's account, newest first, its devices and tokens.

use std::cmp::Reverse;

use artists::list_activity::{
    ActivityView, DeviceView, EmailChange, ListActivityQuery, ListActivityResponse, SessionView,
};
use shared::{
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, Flag},
    store::{
        artist::{Activities, ActivityPage, ArtistTable, Artists, Contact, NewsQueue},
        secret::{Devices, SecretTable, Sessions},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListActivity>().await
}

struct ListActivity {
    authenticator: SessionAuthenticator,
    sessions: Sessions,
    activities: Activities,
    artists: Artists,
    devices: Devices,
    news: NewsQueue,
}

impl ListActivity {
    async fn contact(&self, artist: ArtistId, now: u64) -> Result<(Contact, Vec<DeviceView>), ApiError> {
        let contact = self.artists.contact(artist, now).await?;
        let Some(email) = &contact.email else { return Ok((contact, Vec::new())) };
        let mut devices = self.devices.list(email, now).await?;
        devices.sort_unstable_by_key(|device| Reverse(device.fields.seen_at));
        let devices = devices.into_iter().map(DeviceView::try_from).collect::<Result<_, _>>()?;
        Ok((contact, devices))
    }
}

impl Endpoint for ListActivity {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (secrets, table) = (SecretTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        Ok(Self {
            authenticator: SessionAuthenticator::from_env(secrets.clone())?,
            sessions: Sessions::new(secrets.clone()),
            activities: Activities::new(table.clone()),
            artists: Artists::new(table.clone()),
            devices: Devices::new(secrets),
            news: NewsQueue::new(table),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let token = self.authenticator.authenticate_person(request).await?;
        let artist = token.artist;
        let ListActivityQuery { limit, before, works } = request.query().read()?;
        let is_of_works = works.is_some_and(|Flag(is_of_works)| is_of_works);
        let now = clock::now()?.as_secs();
        let found = async { Ok(self.activities.list(artist, is_of_works, before, limit.get(), now).await?) };
        let sessions = async { Ok(self.sessions.list(artist, now).await?) };
        let news = async { Ok(self.news.choice(artist).await?) };
        let (ActivityPage { activities, last }, (contact, devices), sessions, news_mails) =
            tokio::try_join!(found, self.contact(artist, now), sessions, news)?;
        let sessions =
            sessions.into_iter().map(|session| SessionView::new(session, token.id)).collect::<Result<_, _>>()?;
        let activity = activities.into_iter().map(ActivityView::try_from).collect::<Result<_, _>>()?;
        let next_email = contact.next.map(EmailChange::try_from).transpose()?;
        let answer = ListActivityResponse { activity, devices, sessions, email: contact.email, next_email, news_mails };
        let response = Response::json(&answer)?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
