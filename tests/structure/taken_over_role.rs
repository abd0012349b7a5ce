//! What somebody who has taken over a function could write with its role: rows that make them somebody else, or have somebody
//! pay them. Each attempt is tried with each function.

use std::collections::{BTreeMap, BTreeSet};

use local::{recorder::Need, roles};
use shared::model::WriteKind;
use template::Function;

use crate::{
    checkout::{tables, template},
    takeover::CHANGES,
};

/// An attempt by its table, partition and the attributes that it has to name, and those who may. `log-in`, `use-link`,
/// `use-passkey` and `use-wallet` sign tokens: taking them over is signing in as anybody.
type Attempt = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const ATTEMPTS: [Attempt; 31] = [
    // A wallet of theirs signs in as another artist: its row and the artist's profile have to agree.
    ("ArtistTable", "WALLET#x", &["artist_id"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    ("ArtistTable", "WALLET#x", &["type"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    ("ArtistTable", "WALLET#x", &["chain"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    // It counts at once.
    ("ArtistTable", "WALLET#x", &["connected_at"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    ("ArtistTable", "WALLET#x", &["founded"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    ("ArtistTable", "WALLET#x", &["unproved"], &["connect-wallet", "log-in", "use-link", "use-wallet"]),
    (
        "ArtistTable",
        "ARTIST#x",
        &["wallets"],
        // Who disconnects writes those that are left, and no wallet's row.
        &["connect-wallet", "disconnect-wallet", "log-in", "use-link", "use-wallet"],
    ),
    // One that is to be disconnected stays.
    (
        "ArtistTable",
        "ARTIST#x",
        &["leaving"],
        &["connect-wallet", "disconnect-wallet", "log-in", "use-link", "use-wallet"],
    ),
    // Their profile is another artist's.
    ("ArtistTable", "ARTIST#x", &["artist_id"], &["log-in", "use-link", "use-wallet"]),
    ("ArtistTable", "ARTIST#x", &["embedded_wallet"], &["log-in", "use-link", "use-wallet"]),
    // A suspended artist publishes.
    ("ArtistTable", "ARTIST#x", &["suspension"], &["log-in", "use-link", "use-wallet"]),
    // A mailbox of theirs signs in as another artist, or takes the place of the artist's.
    ("ArtistTable", "EMAIL#x", &["artist_id"], &["change-email", "log-in", "use-link"]),
    ("ArtistTable", "EMAIL#x", &["since"], &["change-email", "log-in", "use-link"]),
    ("ArtistTable", "CONTACT#x", &["email"], &["change-email", "log-in", "use-link"]),
    // Who stops a change takes away what is to come, and so names it; no mailbox signs in by that.
    (
        "ArtistTable",
        "CONTACT#x",
        &["next"],
        &["change-email", "disconnect-wallet", "keep-email", "log-in", "remove-passkey", "use-link"],
    ),
    // A passkey of theirs signs in. The credential has the counter, which every answer moves.
    ("SecretTable", "PASSKEYS#x", &["credential"], &["add-passkey", "give-proof", "use-passkey"]),
    ("SecretTable", "PASSKEYS#x", &["created_at"], &["add-passkey"]),
    // One that is to be removed stays.
    ("SecretTable", "PASSKEYS#x", &["expires_at"], &["add-passkey", "remove-passkey"]),
    ("SecretTable", "SESSIONS#x", &["version", "passkeys"], &["add-passkey", "remove-passkey"]),
    // A key of theirs is another artist's.
    ("SecretTable", "KEY#x", &["artist_id"], &["create-api-key"]),
    ("SecretTable", "ARTIST#x", &["hash"], &["create-api-key"]),
    // A code or a challenge that they know is asked for.
    ("SecretTable", "CODE#x", &["mac"], &["send-code"]),
    ("SecretTable", "CODE#x", &["email"], &["send-code"]),
    ("SecretTable", "CEREMONY#x", &["state"], &["challenge-passkey", "challenge-passkey-sign-in"]),
    ("SecretTable", "CHALLENGE#x", &["wallet"], &["challenge-sign-in", "challenge-wallet"]),
    ("SecretTable", "DEVICES#x", &["seen_at"], &["log-in", "use-link"]),
    // What changes the ways in is proved.
    ("SecretTable", "PROOF#x", &["proved"], &["ask-proof", "give-proof"]),
    ("SecretTable", "PROOF#x", &["act"], &["ask-proof"]),
    ("SecretTable", "PROOF#x", &["subject"], &["ask-proof"]),
    // Money goes to them.
    ("ArtistTable", "PAYOUTS#x", &["address"], &["add-payout-address"]),
    ("ArtistTable", "PAYOUTS#x", &["added_at"], &["add-payout-address"]),
];

/// Partitions of what signs in, is paid, or says what is signed.
const CREDENTIALS: [(&str, &str); 17] = [
    ("ArtistTable", "ARTIST#x"),
    ("ArtistTable", "CONTACT#x"),
    ("ArtistTable", "EMAIL#x"),
    ("ArtistTable", "PAYOUTS#x"),
    ("ArtistTable", "WALLET#x"),
    ("SecretTable", "ARTIST#x"),
    ("SecretTable", "CEREMONY#x"),
    ("SecretTable", "CHALLENGE#x"),
    ("SecretTable", "CODE#x"),
    ("SecretTable", "DEVICES#x"),
    ("SecretTable", "GUESSES#x"),
    ("SecretTable", "KEY#x"),
    ("SecretTable", "PASSKEYS#x"),
    ("SecretTable", "PROOF#x"),
    ("SecretTable", "SESSIONS#x"),
    ("SecretTable", "STOPPED#x"),
    ("SecretTable", "TOKENS#x"),
];

/// Attributes of a transaction that say what is signed for whom.
const SIGNED: [&str; 8] = ["plan", "kind", "account", "gas", "artist_id", "chain", "is_deployed", "place"];

/// All functions that may queue anything, by what. `functions/workers/relay/tests/relay/forged.rs` shows what each kind
/// can't do, whoever queued it.
const QUEUES: [(&[WriteKind], &[&str]); 5] = [
    (
        &[WriteKind::Plain],
        &[
            "airdrop-moment",
            "claim-moment",
            "create-collection",
            "create-moment",
            "create-moments",
            "create-split",
            "create-writing",
            "distribute-split",
            "migrate-moments",
            "set-allow-list",
            "update-collection",
            "update-moment-uri",
            "update-sale",
        ],
    ),
    (&[WriteKind::Payment], &["collect-moment", "withdraw-funds"]),
    (&[WriteKind::Plain, WriteKind::Payment], &["create-comment"]),
    (
        &[WriteKind::Plain, WriteKind::Grant],
        &["add-collection-admin", "grant-permission", "move-moment", "remove-collection-admin", "revoke-permission"],
    ),
    (&WriteKind::ALL, &["relay"]),
];

#[test]
fn no_role_queues_anything_but_the_kinds_that_its_function_is_there_for() {
    let functions = template().functions().expect("functions");
    let mut found: BTreeMap<Vec<WriteKind>, BTreeSet<&str>> = BTreeMap::new();
    for function in &functions {
        let queues = |kind: &WriteKind| {
            let partition = format!("QUEUE#1#{kind}");
            CHANGES.iter().any(|action| may(function, action, "ArtistTable", &partition, &[]))
        };
        let kinds: Vec<_> = WriteKind::ALL.into_iter().filter(queues).collect();
        if !kinds.is_empty() {
            found.entry(kinds).or_default().insert(&function.binary);
        }
    }
    let expected = QUEUES.iter().map(|(kinds, functions)| (kinds.to_vec(), functions.iter().copied().collect()));
    assert_eq!(found, expected.collect::<BTreeMap<Vec<WriteKind>, BTreeSet<&str>>>());
}

/// A row that is put over a queued one isn't sent: the queue has the hash of the plan.
#[test]
fn functions_that_queue_add_transactions_and_count_for_accounts_and_no_others() {
    let queueing = QUEUES.iter().flat_map(|(_, functions)| functions.iter().copied()).collect::<BTreeSet<_>>();
    // Who takes a transaction back takes it from the account's count, too.
    let counting: BTreeSet<_> = queueing.iter().copied().chain(["cancel-transaction"]).collect();
    let functions = template().functions().expect("functions");
    for (action, partition, expected) in [
        ("PutItem", "TRANSACTIONS#x", &queueing),
        ("PutItem", "ACCOUNT#x", &queueing),
        ("UpdateItem", "ACCOUNT#x", &counting),
        ("BatchWriteItem", "TRANSACTIONS#x", &BTreeSet::new()),
        ("BatchWriteItem", "ACCOUNT#x", &BTreeSet::new()),
    ] {
        let writers = functions.iter().filter(|function| may(function, action, "ArtistTable", partition, &[]));
        let writers: BTreeSet<_> = writers.map(|function| function.binary.as_str()).collect();
        assert_eq!(writers, *expected, "{action} of {partition}");
    }
}

#[test]
fn no_role_makes_anybody_of_its_function_but_those_whose_job_it_is() {
    let functions = template().functions().expect("functions");
    for (table, partition, attributes, expected) in ATTEMPTS {
        let writers: BTreeSet<_> = functions
            .iter()
            .filter(|function| CHANGES.iter().any(|action| may(function, action, table, partition, attributes)))
            .map(|function| function.binary.as_str())
            .collect();
        assert_eq!(writers, expected.iter().copied().collect(), "{attributes:?} of {partition} in {table}");
    }
}

#[test]
fn every_update_of_a_credential_is_bound_to_attributes() {
    for function in template().functions().expect("functions") {
        for (table, partition) in CREDENTIALS {
            let is_unbound = may(&function, "UpdateItem", table, partition, &["of no row"]);
            assert!(!is_unbound, "{} updates whatever it likes of {partition} in {table}", function.binary);
        }
    }
}

#[test]
fn queued_transaction_is_rewritten_by_the_relay_alone() {
    for function in template().functions().expect("functions") {
        for attribute in SIGNED {
            let rewrites = may(&function, "UpdateItem", "ArtistTable", "TRANSACTIONS#x", &[attribute]);
            assert_eq!(rewrites, function.binary == "relay", "{} writes {attribute}", function.binary);
        }
    }
}

/// Whether a role allows a write that names these attributes besides the key.
fn may(function: &Function, action: &str, table: &str, partition: &str, attributes: &[&str]) -> bool {
    let named = ["pk", "sk"].iter().chain(attributes).map(|&name| name.to_owned()).collect();
    let context = [("dynamodb:LeadingKeys", BTreeSet::from([partition.to_owned()])), ("dynamodb:Attributes", named)];
    let need = Need {
        caller: function.binary.clone(),
        action: format!("dynamodb:{action}"),
        resource: table.to_owned(),
        context: BTreeMap::from(context.map(|(key, values)| (key.to_owned(), values))),
    };
    let names = tables();
    function.policies.iter().flatten().any(|statement| roles::allows(statement, &names, &need).expect("a statement"))
}
