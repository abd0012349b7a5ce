//! What a function can't do that somebody has taken over: the rows that decide who may do what are written by those few
//! functions alone that are there for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use local::paths::Paths;
use template::{Function, Template, resolve_all};

const WRITES: [&str; 4] = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"];

/// Writes that leave a row.
const CHANGES: [&str; 3] = ["PutItem", "UpdateItem", "BatchWriteItem"];

/// Who may create or change a partition's rows, and nobody else.
const WRITERS: [(&str, &str, &[&str], &[&str]); 22] = [
    ("SecretTable", "KEY#x", &CHANGES, &["create-api-key"]),
    ("SecretTable", "KEY#x", &["DeleteItem"], &["erase-artists", "log-out", "revoke-api-key"]),
    ("SecretTable", "ARTIST#x", &WRITES, &["create-api-key", "erase-artists", "log-out", "revoke-api-key"]),
    (
        "SecretTable",
        "SESSIONS#x",
        &CHANGES,
        &["add-passkey", "delete-artist", "log-out", "remove-passkey", "use-passkey"],
    ),
    ("SecretTable", "TOKENS#x", &CHANGES, &["log-in", "use-link", "use-passkey", "use-wallet"]),
    ("SecretTable", "PASSKEYS#x", &CHANGES, &["add-passkey", "remove-passkey", "use-passkey"]),
    (
        "SecretTable",
        "CEREMONY#x",
        &WRITES,
        &["add-passkey", "challenge-passkey", "challenge-passkey-sign-in", "use-passkey"],
    ),
    ("SecretTable", "SESSIONS#x", &["DeleteItem"], &["erase-artists", "remove-passkey"]),
    (
        "SecretTable",
        "CODE#x",
        &WRITES,
        &["challenge-email", "change-email", "erase-artists", "log-in", "send-code", "use-link"],
    ),
    ("SecretTable", "GUESSES#x", &WRITES, &["erase-artists", "log-in", "use-link"]),
    ("SecretTable", "DEVICES#x", &CHANGES, &["log-in", "use-link"]),
    ("SecretTable", "WAITS#x", &WRITES, &["erase-artists", "list-events"]),
    ("SecretTable", "STOPPED#x", &CHANGES, &["stop-mails"]),
    ("SecretTable", "CHALLENGE#x", &WRITES, &["challenge-sign-in", "challenge-wallet", "connect-wallet", "use-wallet"]),
    ("ArtistTable", "EMAIL#x", &WRITES, &["change-email", "erase-artists", "keep-email", "log-in", "use-link"]),
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
    ("ArtistTable", "BLOCK#x", &WRITES, &["pin-content"]),
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
            "challenge-email",
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
            "migrate-moments",
            "remove-passkey",
            "remove-payout-address",
            "revoke-api-key",
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
const SIGNERS: [(&str, &str, &[&str]); 4] = [
    ("kms:Sign", "TokenKey.Arn", &["log-in", "use-link", "use-passkey", "use-wallet"]),
    ("kms:VerifyMac", "CodeKey.Arn", &["change-email", "log-in"]),
    ("kms:GenerateMac", "CodeKey.Arn", &["challenge-email", "send-code"]),
    ("kms:GenerateMac", "WebhookKey.Arn", &["create-webhook", "deliver-webhooks", "rotate-webhook"]),
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
    let text = fs::read_to_string(Paths::of_checkout().root().join("template.yaml")).expect("template.yaml");
    text.parse::<Template>().expect("a template").functions().expect("functions")
}

fn tables() -> BTreeMap<String, String> {
    ["ChainTable", "ArtistTable", "SecretTable"].map(|table| (format!("{table}.Arn"), table.to_owned())).into()
}

fn may(function: &Function, action: &str, table: &str, partition: &str) -> bool {
    function.policies.iter().flatten().any(|statement| {
        let resources = resolve_all(&statement.resources, &tables()).unwrap_or_default();
        let mut bounds = statement.conditions.values().filter_map(|keys| keys.get("dynamodb:LeadingKeys"));
        let is_admitted = bounds.all(|patterns| {
            let patterns = resolve_all(patterns, &tables()).expect("leading keys");
            patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => partition.starts_with(start),
                None => partition == pattern,
            })
        });
        statement.actions.iter().any(|allowed| allowed == action)
            && resources.iter().any(|resource| resource == table)
            && is_admitted
    })
}
