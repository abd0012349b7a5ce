//! The operator's desk: what was reported, and what is done about it. It works with the operator's own identity on the
//! artist table; no function may do the same.

mod files;
mod lists;
mod page;
mod queue;
mod sign_out;
mod words;

use std::{
    env,
    time::{Duration, Instant},
};

use shared::{
    auth::credentials::Credentials,
    bucket::Bucket,
    chain::Chains,
    clock, config,
    mail::Mailer,
    model::{Action, Address, ArtistId, Reason, Subject},
    store::{
        artist::{
            Activities, ArtistTable, Artists, Decision, Dismissal, Media, Moderation, Outbox, Proposal, ReportedSubject,
        },
        chain::{ChainTable, Comments, Documents, Moments, PreviewQueue, Timelines},
        secret::SecretTable,
    },
};

pub use self::page::DeskPage;
use self::{
    queue::Case,
    words::{USAGE, date, ended, logged, printable, sentence, state},
};
use crate::{Error, objects::Objects, stack_map::StackMap};

/// Who decides at a local stack.
pub const LOCAL_OPERATOR: &str = "the operator of this machine";

/// How long the index may take to follow a decision.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(120);

/// The desk of one stage.
pub struct Desk {
    bucket: Bucket,
    objects: Objects,
    chains: Chains,
    timelines: Timelines,
    moments: Moments,
    comments: Comments,
    documents: Documents,
    previews: PreviewQueue,
    inbox: Outbox,
    artists: Artists,
    activities: Activities,
    credentials: Credentials,
    media: Media,
    moderation: Moderation,
    mailer: Mailer,
    operator: String,
    /// Where artists' answers go.
    appeals: String,
    /// Address of the pages for people, without a slash at its end; empty if it isn't known.
    site: String,
}

/// What a desk works with besides tables.
struct Outside {
    secrets: SecretTable,
    bucket: Bucket,
    objects: Objects,
    chains: Chains,
    mailer: Mailer,
    operator: String,
    appeals: String,
    site: String,
}

/// What is to be decided.
struct Ruling {
    subject: Subject,
    action: Action,
    reason: Reason,
    /// When it ends by itself, in Unix seconds.
    until: Option<u64>,
    note: String,
}

impl Desk {
    /// The stage with the tables `ARTIST_TABLE`, `SECRET_TABLE` and `CHAIN_TABLE`, the bucket `MEDIA_BUCKET` and the chains
    /// `CHAINS`, by the credentials in the environment; `DESK_OPERATOR` is who decides, `DESK_APPEALS` whom artists answer,
    /// `DESK_SITE` where the pages for people are.
    pub async fn of_account() -> Result<Self, Error> {
        let aws = config::aws().await;
        let named = |name: &str| env::var(name).map_err(|_| format!("{name} is required"));
        let outside = Outside {
            secrets: SecretTable::from_env(&aws)?,
            bucket: Bucket::from_env(&aws)?,
            objects: Objects::new(&aws, named("MEDIA_BUCKET")?),
            chains: Chains::from_env()?,
            mailer: Mailer::from_env(&aws)?,
            operator: named("DESK_OPERATOR")?,
            appeals: named("DESK_APPEALS")?,
            site: env::var("DESK_SITE").unwrap_or_default(),
        };
        Ok(Self::of(ArtistTable::from_env(&aws)?, ChainTable::from_env(&aws)?, outside))
    }

    /// A running local stack's.
    pub async fn of_stack(stack: &StackMap, operator: &str) -> Result<Self, Error> {
        let endpoints = stack.endpoints();
        let named = |name: &str| stack.names.get(name).cloned().ok_or_else(|| format!("the stack has no {name}"));
        let (rows, aws) = (endpoints.sdk_config(&stack.dynamodb).await, endpoints.sdk_config(&stack.aws).await);
        let (artists, chain) =
            (ArtistTable::new(&rows, named("ArtistTable")?), ChainTable::new(&rows, named("ChainTable")?));
        let outside = Outside {
            secrets: SecretTable::new(&rows, named("SecretTable")?),
            bucket: Bucket::new(&aws, named("MediaBucket")?),
            objects: Objects::new(&aws, named("MediaBucket")?),
            chains: named("Chains")?.parse()?,
            mailer: Mailer::new(&aws, named("MailSender")?, None),
            operator: operator.to_owned(),
            appeals: named("MailSender")?,
            site: stack.api.trim_end_matches("/api").to_owned(),
        };
        Ok(Self::of(artists, chain, outside))
    }

