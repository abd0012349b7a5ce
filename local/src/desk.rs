//! The operator's desk: what was reported, and what is done about it. It works with the operator's own identity on the
//! artist table; no function may do the same.

use std::env;

use shared::{
    clock, config,
    model::{MomentRef, Reason, Subject},
    store::artist::{ArtistTable, Decision, DecisionRefusal, LoggedDecision, Moderation},
};

use crate::{Error, cloud::Endpoints, stack_map::StackMap};

const USAGE: &str = "usage: desk list | log | show <subject> | hide <moment> <reason> <note…> | undo <moment>; a subject is \
                     moment#<chain>#<collection>#<token>, collection#…, artist#…, cid#… or comment#…; a reason is copyright, \
                     illegal, impersonation, spam or other";

/// The desk of one stage.
pub struct Desk {
    moderation: Moderation,
    operator: String,
}

impl Desk {
    /// The stage whose artist table is `ARTIST_TABLE`, by the credentials in the environment; `DESK_OPERATOR` is who decides.
    pub async fn of_account() -> Result<Self, Error> {
        let table = ArtistTable::from_env(&config::aws().await)?;
        let operator = env::var("DESK_OPERATOR").map_err(|_| "DESK_OPERATOR is required: who decides")?;
        Ok(Self { moderation: Moderation::new(table), operator })
    }

    /// A running local stack's.
    pub async fn of_stack(stack: &StackMap, operator: &str) -> Result<Self, Error> {
        let endpoints = Endpoints { aws: stack.aws.clone(), dynamodb: stack.dynamodb.clone() };
        let table = stack.names.get("ArtistTable").ok_or("the stack has no ArtistTable")?;
        let table = ArtistTable::new(&endpoints.sdk_config(&stack.dynamodb).await, table);
        Ok(Self { moderation: Moderation::new(table), operator: operator.to_owned() })
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
                "{}  hidden for {} by {}, {}",
                decision.subject,
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
                format!("hidden for {reason} by {by}, {}: {note}", date(at)?)
            }
            None => "nothing is decided".to_owned(),
        }];
        for report in reports {
            let statement = report.statement.map(|text| format!(": {text}")).unwrap_or_default();
            let email = report.email.map(|email| format!(" from {email}")).unwrap_or_default();
            lines.push(format!("{}  {}{email}{statement}", date(report.at)?, report.reason));
        }
        Ok(lines.join("\n"))
    }

    async fn hide(&self, subject: Subject, reason: Reason, note: &str) -> Result<String, Error> {
        let (moment, now) = (moment(subject)?, clock::now()?.as_secs());
        let (by, note) = (self.operator.clone(), note.to_owned());
        let decision = Decision { subject, reason, note, by, at: now, hidden_before: None };
        let month = date(now)?.chars().take(7).collect::<String>();
        match self.moderation.hide(&moment, decision, &month).await? {
            Ok(()) => Ok(format!("{subject} is hidden: lists and pages follow within seconds")),
            Err(_) => Err(format!("{subject} is hidden already: undo that first").into()),
        }
    }

    async fn undo(&self, subject: Subject) -> Result<String, Error> {
        let moment = moment(subject)?;
        match self.moderation.show(&moment, &self.operator, clock::now()?.as_secs()).await? {
            Ok(()) => Ok(format!("{subject} is as its admins left it")),
            Err(DecisionRefusal::Undecided | DecisionRefusal::Decided) => {
                Err(format!("nothing is decided about {subject}").into())
            }
        }
    }
}

fn moment(subject: Subject) -> Result<MomentRef, Error> {
    match subject {
        Subject::Moment(moment) => Ok(moment),
        other => Err(format!("{other} is no moment: only moments can be hidden").into()),
    }
}

fn logged(entry: &LoggedDecision) -> Result<String, Error> {
    let Decision { subject, reason, note, by, at, .. } = &entry.decision;
    let what = if entry.is_undone { "shown again" } else { "hidden" };
    Ok(format!("{}  {subject}  {what} by {by} ({reason}: {note})", date(*at)?))
}

fn date(seconds: u64) -> Result<String, Error> {
    Ok(clock::iso_8601(seconds)?)
}
