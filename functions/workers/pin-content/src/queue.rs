//! The queue of files to pin. A run may end at any line: each step can be repeated.

use std::time::Duration;

use futures::{StreamExt, stream};
use reqwest::Client;
use serde::Serialize;
use shared::{
    bucket::Bucket,
    config::StartError,
    store::{
        StoreError,
        artist::{KeptContent, Media, PinJob, PinPause, Pins},
    },
    telemetry::{self, Metric},
    vault::Vault,
};
use tokio::time::Instant;

use crate::{
    blocks::{self, BlocksError},
    service::{self, PinStatus, PinningError, PinningService, Status},
    settings::Settings,
};

/// How long a run takes files from the queue, at most.
const RUN: Duration = Duration::from_secs(50);

/// Files at a time.
const AT_ONCE: u16 = 8;

/// How long nobody else takes a file whose blocks are being stored, in seconds.
const CUTTING: u64 = 10 * 60;

/// First and longest time until a request is looked at again, in seconds; it doubles.
const LOOKS: (u64, u64) = (5, 60 * 60);

/// First and longest time until a file is tried again, in seconds; it triples.
const RETRIES: (u64, u64) = (60, 6 * 60 * 60);

/// The same for the service; it doubles.
const PAUSES: (u64, u64) = (60, 15 * 60);

/// Longest pause that the service can ask for, in seconds.
const LONGEST_ASKED: u64 = 24 * 60 * 60;

/// Files that are to be pinned, and all that is asked for it.
pub struct Pinner {
    pins: Pins,
    media: Media,
    bucket: Bucket,
    vault: Vault,
    client: Client,
}

/// Result of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pinned {
    /// Files that are pinned.
    pub pinned: u64,
    /// Files that the service has yet to fetch.
    pub waiting: u64,
    /// Files that are tried again later.
    pub failed: u64,
}

