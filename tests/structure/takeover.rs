//! What a function can't do that somebody has taken over: the rows that decide who may do what are written by those few
//! functions alone that are there for it.

use std::collections::{BTreeMap, BTreeSet};

use local::roles::matches;
use template::{Function, resolve_all};

use crate::checkout::{read, tables, template};

const WRITES: [&str; 4] = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"];

/// Writes that leave a row.
pub const CHANGES: [&str; 3] = ["PutItem", "UpdateItem", "BatchWriteItem"];

/// Who may create or change a partition's rows, and nobody else.
const WRITERS: [(&str, &str, &[&str], &[&str]); 42] = [
    ("SecretTable", "KEY#x", &CHANGES, &["create-api-key"]),
    ("SecretTable", "KEY#x", &["DeleteItem"], &["erase-artists", "log-out", "revoke-api-key"]),
    ("SecretTable", "ARTIST#x", &WRITES, &["create-api-key", "erase-artists", "log-out", "revoke-api-key"]),
    ("SecretTable", "SESSIONS#x", &CHANGES, &["add-passkey", "delete-artist", "log-out", "remove-passkey"]),
    ("SecretTable", "TOKENS#x", &CHANGES, &["log-in", "use-link", "use-passkey", "use-wallet"]),
    ("SecretTable", "PASSKEYS#x", &CHANGES, &["add-passkey", "give-proof", "remove-passkey", "use-passkey"]),
    // What allows changes of the ways in: who asks for a proof, and who takes it.
    ("SecretTable", "PROOF#x", &CHANGES, &["ask-proof", "give-proof"]),
    (
        "SecretTable",
        "PROOF#x",
        &["DeleteItem"],
        &["add-passkey", "change-email", "connect-wallet", "disconnect-wallet", "keep-email", "remove-passkey"],
    ),
    (
        "SecretTable",
        "CEREMONY#x",
        &WRITES,
        &["add-passkey", "challenge-passkey", "challenge-passkey-sign-in", "use-passkey"],
    ),
    ("SecretTable", "SESSIONS#x", &["DeleteItem"], &["erase-artists"]),
    ("SecretTable", "CODE#x", &WRITES, &["erase-artists", "log-in", "send-code", "use-link"]),
    ("SecretTable", "GUESSES#x", &WRITES, &["erase-artists", "log-in", "use-link"]),
    ("SecretTable", "DEVICES#x", &CHANGES, &["log-in", "use-link"]),
    ("SecretTable", "WAITS#x", &WRITES, &["erase-artists", "revoke-permission", "wait-for-events", "withdraw-funds"]),
    ("SecretTable", "STOPPED#x", &CHANGES, &["stop-mails"]),
    (
        "SecretTable",
        "CHALLENGE#x",
        &WRITES,
        &["challenge-sign-in", "challenge-wallet", "claim-moment", "connect-wallet", "use-wallet"],
    ),
    ("ArtistTable", "ATTRIBUTED#x", &WRITES, &["accept-moment", "index-chain"]),
    ("ArtistTable", "ACCEPTED#x", &CHANGES, &["accept-moment"]),
    (
        "ArtistTable",
        "EMAIL#x",
        &WRITES,
        &["change-email", "disconnect-wallet", "erase-artists", "keep-email", "log-in", "remove-passkey", "use-link"],
    ),
    (
        "ArtistTable",
        "ARTIST#x",
        &CHANGES,
        &[
            "connect-wallet",
            "disconnect-wallet",
            "log-in",
            // The forms of a picture, says the condition on attributes.
            "make-previews",
            "update-artist",
            "use-link",
            "use-wallet",
        ],
    ),
    ("ArtistTable", "WALLET#x", &CHANGES, &["connect-wallet", "log-in", "update-artist", "use-link", "use-wallet"]),
    ("ArtistTable", "WALLET#x", &["DeleteItem"], &["disconnect-wallet", "erase-artists"]),
    ("ArtistTable", "PAYOUTS#x", &CHANGES, &["add-payout-address", "remove-payout-address"]),
    (
        "ArtistTable",
        "WEBHOOKS#x",
        &CHANGES,
        &["create-webhook", "delete-webhook", "deliver-webhooks", "rotate-webhook", "update-webhook"],
    ),
    // Messages to receivers, signed as the service's.
    (
        "ArtistTable",
        "DELIVERIES#x",
        &WRITES,
        &["deliver-webhooks", "erase-artists", "redeliver-webhook", "test-webhook"],
    ),
    // What everybody's receivers and readers are told has happened.
    (
        "ArtistTable",
        "EVENTS",
        &WRITES,
        &["accept-moment", "cancel-transaction", "connect-wallet", "disconnect-wallet", "relay", "update-artist"],
    ),
    ("ChainTable", "EVENTS#1", &WRITES, &["index-chain", "rank-collectors"]),
    // Which bytes a CID stands for.
    (
        "ArtistTable",
        "CONTENT#x",
        &WRITES,
        &[
            "complete-upload",
            "create-metadata",
            "create-moment",
            "create-moments",
            "create-writing",
            "delete-upload",
            "pin-content",
        ],
    ),
    // Which account a mailbox gets that never signed in: one that is there can't be named, since it isn't created again.
    ("ArtistTable", "RESERVED#x", &WRITES, &["airdrop-moment", "log-in", "use-link"]),
    ("ArtistTable", "GIFTS#x", &WRITES, &["airdrop-moment"]),
    ("ArtistTable", "MAILS#x", &WRITES, &["erase-artists", "mail-news", "unsubscribe", "update-artist"]),
    ("ArtistTable", "BLOCK#x", &WRITES, &["pin-content"]),
    // What artists give away.
    ("ArtistTable", "ALLOWED#x", &WRITES, &["set-allow-list"]),
    ("ArtistTable", "CLAIM#x", &WRITES, &["create-claim-link", "erase-artists"]),
    ("ArtistTable", "CLAIMS#x", &WRITES, &["claim-moment", "create-claim-link", "delete-claim-link", "erase-artists"]),
    // Who adds them follows from the queues.
    ("ArtistTable", "TRANSACTIONS#x", &["UpdateItem"], &["cancel-transaction", "relay"]),
    ("ArtistTable", "TRANSACTIONS#x", &["DeleteItem"], &["erase-artists", "relay"]),
    ("ArtistTable", "ACCOUNT#x", &["DeleteItem"], &["erase-artists", "relay"]),
    // Which collections are taken for a factory's.
    ("ArtistTable", "MADE#x", &WRITES, &["relay"]),
    ("ArtistTable", "LANE#x", &WRITES, &["relay"]),
    ("ArtistTable", "RELAY#x", &WRITES, &["relay"]),
    (
        "ArtistTable",
        "DELETIONS",
        &WRITES,
        &["delete-artist", "erase-artists", "log-in", "use-link", "use-passkey", "use-wallet"],
    ),
];

