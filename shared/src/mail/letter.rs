//! What a mail says, once, written as text and as HTML. The HTML loads nothing, so that a mail doesn't tell who reads it.

use std::fmt::Write;

use html_escape::encode_double_quoted_attribute as escaped;

/// A mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Letter<'a> {
    pub(super) subject: &'a str,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part of a mail. Words are those of the service or of anybody else: none is markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A paragraph.
    Words(String),
    /// A code to type, and what it is.
    Code(&'static str, &'a str),
    /// A link to press, and what it does.
    Link(&'static str, String),
    /// Names with their values.
    Facts(Vec<(&'static str, &'a str)>),
    /// Something with a page, and what is said of it.
    Named { name: String, address: String, says: String },
    /// A paragraph for those who look for it.
    Fine(String),
    /// The same, with the link that it is about.
    Stop(&'static str, String),
}

impl Letter<'_> {
    /// As plain text.
    pub(super) fn text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Words(words) | Part::Fine(words) => words.clone(),
            Part::Code(what, code) => format!("{what} {code}"),
            Part::Link(_, address) => address.clone(),
            Part::Named { name, address, says } => format!("{name}: {says}\n{address}"),
            Part::Stop(what, address) => format!("{what}\n{address}"),
            Part::Facts(facts) => {
                facts.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
            }
        });
        parts.collect::<Vec<_>>().join("\n\n") + "\n"
    }

    /// As an HTML document.
    pub(super) fn html(&self) -> String {
        let mut content = String::new();
        for part in &self.parts {
            // Writing to a string can't fail.
            let _ = match part {
                Part::Words(words) => writeln!(content, "<p dir=\"auto\">{}</p>", escaped(words)),
                Part::Fine(words) => writeln!(content, "<p class=\"fine\">{}</p>", escaped(words)),
                Part::Code(what, code) => {
                    let (what, code) = (escaped(what), escaped(code));
                    writeln!(content, "<p>{what}</p>\n<p class=\"code\">{code}</p>")
                }
                Part::Link(what, address) => {
                    let (what, address) = (escaped(what), escaped(address));
                    writeln!(content, "<p><a class=\"button\" href=\"{address}\">{what}</a></p>")
                }
                Part::Named { name, address, says } => {
                    let [name, address, says] = [name, address, says].map(|text| escaped(text));
                    writeln!(content, "<p><a dir=\"auto\" href=\"{address}\">{name}</a>: {says}</p>")
                }
                Part::Stop(what, address) => {
                    let address = escaped(address);
                    writeln!(content, "<p class=\"fine\">{} <a href=\"{address}\">choose</a></p>", escaped(what))
                }
                Part::Facts(facts) => writeln!(content, "<dl>{}</dl>", facts.iter().map(fact).collect::<String>()),
            };
        }
        let title = escaped(self.subject);
        include_str!("letter.html").replace("{title}", &title).replace("{content}", content.trim_end())
    }
}

fn fact((name, value): &(&str, &str)) -> String {
    format!("<dt>{}</dt><dd dir=\"auto\">{}</dd>", escaped(name), escaped(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "\"><script>alert(1)</script>{content}' onload='x";

    #[test]
    fn words_of_strangers_are_no_markup() {
        let parts = vec![
            Part::Words(EVIL.to_owned()),
            Part::Code("Code", EVIL),
            Part::Link("Open", EVIL.to_owned()),
            Part::Facts(vec![("From", EVIL)]),
            Part::Named { name: EVIL.to_owned(), address: EVIL.to_owned(), says: EVIL.to_owned() },
            Part::Fine(EVIL.to_owned()),
            Part::Stop("Stop", EVIL.to_owned()),
        ];
        let letter = Letter { subject: EVIL, parts };
        let html = letter.html();
        assert!(!html.contains("<script") && !html.contains("\">&lt;script"), "{html}");
        assert_eq!(html.matches("<html").count(), 1, "{html}");
        assert!(!["src=", "url(", "@import", "<link"].iter().any(|loading| html.contains(loading)), "{html}");
        assert_eq!(letter.text().matches(EVIL).count(), 9);
    }

    #[test]
    fn text_says_what_the_html_says() {
        let parts = vec![
            Part::Code("Your code is", "123456"),
            Part::Link("Sign in", "https://a.example/manage#link=x".to_owned()),
            Part::Facts(vec![("When", "now"), ("From", "here")]),
        ];
        let letter = Letter { subject: "Your code", parts };
        assert_eq!(letter.text(), "Your code is 123456\n\nhttps://a.example/manage#link=x\n\nWhen: now\nFrom: here\n");
        let html = letter.html();
        for part in
            ["<title>Your code</title>", "<p class=\"code\">123456</p>", "link=x\">Sign in</a>", "<dt>From</dt>"]
        {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
