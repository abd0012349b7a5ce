//! Reports, and what the operator decided. Rows: docs/data-model.md, Moderation.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::{TransactWriteItem, Update};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{
        Action, Address, ArtistChange, ArtistId, ChainId, Cid, CommentId, Email, Event, EventData, EventId,
        Fingerprint, ModerationEvent, MomentRef, Picture, Reason, Statement, Subject, Suspension,
    },
    store::{
        artist::{
            artists::{Artists, Outbox},
            media::Media,
            rows,
            service_events::ServiceEvents,
        },
        engine::table::{ArtistTable, PrimaryKey, StoreError, number, row, text, unless_refused, updating},
    },
};

/// For how long reports are kept, in seconds.
const KEPT_FOR: u64 = 180 * 24 * 60 * 60;

/// Most reports of a subject that nobody looked at; further ones are refused.
const KEPT: u32 = 1_000;

/// A report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Its id.
    pub id: Uuid,
    /// What it is about.
    pub subject: Subject,
    /// Why.
    pub reason: Reason,
    /// What else was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<Statement>,
    /// Address for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// When it came, in Unix seconds.
    pub at: u64,
}

/// A subject that was reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportedSubject {
    /// The subject.
    pub subject: Subject,
    /// Number of reports.
    pub reports: u32,
    /// Reason of the last one.
    pub reason: Reason,
    /// When the last one came, in Unix seconds.
    pub last_at: u64,
    /// How many of the reports the operator found nothing in.
    #[serde(default)]
    pub dismissed: u32,
}

impl ReportedSubject {
    /// Whether there are reports that nobody looked at.
    pub fn is_open(&self) -> bool {
        self.reports > self.dismissed
    }
}

/// A removed picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedPicture {
    /// Its file; `None` of one that is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Cid>,
    /// How the URI of one that is kept elsewhere begins, for the operator's eyes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its looks, if it isn't too plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Why it was removed.
    pub reason: Reason,
}

/// That the operator found nothing in a subject's reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dismissal {
    /// What they are about.
    pub subject: Subject,
    /// How many there were; further ones are looked at again.
    pub dismissed: u32,
    /// For the operator's own eyes.
    pub note: String,
    /// Who decided.
    pub by: String,
    /// When, in Unix seconds.
    pub at: u64,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What it is about.
    pub subject: Subject,
    /// What is done.
    #[serde(default)]
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// For the operator's own eyes.
    pub note: String,
    /// Who decided.
    pub by: String,
    /// When, in Unix seconds.
    pub at: u64,
    /// When it ends by itself, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// The moment whose removal removed this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Subject>,
}

/// What another service decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// What it is about.
    pub subject: Subject,
    /// What was done there.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// Whose decision it was.
    pub from: String,
    /// When it came here, in Unix seconds.
    pub at: u64,
}

/// An entry of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LogEntry {
    /// A decision was made or undone.
    Decided(LoggedDecision),
    /// Reports were dismissed.
    Dismissed(Dismissal),
}

/// That a decision was made or undone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoggedDecision {
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// Whether it was undone instead of made.
    pub is_undone: bool,
}

/// How many decisions a month had for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionCount {
    /// The month, such as `2026-11`.
    pub month: String,
    /// The reason.
    pub reason: Reason,
    /// Number of decisions.
    pub decisions: u32,
}

/// What the operator keeps out of sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Artists by all of their wallets.
    subjects: HashSet<Subject>,
    artists: HashSet<ArtistId>,
    /// Ends of decisions, in Unix seconds.
    ends: Vec<(u64, Subject)>,
}

/// Reports and decisions.
#[derive(Clone)]
pub struct Moderation(ArtistTable);

#[derive(Serialize)]
struct KeptReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    expires_at: u64,
}

