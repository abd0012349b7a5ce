//! "Report" at the end of a page: a form that the script sends, and that browsers without scripts don't show.

use maud::{Markup, html};
use serde_json::Value;
use shared::{api::read::Site, model::Reason};

/// The form, for a subject as `POST /reports` takes it.
pub fn report(site: &Site, subject: &Value) -> Markup {
    html! {
        details .report data-api=(site.endpoint("")) data-subject=(subject) {
            summary { "Report" }
            form {
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

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::Copyright => "It is somebody else’s work",
        Reason::Illegal => "It is against the law",
        Reason::Impersonation => "It passes for somebody else",
        Reason::Spam => "It is spam",
        Reason::Other => "Something else",
    }
}
