//! Pages that follow `Link`: bounded in bytes, and of the same rows whatever is added meanwhile.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use alloy::primitives::{Address, B256, U256};
use serde_json::Value;
use shared::{
    model::{Collection, Content, FeeRecipient, MAX_FEE_RECIPIENTS, Metadata, Moment},
    store::{
        chain::{ChainTable, Documents, DueDocument, Listing},
        engine::{BlockId, Journal, UnitOfWork},
    },
};
use tests::{Sandbox, Stack};

use crate::reads_at_scale::{ARTIST, BUYER, CHAIN, collection, moment, payment};

/// Most bytes that a function may answer with (AWS Lambda quotas).
const MOST_BYTES: usize = 6_291_556;

/// Time of the first row, in Unix seconds.
const START: u64 = 1_700_000_000;

/// More than are shown in a list.
const ADMINS: usize = 100;

/// Functions, and the field of their rows.
const LISTS: [(&str, &str); 5] = [
    ("list-timeline", "moments"),
    ("list-collections", "collections"),
    ("list-payments", "payments"),
    ("list-notifications", "notifications"),
    ("list-transfers", "transfers"),
];

/// Writes rows as the indexer does.
struct Shelf {
    unit: UnitOfWork,
    journal: Journal,
    documents: Documents,
    /// Whether strangers made the rows as large as they can.
    is_nasty: bool,
}

impl Shelf {
    async fn open(sandbox: &Sandbox, is_nasty: bool) -> Self {
        let config = sandbox.endpoints.sdk_config(&sandbox.endpoints.dynamodb).await;
        let table = ChainTable::new(&config, "ChainTable");
        let (mut unit, mut journal) = (UnitOfWork::new(table.clone()), Journal::new(table.clone(), CHAIN));
        journal.open(&mut unit).await.expect("the journal opens");
        Self { unit, journal, documents: Documents::new(table), is_nasty }
    }

    /// Adds a collection, a moment and a payment for each number, several of a block's time together.
    async fn add(&mut self, numbers: Range<u64>) {
        for number in numbers.clone() {
            let (collection, moment) = self.made(number);
            if self.is_nasty {
                self.keep(&collection.uri).await;
            }
            self.unit.add_collection(&collection).expect("a row");
            self.unit.list_collection(&collection).await.expect("lists");
            self.unit.put_moment(&moment).expect("a row");
            let listing = Listing::new(&moment, None);
            self.unit.list_new(&moment.place(), &listing).await.expect("timelines");
            let mut paid = payment(number, moment.created_at);
            (paid.collection, paid.token_id, paid.uri) = (moment.collection, moment.token_id, moment.uri.clone());
            paid.fee_recipients.clone_from(&moment.fee_recipients);
            if self.is_nasty {
                paid.uri += &"\"".repeat(7_000);
            }
            self.unit.add_payment(&paid).await.expect("lists");
        }
        self.commit(numbers).await;
    }

    async fn commit(&mut self, Range { start, end }: Range<u64>) {
        let last = BlockId { number: end - 1, hash: B256::from(U256::from(end - 1)) };
        self.journal.commit(&mut self.unit, start, last, Some(end - 1)).await.expect("the rows are written");
    }

    fn made(&self, number: u64) -> (Collection, Moment) {
        let mut address = [0xcc; 20];
        address[..8].copy_from_slice(&number.to_be_bytes());
        let time = START + number / 3;
        let (mut collection, mut moment) = (collection(number, address.into(), time), moment(number, time));
        moment.collection = collection.address;
        if self.is_nasty {
            let admin = |admin: usize| Address::from_word(U256::from(admin).into()).into();
            collection.admins = (0..ADMINS).map(admin).collect();
            collection.uri = format!("https://a.example/{number}{}", "\"".repeat(1_000));
            moment.uri.clone_from(&collection.uri);
            moment.fee_recipients = vec![FeeRecipient { address: ARTIST.into(), millionths: 999 }; MAX_FEE_RECIPIENTS];
        }
        (collection, moment)
    }

    /// Keeps the largest document that there may be in the table.
    async fn keep(&self, uri: &str) {
        let uris = "\"".repeat(8 * 1024);
        let document = Metadata {
            name: "\\".repeat(256),
            image: uris.clone(),
            description: "\"".repeat(2_000),
            content: Content { mime: "\"".repeat(128), uri: uris.clone() },
            external_url: uris[..2_048].to_owned(),
            animation_url: uris,
            alt: "\"".repeat(1_000),
        };
        let due = DueDocument::new(CHAIN, uri, ARTIST.into(), START);
        self.documents.keep(&due, document, START).await.expect("a document");
    }
}

