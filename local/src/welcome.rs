//! What `local run` says once the stack runs: where everything is, demo artists with their keys, and each code that is
//! mailed.

use std::{convert::Infallible, fmt::Write, fs, path::Path, time::Duration};

use crate::{
    Error,
    artists::DemoArtist,
    mail::{self, code_in},
    mailbox,
    stack_map::StackMap,
};

/// File of what was said, beside the stack's map.
const KEPT: &str = "welcome.txt";

/// Pause before the mails are looked at again.
const PAUSE: Duration = Duration::from_millis(400);

/// Starts the mailbox and returns what there is to say. It is kept in the stack's folder for [`already_up`].
pub async fn prepare(folder: &Path, map: &StackMap, artists: &[DemoArtist]) -> Result<String, Error> {
    let mailbox = mailbox::start(&map.mail).await?;
    let text = table(map, &mailbox, artists);
    fs::write(folder.join(KEPT), &text)?;
    Ok(text)
}

/// What the stack in this folder said, if it still runs.
pub async fn already_up(folder: &Path) -> Option<String> {
    let map: StackMap = serde_json::from_str(&fs::read_to_string(folder.join("stack.json")).ok()?).ok()?;
    let client = reqwest::Client::builder().timeout(Duration::from_secs(2)).build().ok()?;
    let answer = client.get(format!("{}/chains", map.api)).send().await.ok()?;
    answer.status().is_success().then(|| fs::read_to_string(folder.join(KEPT)).ok()).flatten()
}

/// Prints each code as it is mailed.
pub async fn print_codes(map: &StackMap) -> Result<Infallible, Error> {
    let mut seen = mail::all(&map.mail).await?.len();
    loop {
        tokio::time::sleep(PAUSE).await;
        // An answer that fails to come is asked for again.
        let Ok(mails) = mail::all(&map.mail).await else { continue };
        for mail in mails.iter().skip(seen) {
            if let Some(code) = code_in(mail) {
                println!("code {code} for {}", mail.to.join(", "));
            }
        }
        seen = mails.len();
    }
}

fn table(map: &StackMap, mailbox: &str, artists: &[DemoArtist]) -> String {
    let key = artists.first().map(|artist| format!("?key={}", artist.key)).unwrap_or_default();
    let mut lines = vec![
        ("open", format!("{}/", map.api.trim_end_matches("/api"))),
        ("reference", format!("{}/docs{key}", map.api)),
        ("page", format!("{}/manage", map.api)),
        ("mailbox", mailbox.to_owned()),
        ("desk", map.desk.clone()),
    ];
    lines.extend(map.rpc.iter().map(|(chain, url)| ("chain", format!("{chain}  {url}"))));
    for DemoArtist { email, username, account, key, .. } in artists {
        lines.extend([("artist", format!("{username}  {email}  {account}")), ("  key", key.clone())]);
    }
    lines.push(("addresses", ".local/stack.json".to_owned()));
    lines.push(("logs", ".local/run/logs".to_owned()));
    let mut text = String::new();
    for (name, value) in lines {
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {name:<10} {value}");
    }
    text
}
