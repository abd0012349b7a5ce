//! Sends valid and invalid requests to the running service and checks every response against the contract.
//! `FUZZ_SEED`, which is printed, determines the requests: so many of each operation, or as many as `FUZZ_SECONDS` allow.

use std::env;

use alloy::signers::local::PrivateKeySigner;
use local::paths::Paths;
use serde_json::json;
use tests::{Answer, Stack, personal_sign, unused_email};
use tokio::process::Command;

/// Requests of each operation and kind beside the description's examples and the limits of its schemas.
const EXAMPLES: &str = "3";

/// Operations with the most cases and the slowest answers, which take as long as all others: both halves are sent at once.
const SLOW: &str = "^/moment/create";

/// Wallets that can be connected, each once: with those that are there, no more than an artist may have.
const PROOFS: usize = 7;

#[tokio::test]
async fn responses_conform_to_the_contract() {
    let stack = Stack::connect();
    // Two artists, since the fuzzer may revoke all keys of the one whose token it has.
    let (reader, writer) = (stack.new_artist().await, stack.new_writer().await);
    // A balance to collect, comment and withdraw with.
    stack.set_balance(writer.artist.wallet.parse().expect("an address"), 1_000_000_000_000_000_000).await;
    stack.create_key(&reader, &json!({})).await.expect_success();
    let key_id = stack.list_keys(&reader).await[0]["id"].as_str().expect("an id").to_owned();
    let wallets = [PrivateKeySigner::random(), PrivateKeySigner::random()];
    for (artist, wallet) in [&reader, &writer.artist].into_iter().zip(&wallets) {
        stack.connect_wallet(artist, wallet).await.expect_success();
    }
    let wallets = wallets.map(|wallet| format!("{:#x}", wallet.address())).join(" ");
    let payout = PrivateKeySigner::random().address();
    stack.add_old_payout_address(&reader, payout).await;
    let mut proofs = Vec::new();
    for _ in 0..PROOFS {
        let wallet = PrivateKeySigner::random();
        let message = stack.message_for(&reader, wallet.address()).await;
        proofs.push(json!({"signature": personal_sign(&wallet, &message), "message": message}));
    }
    let (wallet, mut sign_ins) = (PrivateKeySigner::random(), Vec::new());
    for _ in 0..PROOFS {
        let message = stack.sign_in_message(wallet.address(), 8453).await;
        sign_ins.push(json!({"signature": personal_sign(&wallet, &message), "message": message}));
    }
    let email = unused_email();
    let code = stack.code_for(&email).await;
    let root = Paths::of_checkout().root().to_owned();
    let folder = root.join("tests/fuzz");
    let given = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let seed = given("FUZZ_SEED", "1155");
    let part = |chosen: &str, phases: &str| {
        let mut command = Command::new(folder.join(".venv/bin/schemathesis"));
        command.current_dir(&folder).args(["run", "../../openapi.json", "--url", &stack.map.api]);
        command.args(["--seed", &seed, chosen, SLOW, "--phases", phases]);
        match env::var("FUZZ_SECONDS") {
            Ok(seconds) => command.args(["--max-time", &seconds]),
            // By number and not by time, so that each machine sends the same.
            Err(_) => command.args(["--max-examples", EXAMPLES]),
        };
        command.env("CONTRACT_TOKEN", &reader.token).env("CONTRACT_API_KEY", &writer.key).env("CONTRACT_SEED", &seed);
        command.env("CONTRACT_EMAIL", &email).env("CONTRACT_CODE", &code);
        command.env("CONTRACT_KEY_ID", &key_id).env("CONTRACT_OWN_WALLETS", &wallets);
        command.env("CONTRACT_PROOFS", json!(proofs).to_string());
        command.env("CONTRACT_SIGN_INS", json!(sign_ins).to_string());
        command.env("CONTRACT_PAYOUT", format!("{payout:#x}"));
        command.env("CONTRACT_COLLECTION", format!("{:#x}", writer.collection));
        command.env("CONTRACT_WALLET", &writer.artist.wallet);
        command.env("PYTHONPATH", &folder).env("PYTHONDONTWRITEBYTECODE", "1").kill_on_drop(true);
        command.output()
    };
    // No link leads from one of the slow ones to another.
    let (slow, others) = tokio::join!(
        part("--include-path-regex", "examples,coverage,fuzzing"),
        part("--exclude-path-regex", "examples,coverage,fuzzing,stateful"),
    );
    let parts = [slow, others].map(|part| part.expect("schemathesis runs: `make installed` installs it"));
    for part in &parts {
        print!("{}{}", String::from_utf8_lossy(&part.stdout), String::from_utf8_lossy(&part.stderr));
    }
    // Else most of it was refused at the door.
    Answer::of(stack.get("/me").bearer_auth(&reader.token)).await.expect_success();
    Answer::of(stack.get("/me").header("x-api-key", &writer.key)).await.expect_success();
    let conforms = parts.iter().all(|part| part.status.success());
    assert!(conforms, "the service deviates from openapi.json (see above); repeat with FUZZ_SEED={seed}");
}
