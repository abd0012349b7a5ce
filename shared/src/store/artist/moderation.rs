//! Reports, and what the operator decided. Rows: docs/data-model.md, Moderation.

use aws_sdk_dynamodb::types::{ReturnValue, Update};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{ArtistId, Email, MomentRef, Reason, Statement, Subject},
    store::{
        artist::{artists::Artists, rows},
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
    /// The artist who had hidden the moment before, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_before: Option<ArtistId>,
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

/// Why nothing was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionRefusal {
    /// It is decided already.
    Decided,
    /// There is nothing to undo.
    Undecided,
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

    /// Hides a moment, whatever its admins want, in the `month` of the decision. One read and one transaction.
    pub async fn hide(
        &self,
        moment: &MomentRef,
        decision: Decision,
        month: &str,
    ) -> Result<Result<(), DecisionRefusal>, StoreError> {
        let artists = Artists::new(self.0.clone());
        let before = artists.hidden_by(moment).await?.filter(|artist| *artist != ArtistId::OPERATOR);
        let decision = Decision { hidden_before: before, ..decision };
        let subject = decision.subject;
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::decision_count(month, decision.reason).item()))
            .update_expression("SET #month = :month, reason = :reason ADD decisions :one")
            .expression_attribute_names("#month", "month")
            .expression_attribute_values(":month", text(month))
            .expression_attribute_values(":reason", text(decision.reason))
            .expression_attribute_values(":one", number(1));
        let mut writes = vec![self.0.insertion(&rows::decision(&subject), &decision)?, updating(count)?];
        writes.extend(artists.hiding(ArtistId::OPERATOR, moment, true)?);
        writes.push(self.logging(LoggedDecision { decision, is_undone: false })?);
        Ok(if self.0.write_together(writes).await? { Ok(()) } else { Err(DecisionRefusal::Decided) })
    }

    /// Undoes the hiding of a moment: it is as its admins left it. `by` is who undoes it, `now` in Unix seconds. One read
    /// and one transaction.
    pub async fn show(
        &self,
        moment: &MomentRef,
        by: &str,
        now: u64,
    ) -> Result<Result<(), DecisionRefusal>, StoreError> {
        let subject = Subject::Moment(*moment);
        let Some(decision) = self.decision(&subject).await? else { return Ok(Err(DecisionRefusal::Undecided)) };
        let artists = Artists::new(self.0.clone());
        let mut writes = vec![self.0.deletion(&rows::decision(&subject))?];
        writes.extend(match decision.hidden_before {
            Some(artist) => artists.hiding(artist, moment, true)?,
            None => artists.hiding(ArtistId::OPERATOR, moment, false)?,
        });
        let undone = Decision { by: by.to_owned(), at: now, ..decision };
        writes.push(self.logging(LoggedDecision { decision: undone, is_undone: true })?);
        self.0.write_together(writes).await?;
        Ok(Ok(()))
    }

    fn logging(&self, entry: LoggedDecision) -> Result<aws_sdk_dynamodb::types::TransactWriteItem, StoreError> {
        self.0.insertion(&rows::logged_decision(Uuid::now_v7()), &entry)
    }
}
