//! The guides as pages, from their Markdown.

use pulldown_cmark::{Options, Parser, html};

/// A guide: its name in the path, its title, and its Markdown.
pub struct Guide {
    pub name: String,
    pub title: String,
    pub markdown: String,
}

impl Guide {
    pub fn new(name: String, markdown: String) -> Self {
        let title = markdown.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
        Self { name, title, markdown }
    }

    /// The page. Its links lead to the other guides, as the Markdown's do to their files.
    pub fn page(&self, guides: &[Self]) -> String {
        let mut body = String::new();
        html::push_html(&mut body, Parser::new_ext(&self.markdown, Options::ENABLE_TABLES));
        for guide in guides {
            body = body.replace(&format!("href=\"{}.md", guide.name), &format!("href=\"{}", guide.name));
        }
        // A block of code can be wider than a telephone, so it scrolls, and so must a keyboard be able to.
        let body = body.replace("<pre>", "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\">");
        let body =
            body.replace("<table>", "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>");
        let body = body.replace("</table>", "</table></div>");
        let link = |guide: &Self| {
            let current = if guide.name == self.name { " aria-current=\"page\"" } else { "" };
            format!("<li><a href=\"{}\"{current}>{}</a></li>", guide.name, guide.title)
        };
        let links: String = guides.iter().map(link).collect();
        include_str!("guide.html")
            .replace("{title}", &self.title)
            .replace("{name}", &self.name)
            .replace("{links}", &links)
            .replace("{body}", &body)
    }
}
