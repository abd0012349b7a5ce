//! The page's documents.

use maud::{DOCTYPE, Markup, html};
use shared::{
    model::{Reason, Subject},
    store::artist::{Decision, Report},
};

use super::{
    super::{
        queue::Case,
        words::{state, when},
    },
    Carried,
    exhibit::{Exhibit, Medium},
};
use crate::Error;

/// Reports whose words are shown.
const REPORTS: usize = 20;

/// A subject, and what is known and decided about it.
pub(super) struct Look<'a> {
    pub(super) subject: Subject,
    pub(super) exhibit: Exhibit,
    pub(super) reports: Vec<Report>,
    pub(super) decisions: Vec<Decision>,
    pub(super) turn: Turn<'a>,
    pub(super) carried: Vec<Carried>,
}

/// Where a look stands in the queue.
pub(super) struct Turn<'a> {
    /// What is asked; `None` if nothing is.
    pub(super) case: Option<&'a Case>,
    /// How many wait.
    pub(super) left: usize,
    /// What comes next.
    pub(super) following: Option<Subject>,
}

pub(super) fn look(look: &Look<'_>) -> Result<Markup, Error> {
    let Look { subject, exhibit, reports, decisions, turn, carried: done } = look;
    let reason = turn.case.map_or(Reason::Other, Case::reason);
    let main = html! {
        section .exhibit aria-label="What it is" {
            h1 dir="auto" { (exhibit.title) }
            (media(&exhibit.media, reason))
            @if !exhibit.words.is_empty() { p .words dir="auto" { (exhibit.words) } }
            @if !exhibit.works.is_empty() {
                ul .works {
                    @for work in &exhibit.works {
                        li { a href=(address(&work.subject)) {
                            @if let Some(picture) = &work.picture { img .veiled src=(picture) alt="" loading="lazy"; }
                            span dir="auto" { (work.title) }
                        } }
                    }
                }
            }
        }
        section .case aria-label="What is asked" {
            p .kind { (question(turn.case)?) }
            @for decision in decisions {
                p .decision { strong { (state(decision)?) } " for " (decision.reason) " by " (decision.by) ", " (when(decision.at)?) ": " (decision.note) }
            }
            (form(look, reason))
            dl {
                @for (name, value) in exhibit.facts.iter().filter(|(_, value)| !value.is_empty()) {
                    dt { (name) } dd dir="auto" { (value) }
                }
                dt { "name" } dd { code { (subject) } }
                @if let Some(page) = &exhibit.page { dt { "page" } dd { a href=(page) target="_blank" rel="noreferrer noopener" { (page) } } }
                @if let Some(artist) = exhibit.artist.map(Subject::Artist).filter(|artist| artist != subject) {
                    dt { "artist" } dd { a href=(address(&artist)) { "All works" } }
                }
            }
            @if !reports.is_empty() {
                h2 { "Reports" }
                ol .reports { @for report in reports.iter().rev().take(REPORTS) { (said(report)?) } }
            }
        }
    };
    Ok(frame(&exhibit.title, turn.left, &main, done))
}

/// What an operator is asked.
fn question(case: Option<&Case>) -> Result<String, Error> {
    Ok(match case {
        Some(Case::Reported(each)) => {
            let reports = each.reports - each.dismissed;
            let many = match reports {
                1 => "Reported once,".to_owned(),
                _ => format!("Reported {reports} times, the last time"),
            };
            format!("{many} for {}, {}", each.reason, when(each.last_at)?)
        }
        Some(Case::Proposed(proposal)) => {
            format!(
                "{} proposes to {} it for {}, {}",
                proposal.from,
                proposal.action,
                proposal.reason,
                when(proposal.at)?
            )
        }
        None => "Nothing is open about it".to_owned(),
    })
}

fn form(look: &Look<'_>, reason: Reason) -> Markup {
    let Look { subject, exhibit, decisions, turn, .. } = look;
    let is_decided = |suspension: bool| {
        let is_suspension = |decision: &Decision| decision.action == shared::model::Action::Suspend;
        decisions.iter().any(|decision| is_suspension(decision) == suspension)
    };
    let removable = matches!(subject, Subject::Moment(_) | Subject::File(_));
    let following = turn.following.map(|subject| subject.to_string()).unwrap_or_default();
    html! {
        form method="post" action="decide" {
            input type="hidden" name="subject" value=(subject);
            input type="hidden" name="following" value=(following);
            @if let Some(artist) = exhibit.artist { input type="hidden" name="artist" value=(Subject::Artist(artist)); }
            fieldset .reasons {
                legend { "Reason" }
                @for (number, each) in Reason::EVERY.into_iter().enumerate() {
                    label { input type="radio" name="reason" value=(each) checked[each == reason] data-key=(number + 1); (each) " " kbd { (number + 1) } }
                }
            }
            label { "Note, for the log" input name="note" placeholder="as seen at the desk" data-focus="/"; }
            label { "Until, if it ends by itself" input name="until" placeholder="2027-01-31" pattern="\\d{4}-\\d{2}-\\d{2}.*"; }
            div .buttons {
                @if let Some(Case::Proposed(_)) = turn.case {
                    (button("take", "Take it", 't'))
                    (button("decline", "Decline", 'k'))
                } @else if turn.case.is_some() {
                    (button("dismiss", "Keep it", 'k'))
                }
                @if is_decided(false) { (button("undo", "Undo", 'u')) } @else {
                    @if !matches!(subject, Subject::File(_)) { (button("hide", "Hide", 'h')) }
                    @if removable { (button("remove", "Remove", 'r')) }
                }
                @if is_decided(true) { (button("reinstate", "Reinstate", 'i')) }
                @else if exhibit.artist.is_some() { (button("suspend", "Suspend the artist", 's')) }
                @if let Some(following) = turn.following {
                    a .button href=(format!("./?{}", at(&following))) data-key="n" { "Next " kbd { "n" } }
                }
            }
        }
    }
}

