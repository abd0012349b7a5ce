use std::{env, sync::Arc};

use local::{Error, paths::Paths};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use template::Route;
use tests::{Stack, Writer, unused_email};
use tokio::{
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
};
use uuid::Uuid;

use super::{
    honest::{Honest, KINDS, STRANGERS, at_the_edge, client},
    open_loop,
    record::{Record, Taken},
    setting,
};

/// Requests of the attacker that may be open at once: a machine has no more sockets.
const MOST_OPEN: usize = 2_000;

/// Prints a line for each route. Returns whether honest users hardly noticed.
pub async fn measure() -> Result<bool, Error> {
    let (rate, seconds) = (setting("ATTACK_RATE", 500)?, setting("ATTACK_SECONDS", 10)?);
    let is_timed = env::var("LATENCY").as_deref() != Ok("free");
    let honest = Honest::new(4, true).await?;
    // The first requests start processes.
    honest.live(seconds).await;
    let quiet = honest.live(setting("QUIET_SECONDS", 60)?).await;
    println!("| one client at {rate}/s on | it got | honest successes | p99 {} (ms) |", KINDS.join(", "));
    println!("| --- | --- | --- | --- |");
    let mut is_fine = tell("nothing", "", &quiet);
    let (mut all, mut slow) = (Taken::default(), Vec::new());
    for (number, route) in routes()?.iter().enumerate() {
        // One of its own for each: some routes end credentials.
        let attacker = Attacker::new(STRANGERS + number).await?;
        let attack = attacker.attack(route, rate, seconds);
        let taken = honest.live(seconds).await;
        attack.await?;
        let name = format!("`{} {}`", route.method, route.path);
        is_fine &= tell(&name, &attacker.record.take().statuses(), &taken);
        if !is_quick(&taken, &quiet) {
            slow.push(name);
        }
        all.add(taken);
    }
    is_fine &= tell("all of them", "", &all);
    println!("\nbeyond twice the quiet p99: {}", if slow.is_empty() { "none".to_owned() } else { slow.join(", ") });
    // A route's own requests are too few for a percentile.
    Ok(is_fine && (!is_timed || is_quick(&all, &quiet)))
}

/// The template's routes, or those whose paths `ROUTES` names.
fn routes() -> Result<Vec<Route>, Error> {
    let template = Paths::of_checkout().template()?;
    let wanted = env::var("ROUTES").unwrap_or_default();
    let wanted: Vec<_> = wanted.split(',').filter(|path| !path.is_empty()).collect();
    let routes = template.routes()?.into_iter();
    Ok(routes.filter(|route| wanted.is_empty() || wanted.contains(&route.path.as_str())).collect())
}

/// Prints a phase. Whether 99 % succeeded.
fn tell(name: &str, got: &str, taken: &Taken) -> bool {
    let (successes, all) = taken.successes();
    let times = KINDS.map(|kind| taken.percentile(kind, 99).to_string()).join(", ");
    println!("| {name} | {got} | {successes} of {all} | {times} |");
    successes * 100 >= all * 99
}

fn is_quick(taken: &Taken, quiet: &Taken) -> bool {
    KINDS.iter().all(|kind| taken.percentile(kind, 99) <= 2 * quiet.percentile(kind, 99))
}

/// A client with an artist's credentials and one address.
struct Attacker {
    stack: Arc<Stack>,
    writer: Writer,
    record: Record,
}

impl Attacker {
    async fn new(number: usize) -> Result<Self, Error> {
        let mut stack = client(number)?;
        let writer = stack.new_writer().await;
        stack.map.api = at_the_edge().map.api;
        Ok(Self { stack: Arc::new(stack), writer, record: Record::default() })
    }

    /// Sends `rate` requests a second to a route, whether or not they are answered.
    fn attack(&self, route: &Route, rate: u64, seconds: u64) -> JoinHandle<()> {
        let record = self.record.clone();
        let requests: Vec<_> = (0..32).map(|_| self.request(route)).collect();
        tokio::spawn(async move {
            let (open, mut sent, mut number) = (Arc::new(Semaphore::new(MOST_OPEN)), JoinSet::new(), 0);
            open_loop(rate, seconds, || {
                number += 1;
                let request = requests[number % requests.len()].try_clone();
                if let (Some(request), Ok(permit)) = (request, Arc::clone(&open).try_acquire_owned()) {
                    // No write is a repetition.
                    let request = request.header("idempotency-key", Uuid::new_v4().to_string());
                    let record = record.clone();
                    sent.spawn(async move {
                        record.send("attack", request).await;
                        drop(permit);
                    });
                }
            })
            .await;
            sent.join_all().await;
        })
    }

    /// A request that costs as much as one can: with credentials, and well-formed where that is easy.
    fn request(&self, route: &Route) -> RequestBuilder {
        let (collection, wallet) = (format!("{:#x}", self.writer.collection), &self.writer.artist.wallet);
        let values = [
            ("{network}", "eip155:8453".to_owned()),
            ("{contract}", format!("erc1155:{collection}")),
            ("{address}", wallet.clone()),
            ("{part}", "script.js".to_owned()),
            ("{cid}", "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy".to_owned()),
            ("{id}", "018f0000-0000-7000-8000-000000000000".to_owned()),
        ];
        let path = values.iter().fold(route.path.clone(), |path, (name, value)| path.replace(name, value));
        let moment = json!({"collectionAddress": collection, "tokenId": "1"});
        let body = match route.path.as_str() {
            "/oauth/code" => json!({"email": unused_email()}),
            "/oauth/login" => json!({"email": unused_email(), "code": "000000"}),
            "/artists/wallets/challenge" => json!({"address": wallet}),
            "/registry/metadata/moment" => json!({"moment": moment, "newUri": "ar://attack"}),
            "/sale" => json!({"moment": moment, "pricePerToken": "5"}),
            "/moment/collect" => json!({"moment": moment, "amount": 1, "comment": "attack"}),
            _ => json!({}),
        };
        let query = match route.path.as_str() {
            "/smartwallet" => format!("?address={wallet}"),
            "/comments" | "/moment" => format!("?collectionAddress={collection}&tokenId=1"),
            "/artists/search" => "?query=ada".to_owned(),
            "/events" => "?after=latest&wait=5".to_owned(),
            _ => String::new(),
        };
        let method = Method::from_bytes(route.method.as_bytes()).unwrap_or(Method::GET);
        let request = self.stack.http.request(method.clone(), format!("{}{path}{query}", self.stack.map.api));
        let request = request.header("x-api-key", &self.writer.key);
        let request = match route.path.starts_with("/artists/") {
            true => request.bearer_auth(&self.writer.artist.token),
            false => request,
        };
        if method == Method::GET { request } else { request.json(&body) }
    }
}
