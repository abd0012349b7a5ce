//! A page with the mails that the emulated SES has sent, newest first, as their recipients would see them.

use std::{fmt::Write, sync::Arc};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use tokio::net::TcpListener;

use crate::{
    Error,
    mail::{self, Mail},
};

/// The port that other mailboxes for development have; another one if it is taken.
const USUAL_PORT: u16 = 8025;

const STYLE: &str = "\
:root { color-scheme: light dark; font: 1rem/1.55 ui-sans-serif, system-ui, sans-serif; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 0.8rem; padding: 1rem 1.2rem; margin-block: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 0 0 0.3rem; }
header p { margin: 0; font-size: 0.9rem; overflow-wrap: anywhere; }
iframe { width: 100%; height: 34rem; border: 0; border-radius: 0.5rem; margin-top: 0.8rem; }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.8rem 0 0; }";

/// Serves the page until the process ends, and returns its URL. `list` is the URL of the sent mails.
pub async fn start(list: &str) -> Result<String, Error> {
    let listener = match TcpListener::bind(("127.0.0.1", USUAL_PORT)).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind(("127.0.0.1", 0)).await?,
    };
    let url = format!("http://{}", listener.local_addr()?);
    let routes = Router::new().route("/", get(page)).with_state(Arc::from(list));
    tokio::spawn(axum::serve(listener, routes).into_future());
    Ok(url)
}

async fn page(State(list): State<Arc<str>>) -> Response {
    match mail::all(&list).await {
        // It runs nothing and loads nothing, whatever is in a mail.
        Ok(mails) => {
            let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'";
            ([(header::CONTENT_SECURITY_POLICY, policy), (header::REFRESH, "3")], Html(render(&mails))).into_response()
        }
        Err(error) => (StatusCode::BAD_GATEWAY, format!("The mails can't be read: {error}\n")).into_response(),
    }
}

fn render(mails: &[Mail]) -> String {
    let mut list = String::new();
    for Mail { to, source, subject, body_text, body_html } in mails.iter().rev() {
        let [to, source, subject, text] = [&to.join(", "), source, subject, body_text].map(|text| escaped(text));
        let html = match body_html.as_str() {
            "" => String::new(),
            html => format!("<iframe sandbox title=\"{subject}\" srcdoc=\"{}\"></iframe>", escaped(html)),
        };
        // Writing to a string can't fail.
        let _ = writeln!(
            list,
            "<article><header><h2>{subject}</h2><p>To {to}</p><p>From {source}</p></header>{html}<details><summary>As text</summary><pre>{}</pre></details></article>",
            text.trim_end()
        );
    }
    if list.is_empty() {
        list.push_str("<p>No mail yet.</p>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Mailbox · {} mails</title>\
         <style>{STYLE}</style></head>\n<body><main><h1>Mailbox</h1>\n{list}</main></body></html>\n",
        mails.len()
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(subject: &str, body_text: &str) -> Mail {
        let [to, source] = ["you@example.com", "moments@example.com"].map(str::to_owned);
        let (subject, body_text) = (subject.to_owned(), body_text.to_owned());
        Mail { to: vec![to], source, subject, body_text, body_html: "<p>As \"HTML\"</p>".to_owned() }
    }

    #[test]
    fn newest_mail_is_first_and_nothing_in_a_mail_is_markup() {
        let page = render(&[mail("First", "one\n"), mail("Second <b>", "<script>alert(1)</script> & \"two\"\n")]);
        assert!(page.find("Second &lt;b&gt;") < page.find("First"), "{page}");
        assert!(page.contains("<pre>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;two&quot;</pre>"), "{page}");
        assert!(render(&[]).contains("No mail yet."));
    }
}
