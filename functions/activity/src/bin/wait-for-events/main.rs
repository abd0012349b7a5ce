//! `GET /events/wait`: a page of events once there is one. Waiting takes a credential and a place, of which an artist, a
//! network and its provider have few.

use std::time::Duration;

use activity::{
    event_reader::{Accounts, EventReader, has_more, places},
    list_events::{ListEventsQuery, page::Page},
};
use shared::{
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ArtistId, Wait},
    store::{
        artist::ArtistTable,
        chain::ChainTable,
        secret::{MAX_NETWORK_WAITS, MAX_PROVIDER_WAITS, MAX_WAITS, SecretTable, WaitPlace, Waits},
    },
};
use tokio::time::Instant;

/// Time between two looks at the logs.
const PAUSE: Duration = Duration::from_millis(500);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<WaitForEvents>().await
}

struct WaitForEvents {
    events: EventReader,
    waits: Waits,
}

impl Endpoint for WaitForEvents {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (chain, artists) = (ChainTable::from_env(&aws)?, ArtistTable::from_env(&aws)?);
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self { waits: Waits::new(secrets.clone()), events: EventReader::new(chain, artists, secrets)? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query = self.events.query(request)?;
        let accounts = self.events.accounts(request, &query).await?;
        let caller = accounts.caller.ok_or_else(|| {
            ApiError::unauthorized_caller("Waiting takes a token or an API key: send one, or ask GET /events")
        })?;
        let wait = query.wait.map_or(Wait::LONGEST, Wait::time);
        let places = self.places(request, caller, wait).await?;
        let page = self.page(&query, &accounts, wait).await;
        self.waits.give_back(&places).await?;
        self.events.answer(page?).await
    }
}

impl WaitForEvents {
    /// Places to wait in, the artist's, the network's and the provider's; 429 if all of one are taken.
    async fn places(&self, request: &Request, caller: ArtistId, wait: Duration) -> Result<Vec<WaitPlace>, ApiError> {
        let now = clock::now()?.as_secs();
        // A little more, for what comes after the wait.
        let end = now + wait.as_secs() + 5;
        let own = [(caller.to_string(), 0..MAX_WAITS), (request.widest_network(), 0..MAX_NETWORK_WAITS)];
        let provider = request.client_provider().map(|(block, _)| (block, 0..MAX_PROVIDER_WAITS));
        let holders: Vec<_> = own.into_iter().chain(provider).collect();
        self.waits.take(&holders, end, now).await?.map_err(|full| {
            let whose = ["yours", "your network", "your provider's networks"][full];
            let most = holders[full].1.end;
            let words = format!("{most} requests of {whose} wait already: end one, or ask GET /events");
            ApiError::too_many(words, wait.as_secs().max(1))
        })
    }

    async fn page(&self, query: &ListEventsQuery, accounts: &Accounts, wait: Duration) -> Result<Page, ApiError> {
        let end = Instant::now() + wait;
        let mut heads = self.events.heads(query).await?;
        let mut places = places(query.after.as_ref(), &heads)?;
        loop {
            let page = self.events.page(&places, &heads, query, accounts).await?;
            // One request reads so much, and not more, of what nobody asked for.
            let is_behind = page.has_moved && heads.iter().any(|(log, head)| has_more(&page.next, *log, *head));
            if !page.events.is_empty() || is_behind || Instant::now() + PAUSE > end {
                return Ok(page);
            }
            places = page.next;
            tokio::time::sleep(PAUSE).await;
            heads = self.events.heads(query).await?;
        }
    }
}
