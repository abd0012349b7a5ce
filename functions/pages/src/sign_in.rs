//! Signing in by mail on a page.

use maud::{Markup, html};

/// The forms for an address and for the code that is mailed to it, of which the first is there at once if nothing comes before
/// it; what the account is for, and what the code's button does.
pub fn forms(is_first: bool, about: &str, press: &str) -> Markup {
    html! {
        form hidden[!is_first] {
            label for="email" { "E-mail address" }
            input #email type="email" name="email" autocomplete="email" required;
            button type="submit" { "Send me a code" }
            p .soft { (about) }
        }
        form hidden {
            label for="code" { "The code we sent" }
            input #code name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" title="six digits" required;
            button type="submit" { (press) }
        }
    }
}
