//! `moments watch`: the artist's events as they come.

use std::time::Duration;

use moments_client::types::Currency;
use serde_json::Value;

use crate::{
    address::ApiAddress,
    amount::shown,
    arguments::Watch,
    failure::Failure,
    output::{self, Output},
    service::{EventFilter, Repeat, ask, pause},
    session,
};

/// How long a request waits for an event, in seconds: the most that the service does.
const WAIT: u64 = 20;
/// Pause after a failure that comes again and again.
const LONG_PAUSE: Duration = Duration::from_secs(30);
/// Where the log is now.
const LATEST: &str = "latest";

/// Prints events from now on, one a line, without an end.
pub async fn run(arguments: &Watch, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let service = session::signed_in(api)?;
    let me = ask(Repeat::Safely, || service.client.read_me().send()).await?;
    let types = (!arguments.types.is_empty()).then(|| arguments.types.join(","));
    let chains = ask(Repeat::Safely, || service.client.list_chains().send()).await?.chains;
    let currencies: Vec<_> = chains.into_iter().flat_map(|chain| chain.currencies).collect();
    let filter = EventFilter { artist: &me.artist.address, types: types.as_deref() };
    let mut next = service.events(LATEST, &filter, 0).await?.next;
    output::tell("Watching. Ctrl-C ends it.");
    let mut failed = 0;
    loop {
        match service.events(&next, &filter, WAIT).await {
            Ok(page) => {
                for event in &page.events {
                    output.answer(event, |event| vec![line(event, &currencies)])?;
                }
                (next, failed) = (page.next, 0);
            }
            Err(Failure::Refused(refusal)) if refusal.status == 410 => {
                output::tell("The service's log began anew: what happened in between isn't shown.");
                next = service.events(LATEST, &filter, 0).await?.next;
            }
            Err(failure) => {
                let Some(soon) = pause(&failure, Repeat::Safely, 0) else { return Err(failure) };
                let pause = pause(&failure, Repeat::Safely, failed).unwrap_or(LONG_PAUSE).max(soon);
                output::tell(&format!("{failure}. Trying again."));
                tokio::time::sleep(pause).await;
                failed += 1;
            }
        }
    }
}

/// An event in one line: when, what, of what, and what matters of it.
fn line(event: &Value, currencies: &[Currency]) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let detail = detail(text("type").trim_end_matches(".reverted"), &event["data"], currencies);
    format!("{}  {}  {}  {detail}", text("time"), text("type"), text("subject")).trim_end().to_owned()
}

/// What matters of an event of a type that is known; empty for the others.
fn detail(kind: &str, data: &Value, currencies: &[Currency]) -> String {
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    match kind {
        "collection.created" | "collection.updated" => text("name").to_owned(),
        "moment.created" | "moment.updated" => text("uri").to_owned(),
        "sale.updated" => match &data["sale"] {
            Value::Null => "not for sale".to_owned(),
            sale => format!("sold for {}", money(&sale["pricePerToken"], &sale["currency"], currencies)),
        },
        "moment.collected" | "moment.transferred" => {
            format!("{} from {} to {}", text("quantity"), text("from"), text("to"))
        }
        "payment.received" => {
            format!("{} from {}", money(&data["amount"], &data["currency"], currencies), text("buyer"))
        }
        "collection.accepted" => format!("{} from {}", text("account"), text("sender")),
        "comment.created" => format!("{}: {}", text("sender"), text("comment")),
        "permission.changed" => {
            let names = data["permissions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
            format!("{} has {}", text("account"), if names.is_empty() { "none".to_owned() } else { names.join(", ") })
        }
        "transaction.mined" => text("hash").to_owned(),
        "transaction.failed" => format!("{} {}", text("status"), text("reason")),
        "moderation.changed" => format!("{} {}", text("action"), text("reason")),
        _ => String::new(),
    }
}

/// An amount of a currency, in its smallest unit and by its contract, as people read it.
fn money(amount: &Value, contract: &Value, currencies: &[Currency]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (amount, contract) = (text(amount), text(contract));
    let known = currencies.iter().find(|known| known.address.eq_ignore_ascii_case(&contract));
    match known.and_then(|known| Some((u32::try_from(known.decimals).ok()?, &known.symbol))) {
        Some((decimals, symbol)) => shown(&amount, decimals, symbol),
        None => format!("{amount} of {contract}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let collected = json!({
            "type": "moment.collected.reverted", "time": "2026-11-21T09:30:00Z", "subject": "eip155:8453/erc1155:0x1/1",
            "data": {"quantity": "2", "from": "0x0", "to": "0xa"},
        });
        let expected = "2026-11-21T09:30:00Z  moment.collected.reverted  eip155:8453/erc1155:0x1/1  2 from 0x0 to 0xa";
        assert_eq!(line(&collected, &[]), expected);
        let unknown = json!({"type": "moment.praised", "time": "t", "subject": "s", "data": {"by": "0xa"}});
        assert_eq!(line(&unknown, &[]), "t  moment.praised  s");
        let ended = json!({"type": "sale.updated", "time": "t", "subject": "s", "data": {"sale": null}});
        assert_eq!(line(&ended, &[]), "t  sale.updated  s  not for sale");
        let usdc = json!({"symbol": "USDC", "decimals": 6, "address": format!("0x{}", "a".repeat(40))});
        let usdc = [serde_json::from_value(usdc).expect("a currency")];
        let paid = json!({"amount": "1500000", "currency": format!("0x{}", "A".repeat(40)), "buyer": "0xb"});
        assert_eq!(detail("payment.received", &paid, &usdc), "1.5 USDC from 0xb");
        assert_eq!(detail("payment.received", &paid, &[]), format!("1500000 of 0x{} from 0xb", "A".repeat(40)));
    }
}