/// Why a file isn't pinned.
#[derive(Debug, thiserror::Error)]
enum PinError {
    #[error("blocks")]
    Blocks(#[from] BlocksError),
    #[error("pinning service")]
    Service(#[from] PinningError),
    #[error("row of the queue")]
    Row(#[from] StoreError),
}

impl Pinner {
    /// Pins files of `bucket`.
    pub fn new(aws: &aws_config::SdkConfig, pins: Pins, media: Media, bucket: Bucket) -> Result<Self, reqwest::Error> {
        Ok(Self { pins, media, bucket, vault: Vault::new(aws), client: service::client()? })
    }

    /// Advances all files that are due at `now` (Unix seconds), or stops at an error of the service.
    pub async fn run(&self, settings: &Settings, now: u64) -> Result<Pinned, StartError> {
        let (started, mut sum) = (Instant::now(), Pinned::default());
        let pause = self.pins.pause().await?;
        if pause.until > now {
            return Ok(sum);
        }
        let mut due = self.pins.due(now, AT_ONCE).await?;
        if due.is_empty() {
            return Ok(sum);
        }
        // Read by each run, so that a new token counts at once.
        let token = self.vault.text(&settings.secret).await?;
        let service = PinningService::new(&self.client, &settings.endpoint, token, &settings.origins);
        let mut ended: Option<Option<Duration>> = None;
        while ended.is_none() && !due.is_empty() && started.elapsed() < RUN {
            let jobs = stream::iter(due).map(|job| self.advance(&service, job, now));
            let results: Vec<_> = jobs.buffer_unordered(AT_ONCE.into()).collect().await;
            for result in results {
                match result {
                    Ok(Some(Status::Pinned)) => sum.pinned += 1,
                    Ok(Some(Status::Queued | Status::Pinning)) => sum.waiting += 1,
                    Ok(Some(Status::Failed)) => sum.failed += 1,
                    Ok(None) => {}
                    Err(PinError::Service(error)) => {
                        sum.failed += 1;
                        ended = ended.max(error.is_of_service().then(|| error.retry_after()));
                    }
                    Err(PinError::Blocks(_)) => sum.failed += 1,
                    Err(PinError::Row(error)) => return Err(error.into()),
                }
            }
            due = self.pins.due(now, AT_ONCE).await?;
        }
        self.note(pause, ended, now).await?;
        tracing::info!(sum.pinned, sum.waiting, sum.failed, "pin jobs advanced");
        telemetry::record(&[], &[(Metric::PinFailures, i64::try_from(sum.failed).unwrap_or(i64::MAX))]);
        Ok(sum)
    }

    /// Begins a pause after an error of the service, or forgets the last one.
    async fn note(&self, pause: PinPause, ended: Option<Option<Duration>>, now: u64) -> Result<(), StoreError> {
        match ended {
            Some(asked) => {
                let asked = asked.map_or(0, |asked| asked.as_secs().min(LONGEST_ASKED));
                let seconds = growing(PAUSES, 2, pause.failures).max(asked);
                self.pins.set_pause(PinPause { until: now + seconds, failures: pause.failures.saturating_add(1) }).await
            }
            None if pause != PinPause::default() => self.pins.set_pause(PinPause::default()).await,
            None => Ok(()),
        }
    }

    /// Takes a file one step further. Returns its status; `None` if another run has it.
    async fn advance(&self, service: &PinningService<'_>, job: PinJob, now: u64) -> Result<Option<Status>, PinError> {
        let Some(KeptContent::Stored(_)) = self.media.content(job.cid).await? else {
            return self.unpin(service, job, now).await;
        };
        let Some(job) = self.cut(job, now).await? else { return Ok(None) };
        match ask(service, &job).await {
            Ok(found) => self.note_status(job, found, now).await,
            Err(error) => {
                tracing::warn!(cid = %job.cid, job.failures, error = telemetry::chain(&error), "file not pinned");
                if error.is_of_file() {
                    self.retry(job, now).await?;
                }
                Err(error.into())
            }
        }
    }

    /// Ends what was asked for a file that the operator removed, or its last holder deleted.
    async fn unpin(&self, service: &PinningService<'_>, job: PinJob, now: u64) -> Result<Option<Status>, PinError> {
        match service.remove(job.cid).await {
            Ok(()) => {
                self.media.finish_unpin(&job).await?;
                tracing::info!(cid = %job.cid, "file unpinned");
                Ok(None)
            }
            Err(error) => {
                tracing::warn!(cid = %job.cid, job.failures, error = telemetry::chain(&error), "file not unpinned");
                self.retry(job, now).await?;
                Err(error.into())
            }
        }
    }

    /// Stores the file's blocks, once.
    async fn cut(&self, job: PinJob, now: u64) -> Result<Option<PinJob>, PinError> {
        if job.is_cut || job.cid.is_raw() {
            return Ok(Some(job));
        }
        // One that never ends must not keep the others from being taken.
        let Some(job) = self.pins.put_off(&job, job.clone(), now + CUTTING).await? else { return Ok(None) };
        match blocks::store(&self.media, &self.bucket, job.cid).await {
            Ok(()) => Ok(self.pins.put_off(&job, PinJob { is_cut: true, ..job.clone() }, now).await?),
            Err(error) => {
                tracing::warn!(cid = %job.cid, job.failures, error = telemetry::chain(&error), "blocks of file not stored");
                self.retry(job, now).await?;
                Err(error.into())
            }
        }
    }

    async fn note_status(&self, job: PinJob, found: PinStatus, now: u64) -> Result<Option<Status>, PinError> {
        match found.status {
            Status::Pinned => {
                self.media.finish_pin(&job, now).await?;
                tracing::info!(cid = %job.cid, "file pinned");
            }
            Status::Queued | Status::Pinning => {
                let next = PinJob { request: Some(found.requestid), looks: job.looks.saturating_add(1), ..job.clone() };
                self.pins.put_off(&job, next, now + growing(LOOKS, 2, job.looks)).await?;
            }
            Status::Failed => {
                tracing::warn!(cid = %job.cid, job.failures, details = found.details(), "file given up by the pinning service");
                self.retry(job, now).await?;
            }
        }
        Ok(Some(found.status))
    }

    async fn retry(&self, job: PinJob, now: u64) -> Result<(), StoreError> {
        let next = PinJob { request: None, looks: 0, failures: job.failures.saturating_add(1), ..job.clone() };
        self.pins.put_off(&job, next, now + growing(RETRIES, 3, job.failures)).await?;
        Ok(())
    }
}

async fn ask(service: &PinningService<'_>, job: &PinJob) -> Result<PinStatus, PinningError> {
    if let Some(request) = &job.request
        && let Some(found) = service.status(request).await?
    {
        return Ok(found);
    }
    service.add(job.cid).await
}

/// `first` times `factor` to the power of `times`, up to `longest`.
fn growing((first, longest): (u64, u64), factor: u64, times: u32) -> u64 {
    first.saturating_mul(factor.saturating_pow(times)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_grows_up_to_its_maximum() {
        let pauses = |range, factor| [0, 1, 2, 5, u32::MAX].map(|times| growing(range, factor, times));
        assert_eq!(pauses(LOOKS, 2), [5, 10, 20, 160, 3_600]);
        assert_eq!(pauses(RETRIES, 3), [60, 180, 540, 14_580, 21_600]);
        assert_eq!(pauses(PAUSES, 2), [60, 120, 240, 900, 900]);
    }
}