/// A page of a function's list, or the one that `link` names.
async fn page(sandbox: &Sandbox, query: &str) -> (Value, Option<String>) {
    let answer = sandbox.get(query).await;
    assert_eq!(answer["statusCode"], 200, "{query}: {}", answer["body"]);
    let link = answer["headers"]["link"].as_str().map(|link| {
        let next = link.strip_prefix("<?").and_then(|link| link.strip_suffix(">; rel=\"next\""));
        next.expect("a link to a query").to_owned()
    });
    (answer, link)
}

fn ids(answer: &Value, field: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
    let rows = body[field].as_array().expect("rows").clone();
    rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn nastiest_hundred_stay_below_what_a_function_may_answer_and_are_all_reached() {
    let stack = Stack::connect();
    let tables = Sandbox::with_empty_tables(&stack, "list-timeline").await;
    Shelf::open(&tables, true).await.add(0..100).await;
    for (function, field) in LISTS {
        let sandbox = Sandbox::with_database(&stack, function, &tables.endpoints.dynamodb).await;
        let (mut query, mut sizes, mut seen) = ("limit=100".to_owned(), Vec::new(), Vec::new());
        loop {
            let (answer, next) = page(&sandbox, &query).await;
            sizes.push(answer.to_string().len());
            seen.extend(ids(&answer, field));
            let Some(next) = next else { break };
            query = next;
        }
        println!("{function}: pages of {sizes:?} bytes");
        assert!(sizes.iter().all(|size| *size < MOST_BYTES), "{function}: {sizes:?}");
        // Payments show no documents, and all end at 4 MB.
        let least = if ["list-payments", "list-notifications"].contains(&function) { 4 << 20 } else { MOST_BYTES };
        let is_nasty = sizes.len() > 1 && sizes.iter().sum::<usize>() > least;
        assert!(is_nasty, "{function}: these are not the nastiest: {sizes:?}");
        let different: BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), different.len()), (100, 100), "{function}");
    }
}

#[tokio::test]
async fn following_links_loses_and_repeats_nothing_while_rows_arrive() {
    let stack = Stack::connect();
    let tables = Sandbox::with_empty_tables(&stack, "list-timeline").await;
    let mut shelf = Shelf::open(&tables, false).await;
    let mut rows = 50;
    shelf.add(0..rows).await;
    let filters = [
        ("list-timeline", vec!["", "artist=ARTIST", "artist=ARTIST&type=default", "period=all&hidden=true"]),
        ("list-collections", vec!["", "artist=ARTIST"]),
        ("list-payments", vec!["", "artist=ARTIST", "collector=BUYER", "artist=ARTIST&collector=BUYER"]),
        ("list-transfers", vec!["", "artist=ARTIST", "collector=BUYER&type=payment"]),
    ];
    let fields = HashMap::from(LISTS);
    for (function, queries) in filters {
        let sandbox = Sandbox::with_database(&stack, function, &tables.endpoints.dynamodb).await;
        for filter in queries {
            let query = filter.replace("ARTIST", &format!("{ARTIST:#x}")).replace("BUYER", &format!("{BUYER:#x}"));
            let whole = ids(&page(&sandbox, &format!("{query}&limit=100")).await.0, fields[function]);
            // As an edge keeps it: the page before more arrived.
            let (kept, mut next) = page(&sandbox, &format!("{query}&limit=9")).await;
            let mut walked = ids(&kept, fields[function]);
            assert_eq!(walked, whole[..9], "{function} {filter}");
            let mut pages = 1;
            while let Some(link) = next.take().filter(|_| walked.len() < 40) {
                shelf.add(rows..rows + 4).await;
                rows += 4;
                let (answer, after) = page(&sandbox, &link).await;
                let control = answer["headers"]["cache-control"].as_str().expect("a header");
                assert!(control.starts_with("public, max-age=60,"), "{link}: {control}");
                assert_eq!(ids(&answer, fields[function]), ids(&page(&sandbox, &link).await.0, fields[function]));
                walked.extend(ids(&answer, fields[function]));
                next = after;
                pages += 1;
            }
            assert!(pages > 3, "{function} {filter}: {pages} pages");
            assert_eq!(walked, whole[..walked.len()], "{function} {filter}");
        }
    }
}