impl Moderation {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Counts a report of its subject, and keeps it. Returns `false`, and changes nothing, if the subject has too many that
    /// nobody looked at. Two writes.
    pub async fn report(&self, report: &Report) -> Result<bool, StoreError> {
        let (key, expires_at) = (rows::reported_subject(&report.subject), report.at + KEPT_FOR);
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call
            .update_expression(
                "SET subject = :subject, reason = :reason, last_at = :now, expires_at = :end \
                 ADD reports :one, unseen :one",
            )
            // A condition can't subtract those that were dismissed.
            .condition_expression("attribute_not_exists(unseen) OR unseen < :kept")
            .expression_attribute_values(":subject", text(report.subject))
            .expression_attribute_values(":reason", text(report.reason))
            .expression_attribute_values(":now", number(report.at))
            .expression_attribute_values(":end", number(expires_at))
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":kept", number(KEPT));
        if unless_refused(call.dispatch().await)?.is_none() {
            return Ok(false);
        }
        let item = row(&rows::report(&report.subject, report.id), &KeptReport { report, expires_at })?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(true)
    }

    /// Returns the reported subjects, the latest first. A Query per megabyte.
    pub async fn reported(&self) -> Result<Vec<ReportedSubject>, StoreError> {
        let mut all: Vec<ReportedSubject> = self.0.partition(rows::reported_subjects()).await?;
        all.sort_by_key(|reported| std::cmp::Reverse(reported.last_at));
        Ok(all)
    }

    /// Dismisses the reports of a subject so far; `false` if there are none. One transaction.
    pub async fn dismiss(&self, dismissal: &Dismissal) -> Result<bool, StoreError> {
        let noted = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::reported_subject(&dismissal.subject).item()))
            .update_expression("SET dismissed = :dismissed, unseen = reports - :dismissed")
            .condition_expression("reports >= :dismissed")
            .expression_attribute_values(":dismissed", number(dismissal.dismissed));
        let entry = self.0.insertion(&rows::logged_decision(Uuid::now_v7()), dismissal)?;
        self.0.write_together(vec![updating(noted)?, entry]).await
    }

    /// Returns the reports of a subject that were kept, the oldest first. A Query per megabyte.
    pub async fn reports(&self, subject: &Subject) -> Result<Vec<Report>, StoreError> {
        self.0.partition(rows::reports(subject)).await
    }

    /// Returns the decisions about a subject: what is done with it, and of an artist the suspension. One read.
    pub async fn about(&self, subject: &Subject) -> Result<Vec<Decision>, StoreError> {
        self.0.get_many([rows::decision(subject), rows::suspension(subject)]).await
    }

    /// Returns all decisions that weren't undone. A Query per megabyte.
    pub async fn decisions(&self) -> Result<Vec<Decision>, StoreError> {
        self.0.partition(rows::decisions()).await
    }

    /// Returns what others decided and nobody here took or declined. A Query per megabyte.
    pub async fn proposals(&self) -> Result<Vec<Proposal>, StoreError> {
        self.0.partition(rows::proposals()).await
    }

    /// Keeps a proposal, in place of a former one about its subject. One write.
    pub async fn propose(&self, proposal: &Proposal) -> Result<(), StoreError> {
        let write = self.0.replacement(&rows::proposal(&proposal.subject), proposal)?;
        self.0.write_together(vec![write]).await.map(drop)
    }

    /// Remembers that the picture with this URI is removed, and how it looks. One write.
    pub async fn remember_picture(&self, uri: &str, picture: &RemovedPicture) -> Result<(), StoreError> {
        let write = self.0.replacement(&rows::removed_picture(&Picture::hash(uri)), picture)?;
        self.0.write_together(vec![write]).await.map(drop)
    }

    /// Forgets a picture that isn't removed any more. One write.
    pub async fn forget_picture(&self, uri: &str) -> Result<(), StoreError> {
        let write = self.0.deletion(&rows::removed_picture(&Picture::hash(uri)))?;
        self.0.write_together(vec![write]).await.map(drop)
    }

    /// Returns the picture with this URI if it is removed. One read.
    pub async fn removed_picture(&self, uri: &str) -> Result<Option<RemovedPicture>, StoreError> {
        self.0.get(&rows::removed_picture(&Picture::hash(uri))).await
    }

    /// Returns all removed pictures. A Query per megabyte.
    pub async fn removed_pictures(&self) -> Result<Vec<RemovedPicture>, StoreError> {
        self.0.partition(rows::removed_pictures()).await
    }

    /// Forgets a proposal. One write.
    pub async fn drop_proposal(&self, subject: &Subject) -> Result<(), StoreError> {
        self.0.write_together(vec![self.0.deletion(&rows::proposal(subject))?]).await.map(drop)
    }

    /// Returns what was decided, undone and dismissed, the oldest first. A Query per megabyte.
    pub async fn log(&self) -> Result<Vec<LogEntry>, StoreError> {
        self.0.partition(rows::decision_log()).await
    }

    /// Returns how many decisions each month had for each reason, the oldest first. One Query.
    pub async fn counts(&self) -> Result<Vec<DecisionCount>, StoreError> {
        self.0.partition(rows::decision_counts()).await
    }

    /// Carries out a decision, whatever its artists want, tells `owner`, whose it is, and counts it in `month`. Returns
    /// `false` if there is one already. A read and a transaction, for an artist's another read.
    pub async fn decide(&self, decision: Decision, owner: Option<Address>, month: &str) -> Result<bool, StoreError> {
        let key = key_of(&decision.subject, decision.action);
        let former: Option<Decision> = self.0.get(&key).await?;
        let mut writes = vec![match former {
            Some(former) if former.until.is_some_and(|end| end <= decision.at) => {
                self.0.replacement(&key, &decision)?
            }
            _ => self.0.insertion(&key, &decision)?,
        }];
        if decision.with.is_none() {
            writes.push(self.counting(decision.reason, month)?);
        }
        if let Subject::File(cid) = decision.subject {
            writes.extend(Media::new(self.0.clone()).removing(cid, Some(decision.reason)).await?);
        }
        self.carry_out(LoggedDecision { decision, is_undone: false }, owner, writes).await
    }

    /// Undoes a decision: its subject is as its artists left it. `by` is who undoes it, `now` in Unix seconds. Returns
    /// `false` if it is undone already. A few reads and a transaction.
    pub async fn undo(
        &self,
        decision: Decision,
        owner: Option<Address>,
        by: &str,
        now: u64,
    ) -> Result<bool, StoreError> {
        let mut writes = vec![self.0.removal(&key_of(&decision.subject, decision.action))?];
        if let Subject::File(cid) = decision.subject {
            writes.extend(Media::new(self.0.clone()).removing(cid, None).await?);
        }
        let undone = Decision { by: by.to_owned(), at: now, ..decision };
        self.carry_out(LoggedDecision { decision: undone, is_undone: true }, owner, writes).await
    }

    async fn carry_out(
        &self,
        entry: LoggedDecision,
        owner: Option<Address>,
        mut writes: Vec<TransactWriteItem>,
    ) -> Result<bool, StoreError> {
        let Decision { subject, action, reason, until, at, .. } = entry.decision;
        let events: Vec<Event> = owner.map(|owner| entry.event(owner)).into_iter().collect();
        let is_undone = entry.is_undone;
        if action != Action::Suspend {
            writes.push(self.posting(subject)?);
        }
        writes.push(self.logging(entry)?);
        let artists = Artists::new(self.0.clone());
        if let Subject::Artist(account) = subject
            && let Some(profile) = artists.profile_of(account).await?
        {
            let decided = artists.moderate(profile.artist.artist_id, (&writes, &events), at, |profile| match action {
                Action::Suspend => profile.suspension = (!is_undone).then_some(Suspension { reason, until }),
                Action::Hide | Action::Remove => profile.is_withheld = !is_undone,
            });
            return decided.await;
        }
        ServiceEvents::new(self.0.clone()).write_with_events(writes, &events, at).await
    }

    fn counting(&self, reason: Reason, month: &str) -> Result<TransactWriteItem, StoreError> {
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::decision_count(month, reason).item()))
            .update_expression("SET #month = :month, reason = :reason ADD decisions :one")
            .expression_attribute_names("#month", "month")
            .expression_attribute_values(":month", text(month))
            .expression_attribute_values(":reason", text(reason))
            .expression_attribute_values(":one", number(1));
        updating(count)
    }

    fn posting(&self, subject: Subject) -> Result<TransactWriteItem, StoreError> {
        Outbox::new(self.0.clone()).posting_decision(ArtistId::OPERATOR, ArtistChange::Decided { subject })
    }

    fn logging(&self, entry: LoggedDecision) -> Result<TransactWriteItem, StoreError> {
        self.0.insertion(&rows::logged_decision(Uuid::now_v7()), &entry)
    }
}