    fn of(artists: ArtistTable, chain: ChainTable, outside: Outside) -> Self {
        let Outside { secrets, bucket, objects, chains, mailer, operator, appeals, site } = outside;
        Self {
            bucket,
            objects,
            chains,
            timelines: Timelines::new(chain.clone()),
            moments: Moments::new(chain.clone()),
            comments: Comments::new(chain.clone()),
            documents: Documents::new(chain.clone()),
            previews: PreviewQueue::new(chain),
            inbox: Outbox::new(artists.clone()),
            artists: Artists::new(artists.clone()),
            activities: Activities::new(artists.clone()),
            credentials: Credentials::new(artists.clone(), secrets),
            media: Media::new(artists.clone()),
            moderation: Moderation::new(artists),
            mailer,
            operator,
            appeals,
            site: site.trim_end_matches('/').to_owned(),
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
            [action @ ("hide" | "remove" | "suspend"), subject, reason, ref note @ ..] if !note.is_empty() => {
                let (until, note) = match *note {
                    ["until", end, ref note @ ..] if !note.is_empty() => (Some(end_of(end)?), note.join(" ")),
                    ref note => (None, note.join(" ")),
                };
                let (subject, action, reason) = (subject.parse()?, action.parse()?, reason.parse()?);
                self.decide(Ruling { subject, action, reason, until, note }).await
            }
            ["dismiss", subject, ref note @ ..] if !note.is_empty() => {
                self.dismiss(subject.parse()?, note.join(" ")).await
            }
            ["undo", subject] => self.undo(subject.parse()?, &[Action::Hide, Action::Remove]).await,
            ["reinstate", artist] => self.undo(artist.parse()?, &[Action::Suspend]).await,
            ["sign-out", artist] => self.sign_out(artist.parse()?).await,
            ["export"] => self.export().await,
            ["import", file, from] => self.import(file, from).await,
            ["take", subject, ref note @ ..] if !note.is_empty() => self.take(subject.parse()?, note.join(" ")).await,
            ["decline", subject] => self.decline(subject.parse()?).await,
            _ => Err(USAGE.into()),
        }
    }

    /// What waits for a decision, then what was decided, then pictures elsewhere that went with a moment: others that
    /// name them have no previews either.
    async fn list(&self) -> Result<String, Error> {
        let (open, decisions) = tokio::try_join!(self.queue(), self.decisions())?;
        let mut lines = Vec::new();
        for case in open {
            lines.push(match case {
                Case::Reported(each) => {
                    let (reports, at) = (each.reports - each.dismissed, date(each.last_at)?);
                    format!("{}  {reports} reports, the last for {}, {at}", each.subject, each.reason)
                }
                Case::Proposed(Proposal { subject, action, reason, from, at }) => {
                    format!("{subject}  {action} for {reason} is proposed by {from}, {}", date(at)?)
                }
            });
        }
        for decision in &decisions {
            let Decision { subject, reason, by, at, .. } = decision;
            lines.push(format!("{subject}  {} for {reason} by {by}, {}", state(decision)?, date(*at)?));
        }
        for picture in self.moderation.removed_pictures().await?.into_iter().filter(|picture| picture.file.is_none()) {
            let uri = picture.uri.map_or_else(|| "a picture elsewhere".to_owned(), |uri| printable(&uri));
            lines.push(format!("{uri}  has no previews anywhere, for {}", picture.reason));
        }
        Ok(if lines.is_empty() { "nothing is reported or decided".to_owned() } else { lines.join("\n") })
    }

    async fn show(&self, subject: &Subject) -> Result<String, Error> {
        let (reports, decisions) = tokio::try_join!(self.moderation.reports(subject), self.moderation.about(subject))?;
        let mut lines = Vec::new();
        for decision in &decisions {
            let Decision { reason, note, by, at, .. } = decision;
            lines.push(format!("{} for {reason} by {by}, {}: {note}", state(decision)?, date(*at)?));
        }
        if lines.is_empty() {
            lines.push("nothing is decided".to_owned());
        }
        for report in reports {
            let statement =
                report.statement.map(|text| format!(": {}", printable(&text.to_string()))).unwrap_or_default();
            let email = report.email.map(|email| format!(" from {email}")).unwrap_or_default();
            lines.push(format!("{}  {}{email}{statement}", date(report.at)?, report.reason));
        }
        Ok(lines.join("\n"))
    }

