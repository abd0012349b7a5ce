//! Deny lists: what was decided here, for others; and what others decided, as proposals until somebody takes them.

use std::fs;

use serde::{Deserialize, Serialize};
use shared::{
    clock,
    model::{Action, Reason, Subject},
    store::artist::{Decision, Proposal},
};

use super::{Desk, Ruling, words::printable};
use crate::Error;

/// Most entries of a list.
const MOST: usize = 10_000;

/// Most characters of the name of whose list it is.
const LONGEST_NAME: usize = 100;

/// A list, as JSON.
#[derive(Serialize, Deserialize)]
struct DenyList {
    version: u32,
    decisions: Vec<DenyListEntry>,
}

/// What others may know of a decision: neither who took it nor the note.
#[derive(Serialize, Deserialize)]
struct DenyListEntry {
    subject: Subject,
    action: Action,
    reason: Reason,
    at: u64,
}

impl Desk {
    /// Suspensions stay here, as does what a moment's removal brought along: whoever takes it finds the files again.
    pub(super) async fn export(&self) -> Result<String, Error> {
        let decisions = self.moderation.decisions().await?.into_iter();
        let shared = decisions.filter(|decision| decision.action != Action::Suspend && decision.with.is_none());
        let entry =
            |Decision { subject, action, reason, at, .. }: Decision| DenyListEntry { subject, action, reason, at };
        Ok(serde_json::to_string_pretty(&DenyList { version: 1, decisions: shared.map(entry).collect() })?)
    }

    pub(super) async fn import(&self, file: &str, from: &str) -> Result<String, Error> {
        let DenyList { version, decisions } = serde_json::from_str(&fs::read_to_string(file)?)?;
        if version != 1 || decisions.len() > MOST {
            return Err(format!("a list has version 1, and at most {MOST} decisions").into());
        }
        let from: String = printable(from).chars().take(LONGEST_NAME).collect();
        let (known, now) = (self.moderation.decisions().await?, clock::now()?.as_secs());
        let mut proposed = 0;
        for DenyListEntry { subject, action, reason, .. } in decisions {
            let subject = self.named(subject).await?;
            if action == Action::Suspend || known.iter().any(|decision| decision.subject == subject) {
                continue;
            }
            let proposal = Proposal { subject, action, reason, from: from.clone(), at: now };
            self.moderation.propose(&proposal).await?;
            proposed += 1;
        }
        Ok(format!("{proposed} proposals: nothing is decided before you take one"))
    }

    pub(super) async fn take(&self, subject: Subject, note: String) -> Result<String, Error> {
        let Proposal { action, reason, .. } = self.proposal(&subject).await?;
        let said = self.decide(Ruling { subject, action, reason, until: None, note }).await?;
        self.moderation.drop_proposal(&subject).await?;
        Ok(said)
    }

    pub(super) async fn decline(&self, subject: Subject) -> Result<String, Error> {
        let Proposal { from, .. } = self.proposal(&subject).await?;
        self.moderation.drop_proposal(&subject).await?;
        Ok(format!("{subject} stays, whatever {from} decided"))
    }

    async fn proposal(&self, subject: &Subject) -> Result<Proposal, Error> {
        let proposals = self.moderation.proposals().await?;
        let found = proposals.into_iter().find(|proposal| proposal.subject == *subject);
        found.ok_or_else(|| format!("nothing is proposed about {subject}").into())
    }
}
