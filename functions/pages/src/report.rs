//! "Report" at the end of a page: a form that the script sends, or the browser.

use maud::{Markup, html};
use serde_json::{Value, json};
use shared::{
    api::read::Site,
    model::{MomentRef, Reason, Subject},
};

/// The form, for a subject.
pub fn report(site: &Site, subject: Subject) -> Markup {
    html! {
        details .report data-api=(site.endpoint("")) data-subject=(fields(subject)) {
            summary { "Report" }
            form method="post" action=(site.endpoint("/reports")) {
                input type="hidden" name="subject" value=(subject);
                label for="reason" { "What is wrong with it?" }
                select #reason name="reason" {
                    @for reason in Reason::EVERY { option value=(reason) { (words(reason)) } }
                }
                label for="statement" { "What should we know?" }
                textarea #statement name="text" rows="4" maxlength="2000" dir="auto" {}
                label for="answer" { "Your address, if you want an answer" }
                input #answer type="email" name="email" autocomplete="email";
                button type="submit" { "Send the report" }
                p .note role="status" {}
            }
        }
    }
}

/// The subject as JSON has it.
fn fields(subject: Subject) -> Value {
    match subject {
        Subject::Moment(MomentRef { chain, collection, token }) => {
            json!({"moment": {"collectionAddress": collection, "tokenId": token, "chainId": chain}})
        }
        Subject::Collection(chain, collection) => {
            json!({"collection": {"collectionAddress": collection, "chainId": chain}})
        }
        Subject::Artist(account) => json!({"artist": account}),
        Subject::File(cid) => json!({"cid": cid}),
        Subject::Comment(chain, comment) => json!({"comment": {"commentId": comment, "chainId": chain}}),
    }
}

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::Copyright => "It is somebody else’s work",
        Reason::Illegal => "It is against the law",
        Reason::Impersonation => "It passes for somebody else",
        Reason::Spam => "It is spam",
        Reason::Other => "Something else",
    }
}