fn button(order: &str, words: &str, key: char) -> Markup {
    html! { button name="do" value=(order) data-key=(key) { (words) " " kbd { (key) } } }
}

fn media(media: &[Medium], reason: Reason) -> Markup {
    let pictures = media.iter().any(|medium| matches!(medium, Medium::Picture(_) | Medium::Film(_)));
    html! {
        // What may be against the law is looked at by whoever wants to.
        @if pictures { label .veil { input type="checkbox" data-key="v" checked[reason != Reason::Illegal]; "Show " kbd { "v" } } }
        @for medium in media {
            @match medium {
                Medium::Picture(path) => img .veiled src=(path) alt="The picture";
                Medium::Film(path) => video .veiled src=(path) controls preload="metadata" {}
                Medium::Sound(path) => audio src=(path) controls preload="none" {}
                Medium::Other(path) => p { a href=(path) download { "Save the file" } }
            }
        }
    }
}

fn said(report: &Report) -> Result<Markup, Error> {
    let Report { reason, statement, email, at, .. } = report;
    Ok(html! {
        li {
            p .soft { (reason) ", " (when(*at)?) @if let Some(email) = email { ", answer to " (email) } }
            @if let Some(statement) = statement { p dir="auto" { (statement) } }
        }
    })
}

pub(super) fn nothing(done: &[Carried]) -> Markup {
    let main = html! { section .alone { h1 { "Nothing waits" } p { "New reports come here by themselves when the page is loaded again." } } };
    frame("Nothing waits", 0, &main, done)
}

pub(super) fn failed(error: &str) -> Markup {
    let main =
        html! { section .alone { h1 { "That didn’t work" } p { (error) } p { a href="./" { "Back to the desk" } } } };
    frame("That didn’t work", 0, &main, &[])
}

/// All that holds, each with a way back.
pub(super) fn decided(decisions: &[Decision], done: &[Carried]) -> Result<Markup, Error> {
    let rows = decisions.iter().map(|decision| {
        let Decision { subject, reason, note, by, at, .. } = decision;
        Ok(html! {
            li {
                p { a href=(address(subject)) { code { (subject) } } }
                p .soft { (state(decision)?) " for " (reason) " by " (by) ", " (when(*at)?) ": " (note) }
            }
        })
    });
    let rows = rows.collect::<Result<Vec<_>, Error>>()?;
    let main = html! {
        section .alone {
            h1 { "Decided" }
            @if rows.is_empty() { p { "Nothing is hidden, removed or suspended." } }
            ol .decided { @for row in rows { (row) } }
        }
    };
    Ok(frame("Decided", 0, &main, done))
}

/// The last decisions, and how far they are.
pub(super) fn carried(done: &[Carried]) -> Markup {
    let is_busy = done.iter().any(|one| one.outcome.is_none());
    html! {
        ul #carried aria-live="polite" data-busy[is_busy] {
            @for Carried { subject, what, outcome, .. } in done.iter().rev() {
                @match outcome {
                    None => li { (what) " " a href=(address(subject)) { (subject) } " …" },
                    Some(Ok(said)) => li { "✓ " (said) " " a href=(address(subject)) { "Look again" } },
                    Some(Err(error)) => li .failed { (what) " " a href=(address(subject)) { (subject) } ": " (error) },
                }
            }
        }
    }
}

fn frame(title: &str, left: usize, main: &Markup, done: &[Carried]) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Desk" }
                link rel="stylesheet" href="desk.css";
                link rel="icon" href="data:,";
                // Not deferred: a key that is pressed once a button can be seen must count.
                script src="desk.js" {}
            }
            body {
                header {
                    nav aria-label="Desk" {
                        a href="./" { "Desk" @if left > 0 { " · " (left) " open" } }
                        a href="decided" { "Decided" }
                    }
                    form action="about" role="search" {
                        input name="subject" aria-label="Address or name of something" placeholder="Address of a page or a file" required;
                        button { "Look" }
                    }
                }
                (carried(done))
                main { (main) }
            }
        }
    }
}

fn address(subject: &Subject) -> String {
    format!("about?{}", query("subject", subject))
}

fn at(subject: &Subject) -> String {
    query("at", subject)
}

fn query(name: &str, subject: &Subject) -> String {
    url::form_urlencoded::Serializer::new(String::new()).append_pair(name, &subject.to_string()).finish()
}
