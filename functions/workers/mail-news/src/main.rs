//! Mails artists what others did with their moments, and people what they were given, on a schedule. A run may end at any line: what it had begun is due again
//! ten minutes later, and is mailed twice if it ended between the mail and its deletion.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use alloy::primitives::U256;
use lambda_runtime::LambdaEvent;
use shared::{
    api::read::{Reader, Site},
    auth::mail_budget::{NewsBudget, NewsRoom},
    clock,
    config::{self, StartError},
    mail::{GivenCopies, Mailer, MomentNews, NewsLetter},
    model::{Address, Amount, Email, MomentRef, NewsMails},
    store::{
        artist::{ArtistTable, Artists, DueNews, News, NewsQueue},
        chain::ChainTable,
        secret::{SecretTable, StoppedMails},
    },
    telemetry::{
        self,
        trace::{self, ScheduledEvent},
    },
};

/// Longest run, well within the function's timeout.
const RUN: Duration = Duration::from_secs(200);

/// Artists who are looked up at a time.
const AT_A_TIME: u16 = 25;

/// When a mail that was begun is due again, in seconds: after the longest run has ended.
const AGAIN: u64 = 10 * 60;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let post = &Post::from_env().await?;
    trace::run(move |_: LambdaEvent<ScheduledEvent>| post.run()).await
}

struct Post {
    news: NewsQueue,
    artists: Artists,
    reader: Reader,
    stopped: StoppedMails,
    budget: NewsBudget,
    mailer: Mailer,
    site: Site,
}

/// What happened to a moment.
#[derive(Default)]
struct Happened {
    collected: U256,
    comments: usize,
    given: U256,
    giver: Option<Address>,
}

/// What became of an artist's mail.
enum Mailed {
    /// It was sent, or nobody is to have it.
    Done,
    /// There is no room: it is due again as what was begun.
    Waits,
    /// It waits until then, in Unix seconds.
    Until(u64),
}

impl Post {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, secrets) = (ArtistTable::from_env(&aws)?, SecretTable::from_env(&aws)?);
        Ok(Self {
            news: NewsQueue::new(artists.clone()),
            artists: Artists::new(artists.clone()),
            reader: Reader::from_env(ChainTable::from_env(&aws)?, artists)?,
            stopped: StoppedMails::new(secrets.clone()),
            budget: NewsBudget::from_env(secrets)?,
            mailer: Mailer::from_env(&aws)?,
            site: Site::from_env(),
        })
    }

    /// One artist whose mail fails doesn't hold up the others.
    async fn run(&self) -> Result<(), StartError> {
        let until = Instant::now() + RUN;
        let mut failed = None;
        loop {
            let due = self.news.due(clock::now()?.as_secs(), AT_A_TIME).await?;
            if due.is_empty() {
                break;
            }
            for news in due {
                if Instant::now() > until {
                    return failed.map_or(Ok(()), Err);
                }
                if let Err(error) = self.mail(&news).await {
                    let cause = telemetry::chain(&*error);
                    tracing::error!(artist.id = %news.artist_id, error = cause, "news not mailed");
                    failed = Some(error);
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn mail(&self, due: &DueNews) -> Result<(), StartError> {
        let now = clock::now()?;
        // Another run may have it.
        let Some(begun) = self.news.put_off(due, now.as_secs() + AGAIN).await? else { return Ok(()) };
        let news = self.news.news(begun.artist_id).await?;
        match self.send(&begun, &news, now).await? {
            Mailed::Done => self.news.remove(&begun, &news).await?,
            Mailed::Waits => {}
            Mailed::Until(due) => {
                self.news.put_off(&begun, due).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, begun: &DueNews, news: &[News], now: Duration) -> Result<Mailed, StartError> {
        let (artist, seconds) = (begun.artist_id, now.as_secs());
        let Some((email, most)) = self.recipient(begun, news, seconds).await? else { return Ok(Mailed::Done) };
        match self.budget.admit(artist, most, now).await? {
            NewsRoom::Free => {}
            NewsRoom::ArtistHadEnough => {
                return Ok(NewsMails::Daily.due(artist, seconds).map_or(Mailed::Waits, Mailed::Until));
            }
            NewsRoom::UsedUp => return Ok(Mailed::Waits),
        }
        let token = self.news.unsubscribe_token(artist).await?.to_string();
        let letter = NewsLetter {
            moments: self.moments(news).await?,
            origin: self.site.endpoint(""),
            unsubscribe: self.site.endpoint(&format!("/mails/unsubscribe?token={token}")),
            token,
        };
        self.mailer.send_news(&email, &letter).await?;
        Ok(Mailed::Done)
    }

    /// Who gets the mail, and how many such in a day; nobody who doesn't want it, has no address, or whose mails came back.
    async fn recipient(&self, begun: &DueNews, news: &[News], now: u64) -> Result<Option<(Email, u32)>, StartError> {
        if news.is_empty() || self.news.choice(begun.artist_id).await? == NewsMails::None {
            return Ok(None);
        }
        let (email, most) = match self.artists.contact(begun.artist_id, now).await?.email {
            Some(email) => (email, NewsBudget::OF_ARTIST),
            None => match news.iter().find_map(|news| news.giver.as_ref()?.email.clone()) {
                Some(email) => (email, NewsBudget::OF_STRANGER),
                None => return Ok(None),
            },
        };
        Ok((!self.stopped.is_stopped(&email, now).await?).then_some((email, most)))
    }

    /// What happened to each moment, most first. Two reads for each that is named, one for who gave something.
    async fn moments(&self, news: &[News]) -> Result<Vec<MomentNews>, StartError> {
        let mut all: BTreeMap<MomentRef, Happened> = BTreeMap::new();
        for each in news {
            let happened = all.entry(each.moment()).or_default();
            match (&each.giver, each.copies) {
                (Some(giver), Some(Amount(given))) => {
                    happened.given = happened.given.saturating_add(given);
                    happened.giver = Some(giver.account);
                }
                (None, Some(Amount(collected))) => happened.collected = happened.collected.saturating_add(collected),
                (_, None) => happened.comments += 1,
            }
        }
        let names = self.reader.names(all.values().filter_map(|happened| happened.giver)).await?;
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(_, happened)| Reverse((happened.collected, happened.comments)));
        let mut told = Vec::new();
        for (index, (place, happened)) in all.into_iter().enumerate() {
            let Happened { collected, comments, given, giver } = happened;
            let is_named = index < NewsLetter::NAMED && giver.is_none();
            let name = if is_named { self.name(&place).await? } else { String::new() };
            let copies = (!collected.is_zero()).then(|| collected.to_string());
            let gift = giver.map(|giver| GivenCopies {
                copies: given.to_string(),
                from: names.get(&giver).cloned().unwrap_or_default(),
            });
            told.push(MomentNews { name, page: self.site.moment(&place), copies, comments, gift });
        }
        Ok(told)
    }

    async fn name(&self, place: &MomentRef) -> Result<String, StartError> {
        let moment = self.reader.moment(place).await?.filter(|moment| !moment.is_withheld);
        Ok(moment.and_then(|moment| moment.metadata).map(|metadata| metadata.name).unwrap_or_default())
    }
}