impl LoggedDecision {
    /// Tells the account whose it is.
    fn event(&self, account: Address) -> Event {
        let Decision { subject, action, reason, until, at, .. } = self.decision;
        let is_undone = self.is_undone;
        let data = ModerationEvent { about: subject, action, is_undone, reason, until, account };
        let id = EventId::named(&format!("moderation/{subject}/{action}/{is_undone}/{at}"));
        Event { id, time: at, is_reverted: false, data: EventData::ModerationChanged(data) }
    }
}

fn key_of(subject: &Subject, action: Action) -> PrimaryKey {
    match action {
        Action::Hide | Action::Remove => rows::decision(subject),
        Action::Suspend => rows::suspension(subject),
    }
}

impl Artists {
    /// Returns what is kept out of sight at `now`, in Unix seconds: for the indexer, never for a request. A Query per
    /// megabyte, and two reads for each artist.
    pub async fn withheld(&self, now: u64) -> Result<Withheld, StoreError> {
        let mut withheld = Withheld::default();
        for Decision { subject, action, until, .. } in Moderation::new(self.0.clone()).decisions().await? {
            withheld.ends.extend(until.map(|end| (end, subject)));
            if action == Action::Suspend || until.is_some_and(|end| end <= now) {
                continue;
            }
            withheld.subjects.insert(subject);
            let Subject::Artist(account) = subject else { continue };
            if let Some(profile) = self.profile_of(account).await? {
                withheld.artists.insert(profile.artist.artist_id);
                withheld.subjects.extend(profile.wallets.iter().map(|wallet| Subject::Artist(wallet.address)));
            }
        }
        Ok(withheld)
    }
}

