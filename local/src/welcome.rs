//! What `local run` says once the stack runs: where everything is, demo artists with keys that work, and each code that is
//! mailed.

use std::{convert::Infallible, fmt::Write, fs, path::Path, time::Duration};

use serde_json::{Value, json};

use crate::{
    Error,
    mail::{self, code_in},
    mailbox,
    stack::{SignedIn, StackMap},
};

/// File of what was said, beside the stack's map.
const KEPT: &str = "welcome.txt";

/// What each demo artist has: 10 ETH.
const FUNDS: &str = "0x8ac7230489e80000";

/// Pause before the mails are looked at again.
const PAUSE: Duration = Duration::from_millis(400);

/// Starts the mailbox, gives the artists money and keys, and returns what there is to say. It is kept in the stack's folder
/// for [`already_up`].
pub async fn prepare(folder: &Path, map: &StackMap, artists: &[SignedIn]) -> Result<String, Error> {
    let mailbox = mailbox::start(&map.mail).await?;
    let mut keys = Vec::new();
    for artist in artists {
        keys.push(equip(map, artist).await?);
    }
    let text = table(map, &mailbox, artists, &keys);
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

fn table(map: &StackMap, mailbox: &str, artists: &[SignedIn], keys: &[String]) -> String {
    let key = keys.first().map(|key| format!("?key={key}")).unwrap_or_default();
    let mut lines = vec![
        ("reference", format!("{}/docs{key}", map.api)),
        ("page", format!("{}/manage", map.api)),
        ("mailbox", mailbox.to_owned()),
    ];
    lines.extend(map.rpc.iter().map(|(chain, url)| ("chain", format!("{chain}  {url}"))));
    for (SignedIn { email, account, .. }, key) in artists.iter().zip(keys) {
        lines.extend([("artist", format!("{email}  {account}")), ("  key", key.clone())]);
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

/// Gives an artist money on every chain, and returns a key that may do all that keys can.
async fn equip(map: &StackMap, SignedIn { email, account, token }: &SignedIn) -> Result<String, Error> {
    for node in map.rpc.values() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": [account, FUNDS]});
        post(node, None, &call).await?;
    }
    let scopes = ["publish", "collect", "admin"];
    let wanted = json!({"name": "Demo", "scopes": scopes, "dailySpend": {"eth": "1000000000000000000"}});
    let made = post(&format!("{}/artists/api-keys", map.api), Some(token), &wanted).await?;
    Ok(made["apiKey"].as_str().ok_or_else(|| format!("{email} got no key"))?.to_owned())
}

async fn post(url: &str, token: Option<&str>, body: &Value) -> Result<Value, Error> {
    let request = reqwest::Client::new().post(url).json(body);
    let request = token.iter().fold(request, |request, token| request.bearer_auth(token));
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        return Err(format!("POST {url} answered {status}: {text}").into());
    }
    Ok(serde_json::from_str(&text)?)
}
