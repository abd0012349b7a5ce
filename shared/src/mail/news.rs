use super::letter::{Letter, Part};
use crate::model::line;

/// What a mail tells of an artist's moments, and of what the artist was given. It has no words of strangers: anybody can
/// give something to a mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsLetter {
    /// What happened to each, in the order in which it is told.
    pub moments: Vec<MomentNews>,
    /// The service's base URL.
    pub origin: String,
    /// Where one press stops such mails, by POST: an address of the service.
    pub unsubscribe: String,
    /// What the page at `{origin}/manage` stops them with.
    pub token: String,
}

/// What happened to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentNews {
    /// Its name; empty if none is known.
    pub name: String,
    /// Its page.
    pub page: String,
    /// Copies that were collected, as digits; `None` if nobody collected it.
    pub copies: Option<String>,
    /// Comments on it.
    pub comments: usize,
    /// Copies that the artist was given.
    pub gift: Option<GivenCopies>,
}

/// Copies that somebody was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenCopies {
    /// How many, as digits.
    pub copies: String,
    /// By whom, as a username; empty if it isn't said.
    pub from: String,
}

impl NewsLetter {
    /// Moments that a mail names one by one.
    pub const NAMED: usize = 10;

    pub(super) fn subject(&self) -> String {
        let gifts = self.gifts();
        match self.moments.as_slice() {
            [one] if gifts == 1 => one.says(),
            [one] => format!("{}: {}", title(&one.name), one.says()),
            all if gifts == all.len() => format!("You were given {gifts} moments"),
            all if gifts > 0 => format!("News of {} moments", all.len()),
            all => format!("News of {} of your moments", all.len()),
        }
    }

    pub(super) fn letter<'a>(&self, subject: &'a str) -> Letter<'a> {
        let mut parts: Vec<Part<'_>> = self.moments.iter().take(Self::NAMED).map(MomentNews::part).collect();
        if let Some(others) = self.moments.len().checked_sub(Self::NAMED).filter(|others| *others > 0) {
            parts.push(Part::Words(format!("And {others} more.")));
        }
        if self.gifts() > 0 {
            parts.push(Part::Words(
                "What you were given is in the account that this mail address signs in to.".to_owned(),
            ));
        }
        parts.push(Part::Link("See them", format!("{}/manage", self.origin)));
        parts.push(Part::Stop("You can have such mails once a day, as it happens, or never:", self.stop_address()));
        Letter { subject, parts }
    }

    fn gifts(&self) -> usize {
        self.moments.iter().filter(|moment| moment.gift.is_some()).count()
    }

    /// Where a person stops such mails: a page with a button, since programs that read mails open what they find.
    fn stop_address(&self) -> String {
        format!("{}/manage#unsubscribe={}", self.origin, self.token)
    }
}

impl MomentNews {
    fn part(&self) -> Part<'static> {
        let name = if self.gift.is_some() { "A gift".to_owned() } else { title(&self.name) };
        Part::Named { name, address: self.page.clone(), says: self.says() }
    }

    fn says(&self) -> String {
        let collected = match self.copies.as_deref() {
            None => None,
            Some("1") => Some("collected once".to_owned()),
            Some(copies) => Some(format!("{copies} copies collected")),
        };
        let comments = match self.comments {
            0 => None,
            1 => Some("1 comment".to_owned()),
            many => Some(format!("{many} comments")),
        };
        let given = self.gift.as_ref().map(GivenCopies::says);
        given.into_iter().chain(collected).chain(comments).collect::<Vec<_>>().join(", ")
    }
}

impl GivenCopies {
    fn says(&self) -> String {
        // A name with a dot would be a link in many programs.
        let from = if self.from.is_empty() || self.from.contains('.') { "Somebody" } else { &self.from };
        match self.copies.as_str() {
            "1" => format!("{from} gave you a moment"),
            copies => format!("{from} gave you {copies} copies of a moment"),
        }
    }
}

fn title(name: &str) -> String {
    let name = line(name);
    if name.is_empty() { "Untitled".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(name: &str, copies: Option<&str>, comments: usize) -> MomentNews {
        let page = "https://a.example/m/8453/0x1/1".to_owned();
        MomentNews { name: name.to_owned(), page, copies: copies.map(str::to_owned), comments, gift: None }
    }

    fn gift(name: &str, copies: &str, from: &str) -> MomentNews {
        let gift = GivenCopies { copies: copies.to_owned(), from: from.to_owned() };
        MomentNews { gift: Some(gift), ..moment(name, None, 0) }
    }

    fn letter(moments: Vec<MomentNews>) -> NewsLetter {
        NewsLetter {
            moments,
            origin: "https://a.example/api".to_owned(),
            unsubscribe: "https://a.example/api/mails/unsubscribe?token=x.y".to_owned(),
            token: "x.y".to_owned(),
        }
    }

    #[test]
    fn subject_says_what_happened() {
        for (moments, subject) in [
            (vec![moment("Pier", Some("1"), 0)], "Pier: collected once"),
            (vec![moment("\u{202e}Pier\n1", Some("1"), 0)], "Pier 1: collected once"),
            (vec![moment("", Some("30"), 2)], "Untitled: 30 copies collected, 2 comments"),
            (vec![moment("Pier", None, 1), moment("Sea", Some("2"), 0)], "News of 2 of your moments"),
            (vec![gift("Win now", "1", "mira")], "mira gave you a moment"),
            (vec![gift("Win now", "3", "evil.example")], "Somebody gave you 3 copies of a moment"),
            (vec![gift("Win now", "1", ""), gift("Pier", "1", "mira")], "You were given 2 moments"),
            (vec![gift("Win now", "1", ""), moment("Pier", None, 1)], "News of 2 moments"),
        ] {
            assert_eq!(letter(moments).subject(), subject);
        }
    }

    #[test]
    fn what_was_given_is_told_without_words_of_strangers() {
        let text = letter(vec![gift("Win at evil.example", "1", "evil.example")]).letter("A gift").text();
        assert!(!text.contains("evil") && text.contains("https://a.example/m/8453/0x1/1"), "{text}");
        assert!(text.contains("Somebody gave you a moment") && text.contains("this mail address signs in"), "{text}");
    }

    #[test]
    fn ten_moments_are_named_and_the_others_counted() {
        let news = letter((0..13).map(|n| moment(&format!("Pier {n}"), Some("2"), 0)).collect());
        let text = news.letter("News").text();
        assert!(text.contains("Pier 9: 2 copies collected\nhttps://a.example/m/"), "{text}");
        assert!(!text.contains("Pier 10") && text.contains("And 3 more."), "{text}");
        assert!(text.ends_with("https://a.example/api/manage#unsubscribe=x.y\n"), "{text}");
    }
}