impl Withheld {
    /// Whether a moment is kept out of sight, by itself, with its collection or with its creator.
    pub fn has(&self, moment: &MomentRef, creator: Address) -> bool {
        self.subjects.contains(&Subject::Moment(*moment))
            || self.has_collection(moment.chain, moment.collection, creator)
    }

    /// Whether a collection is kept out of sight, by itself or with its creator.
    pub fn has_collection(&self, chain: ChainId, collection: Address, creator: Address) -> bool {
        self.subjects.contains(&Subject::Collection(chain, collection))
            || self.subjects.contains(&Subject::Artist(creator))
    }

    /// Whether a comment is kept out of sight.
    pub fn has_comment(&self, chain: ChainId, comment: CommentId) -> bool {
        self.subjects.contains(&Subject::Comment(chain, comment))
    }

    /// What was kept out of sight until a time after `since` and not after `now`, both in Unix seconds.
    pub fn ended(&self, since: u64, now: u64) -> impl Iterator<Item = Subject> {
        let ended = self.ends.iter().filter(move |(end, _)| since < *end && *end <= now);
        ended.map(|(_, subject)| *subject)
    }

    /// Whether an artist is kept out of sight.
    pub fn has_artist(&self, artist: ArtistId) -> bool {
        self.artists.contains(&artist)
    }
}
