//! What the desk prints, and what artists are told.

use shared::{
    clock,
    model::{Action, Subject},
    store::artist::{Decision, Dismissal, LogEntry, LoggedDecision},
};

use crate::Error;

pub(super) const USAGE: &str = "usage: desk page | list | log | show <subject> | hide <subject> <reason> [until <date>] <note…> | \
    remove <moment or file> <reason> <note…> | dismiss <subject> <note…> | suspend <artist> <reason> [until <date>] <note…> | undo <subject> | \
    reinstate <artist> | sign-out <artist> | export | import <file> <whose> | take <subject> <note…> | decline <subject>; a subject is \
    moment#<chain>#<collection>#<token>, collection#<chain>#<contract>, artist#<wallet>, comment#<chain>#<commentId> or \
    cid#<file>; a reason is copyright, illegal, impersonation, spam or other";

/// What a decision makes of its subject.
pub(super) fn state(decision: &Decision) -> Result<String, Error> {
    let state = match decision.action {
        Action::Hide => "hidden",
        Action::Remove => "removed",
        Action::Suspend => "suspended",
    };
    Ok(format!("{state}{}", until(decision)?))
}

/// When it ends by itself, behind a space; nothing if it doesn't.
fn until(decision: &Decision) -> Result<String, Error> {
    Ok(decision.until.map(date).transpose()?.map(|end| format!(" until {end}")).unwrap_or_default())
}

/// What an undone decision leaves.
pub(super) fn ended(action: Action) -> &'static str {
    match action {
        Action::Hide | Action::Remove => "as its artists left it",
        Action::Suspend => "free to publish",
    }
}

pub(super) fn logged(entry: &LogEntry) -> Result<String, Error> {
    let LoggedDecision { decision, is_undone } = match entry {
        LogEntry::Decided(decided) => decided,
        LogEntry::Dismissed(Dismissal { subject, dismissed, note, by, at }) => {
            return Ok(format!("{}  {subject}  {dismissed} reports dismissed by {by} ({note})", date(*at)?));
        }
    };
    let Decision { subject, action, reason, note, by, at, .. } = decision;
    let what = match (is_undone, action) {
        (false, _) => state(decision)?,
        (true, Action::Hide | Action::Remove) => "shown again".to_owned(),
        (true, Action::Suspend) => "reinstated".to_owned(),
    };
    Ok(format!("{}  {subject}  {what} by {by} ({reason}: {note})", date(*at)?))
}

/// What the artist is told, as a sentence without its full stop.
pub(super) fn sentence(decision: &Decision, is_undone: bool) -> Result<String, Error> {
    let Decision { subject, action, .. } = decision;
    let thing = match subject {
        Subject::Moment(place) => format!("your moment {} of {}", place.token, place.collection),
        Subject::Collection(_, collection) => format!("your collection {collection}"),
        Subject::Artist(account) => format!("your account {account}"),
        Subject::File(cid) => format!("your file {cid}"),
        Subject::Comment(..) => "a comment of yours".to_owned(),
    };
    if is_undone {
        return Ok(format!("The operator undid a decision about {thing}: it is as you left it"));
    }
    let end = until(decision)?;
    Ok(match action {
        Action::Hide if !end.is_empty() => format!("The operator doesn't show {thing}{end}"),
        Action::Hide => format!("The operator doesn't show {thing} any more"),
        Action::Remove => format!("The operator doesn't show {thing} any more, and removed its files"),
        Action::Suspend => format!("The operator suspended {thing}{end}: it publishes nothing"),
    })
}

/// On one line, and without what would steer a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

pub(super) fn date(seconds: u64) -> Result<String, Error> {
    Ok(clock::iso_8601(seconds)?)
}

/// Such as `2026-11-27 13:13 UTC`.
pub(super) fn when(seconds: u64) -> Result<String, Error> {
    let text = date(seconds)?;
    Ok(format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..16).unwrap_or_default()))
}
