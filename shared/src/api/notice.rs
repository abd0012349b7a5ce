//! Mails of what happened to an account. Each artist has a budget of them, so that nobody who has a token can use up the
//! service's, or bury one mail among many.

use std::time::Duration;

use crate::{
    auth::{mail_budget::KeptMails, service_address::ServiceAddress},
    clock,
    config::StartError,
    http::{ApiError, Request},
    mail::{Mailer, Notice},
    model::{ActivityKind, ArtistId, DAY, Email},
    store::{
        StoreError,
        secret::{RequestCounts, SecretTable, StoppedMails},
    },
    telemetry,
};

const HOUR: u64 = 60 * 60;
const HOURLY: u32 = 10;
const DAILY: u32 = 30;

/// Mails notices.
#[derive(Clone)]
pub struct NoticeMailer {
    mailer: Mailer,
    address: ServiceAddress,
    counts: RequestCounts,
    kept: KeptMails,
    stopped: StoppedMails,
}

/// What a budget says to the next notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// The first of its kind in a day.
    First,
    Notice,
    /// The last mail before the budget is renewed says that there is more.
    MoreHappened,
    Nothing,
}

impl NoticeMailer {
    /// Reads `MAIL_SENDER`, `MAIL_SETTINGS`, `TOKEN_ISSUER` and `MAILS_DAILY`; budgets are counted in the secret table.
    pub fn from_env(aws: &aws_config::SdkConfig, secrets: SecretTable) -> Result<Self, StartError> {
        Ok(Self {
            mailer: Mailer::from_env(aws)?,
            address: ServiceAddress::from_env(),
            counts: RequestCounts::new(secrets.clone()),
            kept: KeptMails::from_env(secrets.clone())?,
            stopped: StoppedMails::new(secrets),
        })
    }

    /// Mails what happened, within the artist's budget. Never fails. A read, up to four writes and a mail.
    pub async fn send(&self, request: &Request, to: &Email, artist: ArtistId, kind: ActivityKind, subject: &str) {
        let Some(what) = kind.notice() else { return };
        let sent = async {
            let now = clock::now()?;
            match self.allowance(artist, kind, now).await? {
                Allowance::First => {
                    let sent = self.mail(request, to, what, subject, now).await;
                    if !matches!(sent, Ok(true)) {
                        self.counts.reset(&subject_of(&first_of(kind, artist), DAY), now.as_secs() / DAY).await?;
                    }
                    sent
                }
                Allowance::Notice => self.mail(request, to, what, subject, now).await,
                Allowance::MoreHappened => {
                    let what = "More happened to your account than is mailed one by one: look through its activity";
                    self.mail(request, to, what, "", now).await
                }
                Allowance::Nothing => Ok(false),
            }
        };
        log_failure(request, sent.await);
    }

    /// Tells the owner of a mailbox that codes don't work on unknown devices any more. Never fails.
    pub async fn send_guessing(&self, request: &Request, to: &Email) {
        let what = "There were 100 failed sign-in attempts for this address. Codes now only work on devices that you signed \
                    in on before; the link in each mail goes on working everywhere";
        let sent = async { self.mail(request, to, what, "", clock::now()?).await };
        log_failure(request, sent.await);
    }

    /// Returns `false` if the mailbox gets no mails, or the service has none left.
    async fn mail(
        &self,
        request: &Request,
        to: &Email,
        what: &str,
        subject: &str,
        now: Duration,
    ) -> Result<bool, ApiError> {
        if self.stopped.is_stopped(to, now.as_secs()).await? || !self.kept.admits(now).await? {
            return Ok(false);
        }
        let (when, origin) = (clock::iso_8601(now.as_secs())?, self.address.of(request)?);
        let (network, origin) = (request.client_network(), origin.as_str().trim_end_matches('/'));
        let notice = Notice { what, subject, when: &when, network: &network, origin };
        let sent = self.mailer.send_notice(to, &notice).await;
        sent.map(|()| true).map_err(|error| ApiError::bad_gateway("The mail wasn't sent", error))
    }

    async fn allowance(&self, artist: ArtistId, kind: ActivityKind, now: Duration) -> Result<Allowance, StoreError> {
        let is_grave = is_grave(kind);
        // Repeating one of them doesn't use up the mail of another.
        if is_grave && self.count(&first_of(kind, artist), DAY, now).await? == 1 {
            return Ok(Allowance::First);
        }
        // What a thief can repeat for nothing doesn't use up the mails that tell of a lost account.
        let budget = if is_grave { format!("grave#{artist}") } else { artist.to_string() };
        let (of_day, of_hour) = tokio::try_join!(self.count(&budget, DAY, now), self.count(&budget, HOUR, now))?;
        Ok(allowance_of(of_day, of_hour, is_grave))
    }

    /// Counts a notice of a budget in its window of so many seconds. One write.
    async fn count(&self, budget: &str, seconds: u64, now: Duration) -> Result<u32, StoreError> {
        let window = now.as_secs() / seconds;
        self.counts.count(&subject_of(budget, seconds), window, (window + 2) * seconds).await
    }
}

/// The budget of the first notice of a kind in a day.
fn first_of(kind: ActivityKind, artist: ArtistId) -> String {
    format!("{kind:?}#{artist}")
}

fn subject_of(budget: &str, seconds: u64) -> String {
    format!("notice#{budget}#{seconds}")
}

/// `of_day` and `of_hour` count the notices of a budget, this one included.
fn allowance_of(of_day: u32, of_hour: u32, is_grave: bool) -> Allowance {
    if of_day <= DAILY && of_hour <= HOURLY {
        return Allowance::Notice;
    }
    let is_first_over = if of_day <= DAILY { of_hour == HOURLY + 1 } else { of_day == DAILY + 1 };
    // No budget is so used up that an hour passes in silence in which the account could be lost.
    let is_first_of_hour = is_grave && of_hour == 1;
    if is_first_over || is_first_of_hour { Allowance::MoreHappened } else { Allowance::Nothing }
}

/// Whether it decides who has the account or its money, unlike what a thief can repeat for nothing.
fn is_grave(kind: ActivityKind) -> bool {
    use ActivityKind::{DeletionCancelled, KeyCreated, SignedOutEverywhere, WebhookChanged, WebhookCreated};
    !matches!(kind, KeyCreated | WebhookCreated | WebhookChanged | SignedOutEverywhere | DeletionCancelled)
}

fn log_failure(request: &Request, sent: Result<bool, ApiError>) {
    if let Err(error) = sent {
        let cause = error.cause().map(telemetry::chain);
        tracing::error!(request.id = request.id(), error = cause, "notice not mailed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_ends_with_one_mail_that_says_there_is_more() {
        let said: Vec<_> = (1..=13).map(|hits| allowance_of(hits, hits, false)).collect();
        assert_eq!(said[..10], [Allowance::Notice; 10]);
        assert_eq!(said[10..], [Allowance::MoreHappened, Allowance::Nothing, Allowance::Nothing]);
        assert_eq!(allowance_of(31, 1, false), Allowance::MoreHappened);
        assert_eq!(allowance_of(32, 1, false), Allowance::Nothing);
    }

    #[test]
    fn used_up_day_tells_once_an_hour_that_there_is_more_of_what_is_grave() {
        let said: Vec<_> = (1..=12).map(|of_hour| allowance_of(40 + of_hour, of_hour, true)).collect();
        assert_eq!(said[0], Allowance::MoreHappened);
        assert_eq!(said[1..], [Allowance::Nothing; 11]);
    }
}
