//! Reports, and what the operator decided. Rows: docs/data-model.md, Moderation.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::{ReturnValue, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{Address, ArtistChange, ArtistId, ChainId, CommentId, Email, MomentRef, Reason, Statement, Subject},
    store::{
        artist::{
            artists::{Artists, Outbox},
            media::Media,
            rows,
        },
        engine::table::{ArtistTable, StoreError, number, row, text, updating},
    },
};

/// For how long reports are kept, in seconds.
const KEPT_FOR: u64 = 180 * 24 * 60 * 60;

/// Reports of a subject whose words are kept; further ones are counted.
const KEPT: u32 = 100;

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
}

/// A decision that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What it is about.
    pub subject: Subject,
    /// Why.
    pub reason: Reason,
    /// For the operator's own eyes.
    pub note: String,
    /// Who decided.
    pub by: String,
    /// When, in Unix seconds.
    pub at: u64,
}

/// An entry of the log.
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

#[derive(Deserialize)]
struct Counted {
    reports: u32,
}

impl Moderation {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Counts a report of its subject, and keeps it if the subject has few. Two writes.
    pub async fn report(&self, report: &Report) -> Result<(), StoreError> {
        let expires_at = report.at + KEPT_FOR;
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call
            .set_key(Some(rows::reported_subject(&report.subject).item()))
            .update_expression(
                "SET subject = :subject, reason = :reason, last_at = :now, expires_at = :end ADD reports :one",
            )
            .expression_attribute_values(":subject", text(report.subject))
            .expression_attribute_values(":reason", text(report.reason))
            .expression_attribute_values(":now", number(report.at))
            .expression_attribute_values(":end", number(expires_at))
            .expression_attribute_values(":one", number(1))
            .return_values(ReturnValue::UpdatedNew);
        let counted = call.dispatch().await?.attributes.ok_or(StoreError::Missing("a count"))?;
        if serde_dynamo::from_item::<_, Counted>(counted)?.reports > KEPT {
            return Ok(());
        }
        let item = row(&rows::report(&report.subject, report.id), &KeptReport { report, expires_at })?;
        self.0.client.put_item().table_name(&self.0.name).set_item(Some(item)).dispatch().await?;
        Ok(())
    }

    /// Returns the reported subjects, the latest first. A Query per megabyte.
    pub async fn reported(&self) -> Result<Vec<ReportedSubject>, StoreError> {
        let mut all: Vec<ReportedSubject> = self.0.partition(rows::reported_subjects()).await?;
        all.sort_by_key(|reported| std::cmp::Reverse(reported.last_at));
        Ok(all)
    }

    /// Returns the reports of a subject that were kept, the oldest first. A Query per megabyte.
    pub async fn reports(&self, subject: &Subject) -> Result<Vec<Report>, StoreError> {
        self.0.partition(rows::reports(subject)).await
    }

    /// Returns what was decided about a subject and holds. One read.
    pub async fn decision(&self, subject: &Subject) -> Result<Option<Decision>, StoreError> {
        self.0.get(&rows::decision(subject)).await
    }

    /// Returns all decisions that hold. A Query per megabyte.
    pub async fn decisions(&self) -> Result<Vec<Decision>, StoreError> {
        self.0.partition(rows::decisions()).await
    }

    /// Returns what was decided and undone, the oldest first. A Query per megabyte.
    pub async fn log(&self) -> Result<Vec<LoggedDecision>, StoreError> {
        self.0.partition(rows::decision_log()).await
    }

    /// Returns how many decisions each month had for each reason, the oldest first. One Query.
    pub async fn counts(&self) -> Result<Vec<DecisionCount>, StoreError> {
        self.0.partition(rows::decision_counts()).await
    }

    /// Hides a subject, or removes a file, whatever its artists want, and counts it in `month`. Returns `false` if that is
    /// decided already. One transaction.
    pub async fn decide(&self, decision: Decision, month: &str) -> Result<bool, StoreError> {
        let (subject, at) = (decision.subject, decision.at);
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::decision_count(month, decision.reason).item()))
            .update_expression("SET #month = :month, reason = :reason ADD decisions :one")
            .expression_attribute_names("#month", "month")
            .expression_attribute_values(":month", text(month))
            .expression_attribute_values(":reason", text(decision.reason))
            .expression_attribute_values(":one", number(1));
        let mut writes = vec![self.0.insertion(&rows::decision(&subject), &decision)?, updating(count)?];
        if let Subject::File(cid) = subject {
            writes.extend(Media::new(self.0.clone()).removing(cid, Some(decision.reason)).await?);
        }
        writes.extend([self.posting(subject)?, self.logging(LoggedDecision { decision, is_undone: false })?]);
        self.carry_out(&subject, true, writes, at).await
    }

    /// Undoes a decision: its subject is as its artists left it. `by` is who undoes it, `now` in Unix seconds. Returns
    /// `false` if nothing is decided. One read and one transaction.
    pub async fn undo(&self, subject: &Subject, by: &str, now: u64) -> Result<bool, StoreError> {
        let Some(decision) = self.decision(subject).await? else { return Ok(false) };
        let undone = Decision { by: by.to_owned(), at: now, ..decision };
        let mut writes = vec![self.0.removal(&rows::decision(subject))?];
        if let Subject::File(cid) = subject {
            writes.extend(Media::new(self.0.clone()).removing(*cid, None).await?);
        }
        writes.extend([self.posting(*subject)?, self.logging(LoggedDecision { decision: undone, is_undone: true })?]);
        self.carry_out(subject, false, writes, now).await
    }

    async fn carry_out(
        &self,
        subject: &Subject,
        is_withheld: bool,
        writes: Vec<TransactWriteItem>,
        now: u64,
    ) -> Result<bool, StoreError> {
        let artists = Artists::new(self.0.clone());
        let profile = match subject {
            Subject::Artist(account) => artists.profile_of(*account).await?,
            _ => None,
        };
        match profile {
            Some(profile) => artists.withhold(profile.artist.artist_id, is_withheld, &writes, now).await,
            None => self.0.write_together(writes).await,
        }
    }

    fn posting(&self, subject: Subject) -> Result<TransactWriteItem, StoreError> {
        Outbox::new(self.0.clone()).posting(ArtistId::OPERATOR, ArtistChange::Decided { subject })
    }

    fn logging(&self, entry: LoggedDecision) -> Result<TransactWriteItem, StoreError> {
        self.0.insertion(&rows::logged_decision(Uuid::now_v7()), &entry)
    }
}

impl Artists {
    /// Returns what is kept out of sight: for the indexer, never for a request. A Query per megabyte, and two reads for
    /// each artist.
    pub async fn withheld(&self) -> Result<Withheld, StoreError> {
        let mut withheld = Withheld::default();
        for Decision { subject, .. } in Moderation::new(self.0.clone()).decisions().await? {
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

    /// Whether an artist is kept out of sight.
    pub fn has_artist(&self, artist: ArtistId) -> bool {
        self.artists.contains(&artist)
    }
}
