//! Times of ten endpoints: cold, warm, and beside others' requests.

use std::{process::Stdio, time::Duration};

use local::Error;
use tests::Stack;
use tokio::process::Command;

use super::{
    honest::{Honest, address},
    record::{Record, Taken},
};

/// Endpoints and their functions.
const ENDPOINTS: [(&str, &str); 10] = [
    ("GET /timeline", "list-timeline"),
    ("GET /moment", "read-moment"),
    ("GET /comments", "list-comments"),
    ("GET /collections", "list-collections"),
    ("GET /collectors", "list-collectors"),
    ("GET /artists/search", "search-artists"),
    ("GET /notifications", "list-notifications"),
    ("POST /oauth/code", "send-code"),
    ("POST /oauth/login", "log-in"),
    ("POST /registry/metadata/moment", "update-moment-uri"),
];

/// Requests of each endpoint, cold and warm.
const COLD: usize = 10;
const WARM: usize = 50;

/// The ten endpoints, asked one after another.
pub struct Endpoints {
    honest: Honest,
    record: Record,
    pub cold: Option<Taken>,
    pub warm: Option<Taken>,
}

impl Endpoints {
    pub fn of(honest: &Honest) -> Self {
        // What these requests take isn't the honest users'.
        let honest = honest.noting_in(Record::default());
        Self { honest, record: Record::default(), cold: None, warm: None }
    }

    /// Measures without other requests: first with a new process for each, then with old ones.
    pub async fn alone(&mut self) -> Result<(), Error> {
        for _ in 0..COLD {
            for (endpoint, (_, binary)) in ENDPOINTS.iter().enumerate() {
                self.ask(endpoint, Some(binary)).await?;
            }
        }
        self.cold = Some(self.record.take());
        for _ in 0..WARM {
            for endpoint in 0..ENDPOINTS.len() {
                self.ask(endpoint, None).await?;
            }
        }
        self.warm = Some(self.record.take());
        Ok(())
    }

    /// Asks all ten in turn until it is dropped.
    pub async fn go_round(&self) -> Result<(), Error> {
        loop {
            for endpoint in 0..ENDPOINTS.len() {
                self.ask(endpoint, None).await?;
            }
        }
    }

    /// Prints the three times of each, and forgets those under load.
    pub fn tell(&self) {
        let loaded = self.record.take();
        println!("\n| ms: p50, p90, p99 | cold | warm | under load | requests under load, failures |");
        println!("| --- | --- | --- | --- | --- |");
        for (name, _) in ENDPOINTS {
            let times =
                |taken: &Taken| [50, 90, 99].map(|percent| taken.percentile(name, percent).to_string()).join(", ");
            let before = |taken: &Option<Taken>| taken.as_ref().map_or_else(String::new, times);
            let (successes, all) = loaded.successes_of(name);
            println!(
                "| `{name}` | {} | {} | {} | {all}, {} |",
                before(&self.cold),
                before(&self.warm),
                times(&loaded),
                all - successes
            );
        }
    }

    /// Sends one request; `killed` names the function whose processes end before.
    async fn ask(&self, endpoint: usize, killed: Option<&str>) -> Result<(), Error> {
        let (honest, name) = (&self.honest, ENDPOINTS[endpoint].0);
        let (number, stack) = (honest.next(), &honest.stack);
        let request = match name {
            "POST /oauth/code" => {
                if let Some(binary) = killed {
                    end(binary).await?;
                }
                // Noted where it is sent.
                honest.noting_in(self.record.clone()).login(number, |_| name).await;
                return Ok(());
            }
            "POST /oauth/login" => match honest.login(number, |kind| kind).await {
                Some(request) => request,
                None => return Ok(()),
            },
            "POST /registry/metadata/moment" => honest.writing(),
            "GET /artists/search" => stack.get("/artists/search?query=ada").header("x-forwarded-for", address(number)),
            "GET /notifications" => stack.get("/notifications").header("x-forwarded-for", address(number)),
            read => {
                let path = read.trim_start_matches("GET ");
                let path = honest.reads.iter().find(|known| known.split('?').next() == Some(path));
                let Some(path) = path else { return Ok(()) };
                stack.get(path).header("x-forwarded-for", address(number))
            }
        };
        if let Some(binary) = killed {
            end(binary).await?;
        }
        self.record.send(name, request).await;
        Ok(())
    }
}

/// Kills a function's processes, so that the next request starts one.
async fn end(binary: &str) -> Result<(), Error> {
    kill(|function| function == binary).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok(())
}

/// Kills the processes of functions.
pub async fn kill(is_meant: impl Fn(&str) -> bool) -> Result<(), Error> {
    let processes = Stack::connect().map.processes;
    let meant = processes.iter().filter(|(function, _)| is_meant(function)).flat_map(|(_, ids)| ids);
    let ids: Vec<String> = meant.map(u32::to_string).collect();
    if !ids.is_empty() {
        // Some may have just ended.
        Command::new("kill").arg("-KILL").args(ids).stderr(Stdio::null()).status().await?;
    }
    Ok(())
}
