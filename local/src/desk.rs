//! The operator's desk: what was reported, and what is done about it. It works with the operator's own identity on the
//! artist table; no function may do the same.

use std::{
    env,
    time::{Duration, Instant},
};

use shared::{
    bucket::Bucket,
    chain::Chains,
    clock, config,
    model::{ArtistId, Cid, Picture, Reason, Subject},
    store::{
        artist::{ArtistTable, Artists, Decision, LoggedDecision, Media, Moderation, Outbox},
        chain::{ChainTable, Timelines},
    },
};

use crate::{Error, stack_map::StackMap};

const USAGE: &str = "usage: desk list | log | show <subject> | hide <subject> <reason> <note…> | undo <subject>; a subject is \
                     moment#<chain>#<collection>#<token>, collection#<chain>#<contract>, artist#<wallet>, \
                     comment#<chain>#<commentId> or cid#<file>; a reason is copyright, illegal, impersonation, spam or other";

/// How long the index may take to follow a decision.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(120);

/// The desk of one stage.
pub struct Desk {
    bucket: Bucket,
    chains: Chains,
    media: Media,
    timelines: Timelines,
    inbox: Outbox,
    artists: Artists,
    moderation: Moderation,
    operator: String,
}

impl Desk {
    /// The stage with the tables `ARTIST_TABLE` and `CHAIN_TABLE`, the bucket `MEDIA_BUCKET` and the chains `CHAINS`, by the
    /// credentials in the environment; `DESK_OPERATOR` is who decides.
    pub async fn of_account() -> Result<Self, Error> {
        let aws = config::aws().await;
        let tables = (ArtistTable::from_env(&aws)?, ChainTable::from_env(&aws)?);
        let operator = env::var("DESK_OPERATOR").map_err(|_| "DESK_OPERATOR is required: who decides")?;
        Ok(Self::of(tables, Bucket::from_env(&aws)?, Chains::from_env()?, operator))
    }

    /// A running local stack's.
    pub async fn of_stack(stack: &StackMap, operator: &str) -> Result<Self, Error> {
        let endpoints = stack.endpoints();
        let named = |name: &str| stack.names.get(name).ok_or_else(|| format!("the stack has no {name}"));
        let aws = endpoints.sdk_config(&stack.dynamodb).await;
        let tables = (ArtistTable::new(&aws, named("ArtistTable")?), ChainTable::new(&aws, named("ChainTable")?));
        let bucket = Bucket::new(&endpoints.sdk_config(&stack.aws).await, named("MediaBucket")?);
        Ok(Self::of(tables, bucket, named("Chains")?.parse()?, operator.to_owned()))
    }

    fn of((artists, chain): (ArtistTable, ChainTable), bucket: Bucket, chains: Chains, operator: String) -> Self {
        Self {
            bucket,
            chains,
            media: Media::new(artists.clone()),
            timelines: Timelines::new(chain),
            inbox: Outbox::new(artists.clone()),
            artists: Artists::new(artists.clone()),
            moderation: Moderation::new(artists),
            operator,
        }
    }