    async fn decide(&self, ruling: Ruling) -> Result<String, Error> {
        let Ruling { subject, action, reason, until, note } = ruling;
        let (subject, now) = (self.named(subject).await?, clock::now()?.as_secs());
        let action = match (action, subject) {
            (Action::Hide, Subject::File(_)) => Action::Remove,
            (Action::Hide, _) | (Action::Remove, Subject::Moment(_) | Subject::File(_)) => action,
            (Action::Suspend, Subject::Artist(account)) if self.artists.profile_of(account).await?.is_some() => action,
            (Action::Remove, _) => return Err("moments and files are removed: hide the rest".into()),
            (Action::Suspend, _) => return Err(format!("{subject} is no artist of this service").into()),
        };
        if until.is_some() && action != Action::Suspend && subject.chain().is_none_or(|_| action == Action::Remove) {
            return Err("what is removed, and an artist's name, come back when you undo it: leave the end out".into());
        }
        let by = self.operator.clone();
        let decision = Decision { subject, action, reason, note, by, at: now, until, with: None };
        let month = date(now)?.chars().take(7).collect::<String>();
        let owner = self.owner(&subject).await?;
        let is_new = self.moderation.decide(decision.clone(), owner, &month).await?;
        if !is_new {
            self.require_repeat(&decision).await?;
        }
        self.remove_files(&decision, &month).await?;
        let state = state(&decision)?;
        if is_new {
            let told = self.tell(owner, &decision, false).await?;
            return Ok(format!("{told}{}", self.followed(subject, &state).await?));
        }
        // A try that was broken off is brought to its end, and so is the edge, which is told after what succeeds.
        self.followed(subject, &format!("{state} already")).await
    }

    /// Fails unless the same was decided before.
    async fn require_repeat(&self, decision: &Decision) -> Result<(), Error> {
        let made = self.moderation.about(&decision.subject).await?;
        let terms = |decision: &Decision| (decision.action, decision.reason, decision.until, decision.with);
        if made.iter().any(|made| terms(made) == terms(decision)) {
            return Ok(());
        }
        let suspends = |decision: &Decision| decision.action == Action::Suspend;
        let known = made.iter().find(|made| suspends(made) == suspends(decision)).unwrap_or(decision);
        Err(format!("{} is {} already: undo that first", decision.subject, state(known)?).into())
    }

    /// Finds nothing in the reports of a subject so far.
    async fn dismiss(&self, subject: Subject, note: String) -> Result<String, Error> {
        let reported = self.moderation.reported().await?.into_iter().find(|each| each.subject == subject);
        let nothing = || format!("nothing is reported about {subject}");
        let dismissed = reported.filter(ReportedSubject::is_open).ok_or_else(nothing)?.reports;
        let (by, at) = (self.operator.clone(), clock::now()?.as_secs());
        match self.moderation.dismiss(&Dismissal { subject, dismissed, note, by, at }).await? {
            true => Ok(format!("{subject} stays; further reports come back here")),
            false => Err(nothing().into()),
        }
    }

    async fn undo(&self, subject: Subject, actions: &[Action]) -> Result<String, Error> {
        let (subject, now) = (self.named(subject).await?, clock::now()?.as_secs());
        let nothing = || format!("nothing is decided about {subject}");
        let decisions = self.moderation.about(&subject).await?;
        let decision = decisions.into_iter().find(|decision| actions.contains(&decision.action)).ok_or_else(nothing)?;
        let owner = self.owner(&subject).await?;
        // First, so that a try that was broken off can be made again.
        self.bring_files_back(&decision, now).await?;
        if !self.moderation.undo(decision.clone(), owner, &self.operator, now).await? {
            return Err(nothing().into());
        }
        let told = self.tell(owner, &decision, true).await?;
        Ok(format!("{told}{}", self.followed(subject, ended(decision.action)).await?))
    }

    /// The account whose it is.
    async fn owner(&self, subject: &Subject) -> Result<Option<Address>, Error> {
        Ok(match *subject {
            Subject::Moment(place) => self.moments.moment(&place).await?.map(|moment| moment.creator),
            Subject::Collection(chain, address) => {
                self.moments.collection(chain, address).await?.map(|collection| collection.creator)
            }
            Subject::Comment(chain, comment) => self.comments.find(chain, comment).await?.map(|comment| comment.sender),
            Subject::Artist(account) => Some(account),
            Subject::File(_) => None,
        })
    }

    /// Mails the artist, if it is one's, and returns what to print of that.
    async fn tell(&self, owner: Option<Address>, decision: &Decision, is_undone: bool) -> Result<String, Error> {
        let Some(owner) = owner else { return Ok(String::new()) };
        let Some(profile) = self.artists.profile_of(owner).await? else { return Ok(String::new()) };
        let contact = self.artists.contact(profile.artist.artist_id, clock::now()?.as_secs()).await?;
        let Some(email) = contact.email else { return Ok(String::new()) };
        let what = sentence(decision, is_undone)?;
        Ok(match self.mailer.send_decision(&email, &what, decision.reason, &self.appeals).await {
            Ok(()) => "the artist is told by mail\n".to_owned(),
            Err(error) => format!("the artist isn't told by mail: {error}\n"),
        })
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

/// When a decision ends, which must be later.
fn end_of(text: &str) -> Result<u64, Error> {
    let now = clock::now()?.as_secs();
    let end = clock::unix_seconds(text).filter(|end| *end > now);
    end.ok_or_else(|| format!("{text} is no time to come: write it as 2027-01-31 or 2027-01-31T12:00:00Z").into())
}
