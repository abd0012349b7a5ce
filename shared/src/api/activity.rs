//! What happens to an account is recorded for its artist, and mailed where somebody else could be behind it.

use std::time::Duration;

use crate::{
    auth::service_address::ServiceAddress,
    clock,
    config::{self, StartError},
    http::{ApiError, Request},
    mail::{Mailer, Notice},
    model::{ActivityId, ActivityKind, ArtistId},
    store::artist::{Activities, Activity, ArtistTable, Artists},
    telemetry,
};

/// How long activities are kept.
#[derive(Clone, Copy, Debug)]
pub struct ActivityRetention(Duration);

impl ActivityRetention {
    /// Reads `ACTIVITY_RETENTION_DAYS` (90).
    pub fn from_env() -> Result<Self, StartError> {
        let days: u64 = config::parsed_or("ACTIVITY_RETENTION_DAYS", "90")?;
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
    mailer: Mailer,
    address: ServiceAddress,
    retention: ActivityRetention,
}

impl ActivityLog {
    /// Reads `ARTIST_TABLE`, `MAIL_SENDER`, `TOKEN_ISSUER` and `ACTIVITY_RETENTION_DAYS`.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, StartError> {
        let table = ArtistTable::from_env(aws)?;
        Ok(Self {
            activities: Activities::new(table.clone()),
            artists: Artists::new(table),
            mailer: Mailer::from_env(aws)?,
            address: ServiceAddress::from_env(),
            retention: ActivityRetention::from_env()?,
        })
    }

    /// Records what was done, and mails a notice. Never fails: it is done. A write; for a notice, a read and a mail.
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
        let Some(what) = kind.notice() else { return Ok(()) };
        let Some(to) = self.artists.email(artist).await? else { return Ok(()) };
        let (when, origin) = (clock::iso_8601(activity.at)?, self.address.of(request)?);
        let origin = origin.as_str().trim_end_matches('/');
        let notice = Notice { what, subject, when: &when, network: &activity.network, origin };
        self.mailer
            .send_notice(&to, &notice)
            .await
            .map_err(|error| ApiError::bad_gateway("The mail wasn't sent", error))
    }
}