    /// Does what the arguments say, and returns what is to be printed.
    pub async fn run(&self, arguments: &[String]) -> Result<String, Error> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words[..] {
            ["list"] => self.list().await,
            ["log"] => {
                let lines = self.moderation.log().await?.iter().map(logged).collect::<Result<Vec<_>, _>>()?;
                Ok(lines.join("\n"))
            }
            ["show", subject] => self.show(&subject.parse()?).await,
            ["hide", subject, reason, ref note @ ..] if !note.is_empty() => {
                self.hide(subject.parse()?, reason.parse()?, &note.join(" ")).await
            }
            ["undo", subject] => self.undo(subject.parse()?).await,
            _ => Err(USAGE.into()),
        }
    }

    /// Subjects without a decision first come, the latest reported first.
    async fn list(&self) -> Result<String, Error> {
        let (reported, decisions) = tokio::try_join!(self.moderation.reported(), self.moderation.decisions())?;
        let open = reported.iter().filter(|each| decisions.iter().all(|decision| decision.subject != each.subject));
        let mut lines = Vec::new();
        for each in open {
            lines.push(format!(
                "{}  {} reports, the last for {}, {}",
                each.subject,
                each.reports,
                each.reason,
                date(each.last_at)?
            ));
        }
        for decision in &decisions {
            lines.push(format!(
                "{}  {} for {} by {}, {}",
                decision.subject,
                state(&decision.subject),
                decision.reason,
                decision.by,
                date(decision.at)?
            ));
        }
        Ok(if lines.is_empty() { "nothing is reported or decided".to_owned() } else { lines.join("\n") })
    }

    async fn show(&self, subject: &Subject) -> Result<String, Error> {
        let (reports, decision) =
            tokio::try_join!(self.moderation.reports(subject), self.moderation.decision(subject))?;
        let mut lines = vec![match decision {
            Some(Decision { reason, note, by, at, .. }) => {
                format!("{} for {reason} by {by}, {}: {note}", state(subject), date(at)?)
            }
            None => "nothing is decided".to_owned(),
        }];
        for report in reports {
            let statement =
                report.statement.map(|text| format!(": {}", printable(&text.to_string()))).unwrap_or_default();
            let email = report.email.map(|email| format!(" from {email}")).unwrap_or_default();
            lines.push(format!("{}  {}{email}{statement}", date(report.at)?, report.reason));
        }
        Ok(lines.join("\n"))
    }

    async fn hide(&self, subject: Subject, reason: Reason, note: &str) -> Result<String, Error> {
        let (subject, now) = (self.named(subject).await?, clock::now()?.as_secs());
        let (by, note) = (self.operator.clone(), note.to_owned());
        let decision = Decision { subject, reason, note, by, at: now };
        let month = date(now)?.chars().take(7).collect::<String>();
        let is_new = self.moderation.decide(decision, &month).await?;
        if let Subject::File(cid) = subject {
            self.take_away(cid).await?;
        }
        if !is_new {
            return Err(format!("{subject} is {} already: undo that first", state(&subject)).into());
        }
        self.followed(subject, state(&subject)).await
    }

    /// Moves a file away, so that signed addresses and blocks lead nowhere, and deletes its previews. What was done before
    /// stays as it is.
    async fn take_away(&self, cid: Cid) -> Result<(), Error> {
        if let Some(object) = self.media.object(cid).await? {
            self.bucket.rename(&object, &removed_object(&object)).await?;
        }
        Ok(self.bucket.delete_under(&Picture::objects(&Picture::hash(&format!("ipfs://{cid}")))).await?)
    }

    async fn undo(&self, subject: Subject) -> Result<String, Error> {
        let subject = self.named(subject).await?;
        if !self.moderation.undo(&subject, &self.operator, clock::now()?.as_secs()).await? {
            return Err(format!("nothing is decided about {subject}").into());
        }
        if let Subject::File(cid) = subject
            && let Some(object) = self.media.object(cid).await?
        {
            self.bucket.rename(&removed_object(&object), &object).await?;
        }
        self.followed(subject, "as its artists left it").await
    }

    /// The subject as decisions name it: an artist by the embedded wallet.
    async fn named(&self, subject: Subject) -> Result<Subject, Error> {
        let Subject::Artist(account) = subject else { return Ok(subject) };
        let profile = self.artists.profile_of(account).await?;
        Ok(Subject::Artist(profile.map_or(account, |profile| profile.artist.embedded_wallet)))
    }

    /// Waits until the index has followed. The edge would keep again what is asked for before.
    async fn followed(&self, subject: Subject, state: &str) -> Result<String, Error> {
        let end = Instant::now() + FOLLOWED_WITHIN;
        while !self.is_followed(subject).await? {
            if Instant::now() > end {
                return Ok(format!(
                    "{subject} is {state}, but the index hasn't followed in two minutes: look at its log"
                ));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(format!("{subject} is {state}"))
    }

    async fn is_followed(&self, subject: Subject) -> Result<bool, Error> {
        if self.inbox.has_any_of(ArtistId::OPERATOR).await? {
            return Ok(false);
        }
        for chain in self.chains.iter().filter(|chain| subject.chain().is_none_or(|of| of == chain.id)) {
            if !self.timelines.is_settled(chain.id).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn removed_object(object: &str) -> String {
    format!("removed/{object}")
}

/// What a decision makes of its subject.
fn state(subject: &Subject) -> &'static str {
    match subject {
        Subject::File(_) => "removed",
        _ => "hidden",
    }
}

/// On one line, and without what would steer a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn logged(entry: &LoggedDecision) -> Result<String, Error> {
    let Decision { subject, reason, note, by, at, .. } = &entry.decision;
    let what = if entry.is_undone { "shown again" } else { state(subject) };
    Ok(format!("{}  {subject}  {what} by {by} ({reason}: {note})", date(*at)?))
}

fn date(seconds: u64) -> Result<String, Error> {
    Ok(clock::iso_8601(seconds)?)
}
