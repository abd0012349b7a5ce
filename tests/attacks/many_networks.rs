//! Somebody tries to sign in from many networks: from the 65,536 of one subscriber's /48, or from addresses side by side.

use std::{collections::BTreeSet, env, iter};

use alloy::signers::local::PrivateKeySigner;
use futures::future::join_all;
use serde_json::{Value, json};
use tests::{HOUR, Sandbox, Stack, history::Dice, unused_address, unused_email, unused_network, within_one_window};
use uuid::Uuid;

use super::noisy_network::{post, strict};

/// Networks of the /48 that are tried.
const TRIED: usize = 80;

/// Addresses of an IPv4 block, and subscribers of one provider.
const NEIGHBOURS: u8 = 30;

/// An endpoint that counts networks, each of which may ask it once.
struct Route {
    function: Sandbox,
    body: Value,
    /// What it answers to whom it doesn't refuse.
    answers: u16,
    /// How many networks of a /48, or addresses of a /24, it doesn't refuse.
    most: usize,
}

impl Route {
    async fn new(stack: &Stack, binary: &str, body: Value, answers: u16, most: usize) -> Self {
        Self { function: strict(stack, binary).await, body, answers, most }
    }

    /// Of these clients, how many aren't refused. Each names a mailbox of its own, if any.
    async fn admitted(&self, clients: impl Iterator<Item = String>) -> usize {
        let (mut admitted, mut body) = (0, self.body.clone());
        for client in clients {
            if body["email"].is_string() {
                body["email"] = json!(unused_email());
            }
            let (status, answer) = post(&self.function, &client, &body).await;
            assert!([self.answers, 429].contains(&status), "{body}: {status}: {answer}");
            admitted += usize::from(status == self.answers);
        }
        admitted
    }
}

/// Every route that counts networks before it is known who signs in.
async fn routes(stack: &Stack) -> [Route; 7] {
    let artist = stack.new_artist().await;
    let (mut passkey, _) = stack.made_passkey(&artist.token).await;
    let credential = passkey.sign(&stack.passkey_challenge().await["publicKey"]).expect("an answer");
    let (address, signature) = (PrivateKeySigner::random().address(), format!("0x{}", "00".repeat(65)));
    let unknown = json!({"ceremony": Uuid::new_v4().to_string(), "credential": credential});
    [
        // A network's share of all mails is the same whatever its width.
        Route::new(stack, "send-code", json!({"email": ""}), 200, 1).await,
        Route::new(stack, "log-in", json!({"email": "", "code": "000000"}), 401, 16).await,
        Route::new(stack, "use-link", json!({"link": "A".repeat(64)}), 401, 16).await,
        Route::new(stack, "challenge-sign-in", json!({"address": address}), 200, 16).await,
        Route::new(stack, "use-wallet", json!({"message": "junk", "signature": signature}), 401, 16).await,
        Route::new(stack, "challenge-passkey-sign-in", json!({}), 200, 16).await,
        Route::new(stack, "use-passkey", unknown, 401, 16).await,
    ]
}

#[tokio::test]
async fn networks_of_one_subscriber_are_limited_together_on_every_route_of_a_sign_in() {
    let seed: u64 = env::var("SEED").map_or(48, |seed| seed.parse().expect("a number"));
    println!("SEED={seed}");
    let (mut dice, mut seen) = (Dice::at(seed), BTreeSet::new());
    let subnets: Vec<_> =
        iter::repeat_with(|| dice.roll(1 << 16)).filter(|subnet| seen.insert(*subnet)).take(TRIED).collect();
    let (stack, subnets) = (Stack::connect(), &subnets);
    let tried = routes(&stack).await.map(|route| async move {
        let admitted = within_one_window(HOUR, async || {
            let (network, address) = (unused_network(), unused_address());
            let (block, _) = address.rsplit_once('.').expect("an address");
            let of_subscriber = subnets.iter().map(|subnet| format!("{network}:{subnet:x}::1"));
            let of_block = (1..=NEIGHBOURS).map(|host| format!("{block}.{host}"));
            (route.admitted(of_subscriber).await, route.admitted(of_block).await)
        })
        .await;
        assert_eq!(
            admitted,
            (route.most, route.most),
            "of {TRIED} networks and of {NEIGHBOURS} addresses: {}",
            route.body
        );
        // Others of the same provider are other people. Each mail is one less for all tests.
        let others = if route.answers == 200 && route.most == 1 { 1 } else { NEIGHBOURS };
        let provider = unused_network();
        let (provider, _) = provider.rsplit_once(':').expect("a network");
        let others_admitted = route.admitted((1..=others).map(|other| format!("{provider}:{other:x}::1"))).await;
        assert_eq!(others_admitted, usize::from(others), "{}", route.body);
    });
    join_all(tried).await;
}