const READS: [&str; 3] = ["BatchGetItem", "GetItem", "Query"];

/// Who may read a partition's rows, and nobody else.
const READERS: [(&str, &[&str]); 5] = [
    // Those that mail the artist, list a mailbox's devices, or export and erase everything.
    (
        "CONTACT#x",
        &[
            "add-collection-admin",
            "add-passkey",
            "add-payout-address",
            "ask-proof",
            "change-email",
            "collect-moment",
            "connect-wallet",
            "create-api-key",
            "create-webhook",
            "delete-artist",
            "delete-webhook",
            "deliver-webhooks",
            "disconnect-wallet",
            "erase-artists",
            "export-artist",
            "forget-device",
            "grant-permission",
            "keep-email",
            "list-activity",
            "log-in",
            "log-out",
            "mail-news",
            "migrate-moments",
            "move-moment",
            "remove-collection-admin",
            "remove-passkey",
            "remove-payout-address",
            "revoke-api-key",
            "revoke-permission",
            "rotate-webhook",
            "update-webhook",
            "use-link",
            "use-passkey",
            "use-wallet",
            "withdraw-funds",
        ],
    ),
    ("REPORTED", &[]),
    ("REPORTS#x", &[]),
    ("DECISIONS", &["index-chain"]),
    ("PROPOSALS", &[]),
];

/// Who may use a key, and nobody else.
const SIGNERS: [(&str, &str, &[&str]); 5] = [
    ("kms:Sign", "OperatorLaneKeyArns", &["relay"]),
    ("kms:Sign", "TokenKeyArns", &["log-in", "use-link", "use-passkey", "use-wallet"]),
    ("kms:VerifyMac", "CodeKeyArns", &["give-proof", "log-in"]),
    ("kms:GenerateMac", "CodeKeyArns", &["ask-proof", "send-code"]),
    ("kms:GenerateMac", "WebhookKeyArns", &["create-webhook", "deliver-webhooks", "rotate-webhook"]),
];

