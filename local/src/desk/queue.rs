//! What waits for a decision.

use std::{cmp::Reverse, collections::HashSet};

use shared::{
    clock,
    model::{Reason, Subject},
    store::artist::{Decision, Proposal, ReportedSubject},
};

use super::Desk;
use crate::Error;

/// Something to decide about.
#[derive(Clone, Debug)]
pub(super) enum Case {
    /// People reported it.
    Reported(ReportedSubject),
    /// Another operator decided about it.
    Proposed(Proposal),
}

impl Case {
    pub(super) fn subject(&self) -> Subject {
        match self {
            Self::Reported(reported) => reported.subject,
            Self::Proposed(proposal) => proposal.subject,
        }
    }

    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Reported(reported) => reported.reason,
            Self::Proposed(proposal) => proposal.reason,
        }
    }
}

impl Desk {
    /// What nobody decided about: reports first, of them what may be against the law, the newest first.
    pub(super) async fn queue(&self) -> Result<Vec<Case>, Error> {
        let (reported, proposals, decisions) =
            tokio::try_join!(self.moderation.reported(), self.moderation.proposals(), self.moderation.decisions())?;
        let now = clock::now()?.as_secs();
        let holding = decisions.iter().filter(|decision| decision.until.is_none_or(|end| end > now));
        let decided: HashSet<Subject> = holding.map(|decision| decision.subject).collect();
        let mut open: Vec<_> = reported.into_iter().filter(ReportedSubject::is_open).collect();
        open.sort_by_key(|each| (each.reason != Reason::Illegal, Reverse(each.last_at)));
        let cases = open.into_iter().map(Case::Reported).chain(proposals.into_iter().map(Case::Proposed));
        Ok(cases.filter(|case| !decided.contains(&case.subject())).collect())
    }

    /// What holds, the newest first.
    pub(super) async fn decisions(&self) -> Result<Vec<Decision>, Error> {
        let mut decisions = self.moderation.decisions().await?;
        decisions.sort_by_key(|decision| Reverse(decision.at));
        Ok(decisions)
    }
}
