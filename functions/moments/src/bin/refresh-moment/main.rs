//! `POST /moment/refresh`: asks for a moment's metadata document to be read again.

use std::time::Duration;

use moments::refresh_moment::{RefreshMomentRequest, RefreshMomentResponse};
use shared::{
    api::error::{no_moment, withheld},
    auth::client_limit::ClientLimit,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Moment,
    store::{
        StoreError,
        chain::{ChainTable, Documents, Moments, NamedDocument, can_change, host},
        secret::{RequestCounts, SecretTable},
    },
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Seconds in which a document is read again once.
const ONCE: u64 = 10 * 60;

/// Documents of one host, or of a collection without one, that are read again within an hour.
const OF_ONE_SOURCE: u32 = 360;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RefreshMoment>().await
}

struct RefreshMoment {
    chains: Chains,
    moments: Moments,
    documents: Documents,
    counts: RequestCounts,
    clients: ClientLimit,
}

impl RefreshMoment {
    /// Queues the document unless it can't change, or was asked for lately. A read, two counts, and two writes.
    async fn queue(&self, moment: &Moment, now: u64) -> Result<bool, StoreError> {
        let (chain, uri) = (moment.chain_id, moment.uri.as_str());
        let is_read = self.documents.find_many(chain, [uri]).await?.contains_key(uri);
        if is_read && !can_change(uri) {
            return Ok(false);
        }
        let source = host(uri).unwrap_or_else(|| moment.collection.to_string());
        let asked = [
            (format!("refresh#{chain}#{}", Documents::uri_hash(uri)), ONCE, 1),
            (format!("refresh#{}", Documents::uri_hash(&source)), HOUR.as_secs(), OF_ONE_SOURCE),
        ];
        for (subject, window, max) in asked {
            let number = now / window;
            if self.counts.count(&subject, number, (number + 2) * window).await? > max {
                return Ok(false);
            }
        }
        let named = NamedDocument { uri, collection: moment.collection, at: now };
        self.documents.read_again(chain, [named]).await?;
        Ok(true)
    }
}

impl Endpoint for RefreshMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let most = config::parsed(config::variables::REFRESHES_PER_CLIENT_HOURLY)?;
        let (chain, secrets) = (ChainTable::from_env(&aws)?, SecretTable::from_env(&aws)?);
        Ok(Self {
            chains: Chains::from_env()?,
            moments: Moments::new(chain.clone()),
            documents: Documents::new(chain),
            counts: RequestCounts::new(secrets.clone()),
            clients: ClientLimit::new(secrets, "refresh", most, HOUR),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let RefreshMomentRequest { moment: place } = request.json()?.read_for(&self.chains)?;
        let now = clock::now()?;
        request.note_limits(&[self.clients.admit(request, now).await?]);
        let moment = self.moments.moment(&place).await?.ok_or_else(|| no_moment(&place))?;
        if moment.is_withheld {
            return Err(withheld());
        }
        let queued = self.queue(&moment, now.as_secs()).await?;
        Response::json(&RefreshMomentResponse { success: true, queued })?.with_status(202)
    }
}