#[test]
fn rows_that_give_power_are_written_by_their_functions_alone() {
    let functions = functions();
    for (table, partition, actions, expected) in WRITERS {
        let writers: BTreeSet<_> = functions
            .iter()
            .filter(|function| {
                actions.iter().any(|action| may(function, &format!("dynamodb:{action}"), table, partition))
            })
            .map(|function| function.binary.as_str())
            .collect();
        assert_eq!(writers, expected.iter().copied().collect(), "{actions:?} of {partition} in {table}");
    }
}

#[test]
fn rows_that_nobody_else_is_to_see_are_read_by_their_functions_alone() {
    let functions = functions();
    for (partition, expected) in READERS {
        let reads = |function: &&Function| {
            READS.iter().any(|action| may(function, &format!("dynamodb:{action}"), "ArtistTable", partition))
        };
        let readers: BTreeSet<_> = functions.iter().filter(reads).map(|function| function.binary.as_str()).collect();
        assert_eq!(readers, expected.iter().copied().collect(), "{partition}");
    }
}

#[test]
fn keys_are_used_by_their_functions_alone() {
    let functions = functions();
    for (action, key, expected) in SIGNERS {
        let names = BTreeMap::from([(key.to_owned(), "the key".to_owned())]);
        let users: BTreeSet<_> = functions
            .iter()
            .filter(|function| {
                function.policies.iter().flatten().any(|statement| {
                    let resources = resolve_all(&statement.resources, &names).unwrap_or_default();
                    statement.actions.iter().any(|allowed| allowed == action)
                        && resources.iter().any(|resource| resource == "the key")
                })
            })
            .map(|function| function.binary.as_str())
            .collect();
        assert_eq!(users, expected.iter().copied().collect(), "{action} with {key}");
    }
}

#[test]
fn no_function_reads_or_writes_all_of_artists_or_secrets() {
    for function in functions() {
        for statement in function.policies.iter().flatten() {
            let names = tables();
            let resources = resolve_all(&statement.resources, &names).unwrap_or_default();
            let is_bound = statement.conditions.values().any(|keys| keys.contains_key("dynamodb:LeadingKeys"));
            let is_private = |table: &String| table == "ArtistTable" || table == "SecretTable";
            assert!(is_bound || !resources.iter().any(is_private), "{}: {statement:?}", function.binary);
        }
    }
}

/// Logs tell of an attack: a function that was taken over may add to them, and no more.
#[test]
fn no_function_reads_changes_or_deletes_logs() {
    let text = read("template.yaml");
    let named: BTreeSet<_> =
        text.split("logs:").skip(1).filter_map(|rest| rest.split([',', ']', ' ', '\n']).next()).collect();
    let actions: BTreeSet<_> = named.into_iter().filter(|name| name.starts_with(char::is_uppercase)).collect();
    assert_eq!(actions, ["CreateLogStream", "PutLogEvents"].into());
}

/// A condition on leading keys holds for requests without any: only those may stand under it that always have them.
#[test]
fn actions_bound_by_leading_keys_always_have_some() {
    const KEYED: [&str; 8] = [
        "BatchGetItem",
        "BatchWriteItem",
        "ConditionCheckItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "UpdateItem",
    ];
    for function in functions() {
        for statement in function.policies.iter().flatten() {
            let is_bound = statement.conditions.values().any(|keys| keys.contains_key("dynamodb:LeadingKeys"));
            let is_keyed =
                |action: &String| action.strip_prefix("dynamodb:").is_some_and(|action| KEYED.contains(&action));
            assert!(!is_bound || statement.actions.iter().all(is_keyed), "{}: {statement:?}", function.binary);
        }
    }
}

fn functions() -> Vec<Function> {
    template().functions().expect("functions")
}

fn may(function: &Function, action: &str, table: &str, partition: &str) -> bool {
    function.policies.iter().flatten().any(|statement| {
        let resources = resolve_all(&statement.resources, &tables()).unwrap_or_default();
        let mut bounds = statement.conditions.values().filter_map(|keys| keys.get("dynamodb:LeadingKeys"));
        let is_admitted = bounds.all(|patterns| {
            let patterns = resolve_all(patterns, &tables()).expect("leading keys");
            patterns.iter().any(|pattern| matches(pattern, partition))
        });
        statement.actions.iter().any(|allowed| allowed == action)
            && resources.iter().any(|resource| resource == table)
            && is_admitted
    })
}
