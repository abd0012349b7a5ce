//! Comments with their replies.

use maud::{Markup, html};
use shared::{
    api::read::{Person, Site},
    model::Comment,
    store::chain::ListedComment,
};

use crate::{
    card::person,
    words::{Clock, counted},
};

/// Comments, each with the replies that come along with it.
pub fn comments(site: &Site, comments: &[ListedComment], clock: Clock) -> Markup {
    html! {
        ol .comments {
            @for listed in comments {
                li {
                    (comment(site, &listed.comment, clock))
                    @if !listed.replies.is_empty() {
                        ol { @for reply in &listed.replies { li { (comment(site, reply, clock)) } } }
                    }
                    @let more = listed.reply_count.saturating_sub(listed.replies.len() as u64);
                    @if more > 0 { p .soft { "and " (if more == 1 { "1 more reply".to_owned() } else { format!("{more} more replies") }) } }
                }
            }
        }
    }
}

fn comment(site: &Site, comment: &Comment, clock: Clock) -> Markup {
    let sender = Person { address: comment.sender, username: comment.username.clone() };
    html! {
        article .comment {
            p .by { (person(site, &sender)) " " span .soft { (clock.show_unix(comment.timestamp / 1_000)) } }
            p .said dir="auto" { (comment.comment) }
        }
    }
}

/// Heading of a moment's comments.
pub fn heading(number: u64) -> String {
    if number == 0 { "Comments".to_owned() } else { counted(number, "comment") }
}
