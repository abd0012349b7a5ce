//! What happens to an account is recorded for its artist, and mailed where somebody else could be behind it.

use std::time::Duration;

use super::notice::NoticeMailer;
use crate::{
    clock,
    config::{self, StartError},
    http::{ApiError, Request},
    model::{ActivityId, ActivityKind, ArtistId},
    store::{
        artist::{Activities, Activity, ArtistTable, Artists},
        secret::SecretTable,
    },
    telemetry,
};

/// How long activities are kept.
#[derive(Clone, Copy, Debug)]
pub struct ActivityRetention(Duration);

impl ActivityRetention {
    /// Reads `ACTIVITY_RETENTION_DAYS` (90).
    pub fn from_env() -> Result<Self, StartError> {
        let days: u64 = config::parsed(config::variables::ACTIVITY_RETENTION_DAYS)?;
        Ok(Self(Duration::from_secs(days.saturating_mul(24 * 60 * 60))))
    }

    /// An activity that the request caused now.
    pub fn activity(self, request: &Request, kind: ActivityKind, subject: &str) -> Result<Activity, ApiError> {
        let at = clock::now()?.as_secs();
        let (network, subject) = (request.client_network(), subject.to_owned());
        let expires_at = at.saturating_add(self.0.as_secs());
        Ok(Activity { id: ActivityId::next(), kind, at, network, subject, expires_at })
    }
}

/// Records activities and mails notices of them.
#[derive(Clone)]
pub struct ActivityLog {
    activities: Activities,
    artists: Artists,
    notices: NoticeMailer,
    retention: ActivityRetention,
}

impl ActivityLog {
    /// Reads `ARTIST_TABLE`, `SECRET_TABLE` and `ACTIVITY_RETENTION_DAYS`, and what [`NoticeMailer`] reads.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, StartError> {
        let table = ArtistTable::from_env(aws)?;
        Ok(Self {
            activities: Activities::new(table.clone()),
            artists: Artists::new(table),
            notices: NoticeMailer::from_env(aws, SecretTable::from_env(aws)?)?,
            retention: ActivityRetention::from_env()?,
        })
    }

    /// Records what was done, and mails a notice. Never fails: it is done. A write; for a notice, a read, up to four writes
    /// and a mail. The subject must hold no words of whoever asked: the mail comes from the service.
    pub async fn note(&self, request: &Request, artist: ArtistId, kind: ActivityKind, subject: &str) {
        if let Err(error) = self.try_note(request, artist, kind, subject).await {
            let cause = error.cause().map(telemetry::chain);
            tracing::error!(request.id = request.id(), error = cause, "activity not recorded or not mailed");
        }
    }

    async fn try_note(
        &self,
        request: &Request,
        artist: ArtistId,
        kind: ActivityKind,
        subject: &str,
    ) -> Result<(), ApiError> {
        let activity = self.retention.activity(request, kind, subject)?;
        self.activities.record(artist, &activity).await?;
        if kind.notice().is_none() {
            return Ok(());
        }
        let Some(to) = self.artists.contact(artist, activity.at).await?.email else { return Ok(()) };
        self.notices.send(request, &to, artist, kind, subject).await;
        Ok(())
    }
}
