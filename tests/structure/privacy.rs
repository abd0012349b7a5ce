//! `docs/privacy.md` says for how long the code keeps personal data, and the tables delete it by themselves.

use shared::store::{artist, secret};

use crate::checkout::read;

/// Data and how long it is kept, in the document's words; the constant, as `file::NAME` under `shared/src/`; the rows, as the
/// beginning of their keys, and what they say of their end.
type Kept = (&'static str, &'static str, &'static str, &'static str, &'static str);

const KEPT: [Kept; 19] = [
    ("username", "30 days", "store/artist/artists/usernames.rs::NAME_HELD_FOR", "USERNAME#{name}/", "30 days"),
    ("outcomes", "30 days", "store/artist/service_events.rs::LIFETIME", "EVENTS/{last:020}", "30 days"),
    ("transactions", "90 days", "store/artist/transactions/admission.rs::LIFETIME", "TRANSACTIONS#", "90 days"),
    ("allow-lists", "30 days", "store/artist/allow_lists.rs::KEPT", "ALLOWED#", "30 days"),
    ("claims", "30 days", "store/artist/claims.rs::KEPT", "CLAIMS#", "30 days"),
    ("claims", "30 days", "store/artist/claims.rs::KEPT", "CLAIM#", "30 days"),
    ("webhooks", "7 days", "store/artist/webhooks/delivery.rs::KEPT", "DELIVERIES#", "7 days"),
    ("mail address of who", "a year", "store/artist/artists/reservations.rs::RESERVED_FOR", "RESERVED#", "a year"),
    ("mail address of who", "3 days", "store/artist/gifts.rs::KEPT", "GIFTS#", "3 days"),
    ("what others did", "3 days", "store/artist/news.rs::KEPT", "NEWS#", "3 days"),
    ("reports", "180 days", "store/artist/moderation.rs::KEPT_FOR", "REPORTS#", "180 days"),
    ("codes", "10 minutes", "model/one_time_code.rs::LIFETIME", "CODE#{email_hash}/CODE", "10 minutes"),
    ("codes", "10 minutes", "model/one_time_code.rs::LIFETIME", "CODE#{email_hash}/{holder}", "10 minutes"),
    ("codes", "15 minutes", "model/sign_in_link.rs::LIFETIME", "CODE#{email_hash}/LINK", "15 minutes"),
    ("codes", "10 minutes", "store/secret/proofs.rs::PROOF_LIFETIME", "PROOF#", "10 minutes"),
    ("sessions", "an hour", "auth/token.rs::LIFETIME", "TOKENS#", "with the token"),
    ("devices", "a year", "store/secret/devices.rs::KNOWN_FOR", "DEVICES#", "a year"),
    ("failed attempts", "180 days", "store/secret/failed_codes.rs::KEPT_FOR", "GUESSES#", "180 days"),
    ("hash of an address", "30 days", "store/secret/stopped_mails.rs::STOPPED_FOR", "STOPPED#", "30 days"),
];

/// How the document begins to say that something stays as long as another thing, or as a parameter says.
const OTHERWISE: [&str; 3] = ["as ", "until ", "`"];

/// The document's table: the data, where it is and for how long.
fn table(document: &str) -> Vec<(&str, &str, &str)> {
    let rows = document.lines().skip_while(|line| !line.starts_with("| data |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.map(|cells| (cells[0], cells[2], cells[3])).collect()
}

/// Seconds of a duration such as `30 days` or `a year`.
fn seconds(duration: &str) -> u64 {
    let (number, unit) = duration.split_once(' ').expect("a number and a unit");
    let number = if number.starts_with('a') { 1 } else { number.parse::<u64>().expect("a number") };
    let seconds = match unit.trim_end_matches('s') {
        "minute" => 60,
        "hour" => 60 * 60,
        "day" => 24 * 60 * 60,
        "year" => 365 * 24 * 60 * 60,
        unit => panic!("an unknown unit: {unit}"),
    };
    number * seconds
}

/// The value of a constant, a product of numbers and `DAY`.
fn constant(place: &str) -> u64 {
    let (file, name) = place.split_once("::").expect("file::NAME");
    let text = read(&format!("shared/src/{file}"));
    let value = text.split(&format!("const {name}: ")).nth(1).and_then(|rest| rest.split(';').next());
    let value = value.and_then(|value| value.split("= ").nth(1)).unwrap_or_else(|| panic!("there is no {place}"));
    let factors = value.trim_start_matches("Duration::from_secs(").trim_end_matches(')').split(" * ");
    factors.map(|factor| if factor == "DAY" { seconds("a day") } else { factor.parse().expect("a number") }).product()
}

#[test]
fn personal_data_is_kept_for_as_long_as_the_document_says() {
    let document = read("docs/privacy.md");
    let table = table(&document);
    let sections = artist::ROWS.iter().chain(secret::ROWS);
    let rows: Vec<_> = sections.flat_map(|section| section.rows.iter().flat_map(|rows| rows.iter())).collect();
    for (data, duration, place, keys, end) in KEPT {
        let said = table.iter().find(|(said, ..)| said.starts_with(data)).unwrap_or_else(|| panic!("no {data}"));
        assert!(said.2.contains(duration), "{data} is kept for {duration}, and the document says {}", said.2);
        assert_eq!(constant(place), seconds(duration), "{data}: {place}");
        let mut found = rows.iter().filter(|row| format!("{}/{}", row.pk, row.sk).starts_with(keys)).peekable();
        assert!(found.peek().is_some(), "there is no {keys}");
        for row in found {
            let ends = row.expires.unwrap_or_default().to_lowercase();
            assert!(ends.contains(end), "{} {} expires: {ends:?}", row.pk, row.sk);
        }
    }
}

#[test]
fn whatever_the_document_says_of_a_time_is_compared_with_the_code() {
    let document = read("docs/privacy.md");
    let table = table(&document);
    assert!(table.len() > 15, "{table:?}");
    for (data, place, duration) in table {
        let has_other_end = OTHERWISE.iter().any(|word| duration.starts_with(word));
        let is_compared = KEPT.iter().any(|(known, ..)| data.starts_with(known));
        assert!(!place.ends_with(" table") || has_other_end || is_compared, "{data}: {duration}");
    }
}
