//! How many mails the service sends in all: fewer than SES allows, since past its quota nobody could sign in. A quarter of a
//! day's is kept for mailboxes that signed in before, so that requests for made-up addresses don't use it up, and a quarter
//! for news of moments, which anybody can cause.

use std::{sync::Arc, time::Duration};

use super::{client_limit::ClientLimit, total_limit::TotalLimit};
use crate::{
    config::{self, ConfigError},
    http::{ApiError, RateLimit, Request},
    model::{self, ArtistId},
    store::{
        StoreError,
        secret::{RequestCounts, SecretTable},
    },
    telemetry::{self, Metric},
};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(model::DAY);

/// What a network may have in a day, as a multiple of what it may have in an hour.
const HOURS: u32 = 6;

/// A network's share of the sign-in mails: a tenth of an hour's and of a day's by default. One address, or /64, has less, so
/// that it leaves something to others, and as much as an office signs in with.
pub struct NetworkMails {
    own_hourly: ClientLimit,
    own_daily: ClientLimit,
    hourly: ClientLimit,
    daily: ClientLimit,
}

/// The budget of sign-in mails.
pub struct MailBudget {
    open_hourly: TotalLimit,
    open_daily: TotalLimit,
    kept: KeptMails,
}

/// The quarter of a day's mails that is kept for mailboxes that signed in before.
#[derive(Clone)]
pub struct KeptMails(Arc<TotalLimit>);

/// The quarter of a day's mails that is for news of moments, and each artist's part of it.
pub struct NewsBudget {
    all: TotalLimit,
    of_artists: RequestCounts,
}

/// Whether there is room for a mail of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsRoom {
    /// There is.
    Free,
    /// The artist had enough today.
    ArtistHadEnough,
    /// All artists together had.
    UsedUp,
}

/// Where the room for a mail came from.
#[derive(Debug)]
pub enum Room {
    /// From what is for everybody.
    Open,
    /// From what is kept for known mailboxes. A stranger is given this answer although the mail is sent: it is the one for
    /// unknown mailboxes, so that it doesn't tell whether the mailbox is known.
    Kept(ApiError),
}

impl MailBudget {
    /// Reads `MAILS_DAILY` (40000) and `CODES_TOTAL_HOURLY` (3000).
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        let (hourly, daily) = (config::parsed(config::variables::CODES_TOTAL_HOURLY)?, part_of_a_day(2)?);
        Ok(Self {
            open_hourly: TotalLimit::new(secrets.clone(), "mail#open", hourly, HOUR),
            open_daily: TotalLimit::new(secrets.clone(), "mail#open#day", daily, DAY),
            kept: KeptMails::from_env(secrets)?,
        })
    }

    /// Counts a sign-in mail; 429 if there is no room. Up to three writes.
    pub async fn admit_sign_in(&self, is_known_mailbox: bool, now: Duration) -> Result<Room, ApiError> {
        let wait = if !self.open_hourly.admits(now).await? {
            self.open_hourly.wait(now)
        } else if !self.open_daily.admits(now).await? {
            self.open_daily.wait(now)
        } else {
            return Ok(Room::Open);
        };
        let words = "The service is asked for too many mails. If you signed in with this address before, a mail is on its \
                     way; otherwise wait";
        let refusal = ApiError::too_many(words, wait.as_secs());
        telemetry::count(Metric::MailBudgetUsedUp);
        if is_known_mailbox && self.kept.admits(now).await? { Ok(Room::Kept(refusal)) } else { Err(refusal) }
    }
}

impl NetworkMails {
    /// Reads `CODES_PER_CLIENT_HOURLY` (300).
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        let hourly: u32 = config::parsed(config::variables::CODES_PER_CLIENT_HOURLY)?;
        let third = hourly.div_ceil(3);
        let of_client = |action: &'static str, thirds: u32, window: Duration| {
            ClientLimit::of_client(secrets.clone(), action, third.saturating_mul(thirds), window)
        };
        Ok(Self {
            own_hourly: of_client("code#own", 2, HOUR),
            own_daily: of_client("code#own#day", 4, DAY),
            hourly: ClientLimit::of_share(secrets.clone(), "code", hourly, HOUR),
            daily: ClientLimit::of_share(secrets, "code#day", hourly.saturating_mul(HOURS), DAY),
        })
    }

    /// Counts a sign-in mail and returns the state of the client's own limit of the hour; 429 over one. Twice two writes at
    /// once: what a client's own limits refuse doesn't count for others.
    pub async fn admit(&self, request: &Request, now: Duration) -> Result<RateLimit, ApiError> {
        let (hour, _) = tokio::try_join!(self.own_hourly.admit(request, now), self.own_daily.admit(request, now))?;
        tokio::try_join!(self.hourly.admit(request, now), self.daily.admit(request, now))?;
        Ok(hour)
    }
}

impl KeptMails {
    /// Reads `MAILS_DAILY` (40000).
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        Ok(Self(Arc::new(TotalLimit::new(secrets, "mail#kept#day", part_of_a_day(4)?, DAY))))
    }

    /// Counts a mail to a known mailbox; `false` if there is no room. One write.
    pub async fn admits(&self, now: Duration) -> Result<bool, StoreError> {
        let is_admitted = self.0.admits(now).await?;
        if !is_admitted {
            telemetry::count(Metric::MailBudgetUsedUp);
        }
        Ok(is_admitted)
    }
}

impl NewsBudget {
    /// Mails that an artist gets in a day.
    pub const OF_ARTIST: u32 = 12;
    /// Mails that somebody gets in a day who never signed in.
    pub const OF_STRANGER: u32 = 3;

    /// Reads `MAILS_DAILY` (40000).
    pub fn from_env(secrets: SecretTable) -> Result<Self, ConfigError> {
        let all = TotalLimit::new(secrets.clone(), "mail#news#day", part_of_a_day(4)?, DAY);
        Ok(Self { all, of_artists: RequestCounts::new(secrets) })
    }

    /// Counts a mail of news to an artist, who gets at most so many in a day. Two writes.
    pub async fn admit(&self, artist: ArtistId, most: u32, now: Duration) -> Result<NewsRoom, StoreError> {
        let (day, seconds) = (now.as_secs() / DAY.as_secs(), DAY.as_secs());
        let mailed = self.of_artists.count(&format!("mail#news#{artist}"), day, (day + 2) * seconds).await?;
        if mailed > most {
            return Ok(NewsRoom::ArtistHadEnough);
        }
        if self.all.admits(now).await? {
            return Ok(NewsRoom::Free);
        }
        telemetry::count(Metric::MailBudgetUsedUp);
        Ok(NewsRoom::UsedUp)
    }
}

/// One of so many equal parts of a day's mails.
fn part_of_a_day(parts: u32) -> Result<u32, ConfigError> {
    Ok(config::parsed::<u32>(config::variables::MAILS_DAILY)? / parts)
}
