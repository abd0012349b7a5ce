//! DynamoDB's cost of reads doesn't depend on the number of rows. `READS_AT_SCALE` sets the larger number.

use std::env;

use alloy::primitives::{Address, B256, U256};
use shared::{
    model::{
        Action, Amount, ChainId, Collection, EventId, FeeRecipient, Moment, MomentRef, Payment, Protocol, Reason,
        Subject,
    },
    store::{
        StoreError,
        across::NotificationReads,
        artist::{ArtistTable, Decision, Moderation},
        chain::{ChainTable, Listing, NotificationList},
        engine::{BlockId, Journal, UnitOfWork},
    },
};
use tests::{Call, Recorder, Sandbox, Stack};

pub(crate) const CHAIN: ChainId = ChainId::DEFAULT;
const FEW: u64 = 100;
/// More than two buckets of a timeline have.
const MUCH: u64 = 600;
pub(crate) const ARTIST: Address = Address::repeat_byte(0xa1);
pub(crate) const BUYER: Address = Address::repeat_byte(0xb2);
const ON_SALE: Address = Address::repeat_byte(0xc3);

/// Queries of each function; words in capitals stand for addresses.
const QUERIES: [(&str, &[&str]); 4] = [
    ("list-collections", &["", "artist=ARTIST"]),
    (
        "list-timeline",
        &[
            "",
            "protocol=native",
            "artist=ARTIST",
            "artist=ARTIST&type=default",
            "collection=COLLECTION",
            "period=month",
        ],
    ),
    ("list-payments", &["", "artist=ARTIST", "collector=BUYER", "artist=ARTIST&collector=BUYER"]),
    ("list-notifications", &["", "artist=ARTIST", "artist=ARTIST&viewed=true", "artist=ARTIST&viewed=false"]),
];

fn id(number: u64, what: u64) -> EventId {
    EventId::new(CHAIN, B256::from(U256::from(number)), what)
}

pub(crate) fn collection(number: u64, address: Address, time: u64) -> Collection {
    Collection {
        id: id(number, 0),
        chain_id: CHAIN,
        address: address.into(),
        protocol: Protocol::Native,
        name: "A collection".to_owned(),
        uri: "ar://collection".to_owned(),
        creator: ARTIST.into(),
        admins: vec![ARTIST.into()],
        royalty: None,
        is_withheld: false,
        created_at: time,
        updated_at: time,
    }
}

pub(crate) fn moment(number: u64, time: u64) -> Moment {
    Moment {
        id: id(number, 1),
        chain_id: CHAIN,
        collection: ON_SALE.into(),
        token_id: U256::from(1_000_000 + number).into(),
        protocol: Protocol::Native,
        uri: "ar://moment".to_owned(),
        creator: ARTIST.into(),
        admins: vec![ARTIST.into()],
        max_supply: Amount(U256::from(u64::MAX)),
        minted: Amount(U256::ONE),
        burned: Amount::default(),
        sales: Vec::new(),
        royalty: None,
        fee_recipients: Vec::new(),
        moved_to: None,
        hidden_by: None,
        is_withheld: false,
        created_at: time,
        updated_at: time,
    }
}

pub(crate) fn payment(number: u64, time: u64) -> Payment {
    let of = moment(number, time);
    Payment {
        id: id(number, 2),
        chain_id: CHAIN,
        collection: of.collection,
        token_id: of.token_id,
        moment_id: of.id,
        protocol: of.protocol,
        uri: of.uri,
        creator: of.creator,
        moment_creator: of.creator,
        fee_recipients: vec![FeeRecipient { address: of.creator, millionths: 1_000_000 }],
        buyer: BUYER.into(),
        quantity: Amount(U256::ONE),
        amount: Amount(U256::from(1_000)),
        paid: Amount(U256::from(1_000)),
        currency: Address::ZERO.into(),
        referral: None,
        transaction_hash: B256::from(U256::from(number)),
        block: number,
        log: 0,
        transferred_at: time,
    }
}

/// Decides that moments and their collections are out of sight, as many as `withheld`, and lists them as the indexer does.
async fn withhold(
    unit: &mut UnitOfWork,
    moderation: &Moderation,
    withheld: std::ops::Range<u64>,
    time: u64,
) -> Result<(), StoreError> {
    for number in withheld {
        let mut address = [0xdd; 20];
        address[..8].copy_from_slice(&number.to_be_bytes());
        let made = Collection { is_withheld: true, ..collection(number, address.into(), time) };
        unit.add_collection(&made)?;
        unit.list_collection(&made).await?;
        let moment = Moment { is_withheld: true, ..moment(number, time) };
        let place = MomentRef { chain: CHAIN, collection: moment.collection, token: moment.token_id };
        unit.put_moment(&moment)?;
        unit.list_new(&place, &Listing::new(&moment, None)).await?;
        let decision = Decision {
            subject: Subject::Moment(place),
            action: Action::Hide,
            reason: Reason::Spam,
            note: "the same again".to_owned(),
            by: "the night shift".to_owned(),
            at: time,
            until: None,
            with: None,
        };
        moderation.decide(decision, None, "2026-11").await?;
    }
    Ok(())
}

/// Writes `rows` collections, moments and payments as the indexer does, `withheld` others between them that the operator
/// hid, and marks half of the notifications as viewed.
async fn fill(endpoints: &local::cloud::Endpoints, rows: u64, withheld: u64) {
    const TOGETHER: u64 = 500;
    let config = endpoints.sdk_config(&endpoints.dynamodb).await;
    let chain = ChainTable::new(&config, "ChainTable");
    let (mut unit, mut journal) = (UnitOfWork::new(chain.clone()), Journal::new(chain.clone(), CHAIN));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time").as_secs();
    let on_sale = collection(u64::MAX, ON_SALE, now);
    journal.open(&mut unit).await.expect("the journal opens");
    let artists = ArtistTable::new(&config, "ArtistTable");
    let (viewed, moderation) = (NotificationReads::new(chain, artists.clone()), Moderation::new(artists));
    let list = NotificationList { chain: CHAIN, artist: ARTIST.into() };
    let mut first = 0;
    for number in 0..rows {
        let time = now - rows + number;
        let mut address = [0; 20];
        address[..8].copy_from_slice(&number.to_be_bytes());
        let made = if number == 0 { on_sale.clone() } else { collection(number, address.into(), time) };
        unit.add_collection(&made).expect("a row");
        unit.list_collection(&made).await.expect("lists");
        let moment = moment(number, time);
        let place = MomentRef { chain: CHAIN, collection: moment.collection, token: moment.token_id };
        unit.put_moment(&moment).expect("a row");
        unit.list_new(&place, &Listing::new(&moment, None)).await.expect("timelines");
        unit.add_payment(&payment(number, time)).await.expect("lists");
        let others = 10_000_000 + number * (withheld / rows);
        withhold(&mut unit, &moderation, others..others + withheld / rows, time).await.expect("decisions");
        if number % TOGETHER == TOGETHER - 1 || number + 1 == rows || number + 1 == rows / 2 {
            let last = BlockId { number, hash: B256::from(U256::from(number)) };
            journal.commit(&mut unit, first, last, Some(number)).await.expect("the rows are written");
            first = number + 1;
            if first == rows / 2 {
                viewed.mark_all(&[list]).await.expect("marks");
            }
        }
    }
}

/// The calls for the first and the last page of each query, which are full.
async fn costs(stack: &Stack, rows: u64, withheld: u64) -> Vec<(String, Vec<Call>)> {
    let tables = Sandbox::with_empty_tables(stack, "list-payments").await;
    fill(&tables.endpoints, rows, withheld).await;
    let recorder = Recorder::in_front_of(&tables.endpoints.dynamodb).await.expect("a recorder");
    let mut costs = Vec::new();
    for (binary, queries) in QUERIES {
        let sandbox = Sandbox::with_database(stack, binary, &recorder.url).await;
        for query in queries {
            let of = if query.contains("viewed") { rows / 2 } else { rows };
            for page in [1, of.div_ceil(10)] {
                let names = [("ARTIST", ARTIST), ("BUYER", BUYER), ("COLLECTION", ON_SALE)];
                let query = names
                    .iter()
                    .fold((*query).to_owned(), |query, (name, address)| query.replace(name, &format!("{address:#x}")));
                let answer = sandbox.get(&format!("{query}&limit=10&page={page}")).await;
                assert_eq!(answer["statusCode"], 200, "{binary} {query}: {answer}");
                let shown = answer["body"].as_str().expect("a body").matches("\"chain_id\"").count();
                assert_eq!(shown, 10, "{binary} {query}: {answer}");
                let place = if page == 1 { "first" } else { "last" };
                let mut calls = recorder.take_calls();
                // Concurrent calls arrive in any order.
                calls.sort_by(|a, b| (&a.operation, a.rows).cmp(&(&b.operation, b.rows)));
                costs.push((format!("{binary} {query}, {place} page"), calls));
            }
        }
    }
    costs
}

fn compare(before: &[(String, Vec<Call>)], after: &[(String, Vec<Call>)]) {
    for ((query, few), (_, much)) in before.iter().zip(after) {
        let operations = |calls: &[Call]| calls.iter().map(|call| call.operation.clone()).collect::<Vec<_>>();
        let capacity = |calls: &[Call]| calls.iter().map(|call| call.capacity).sum::<f64>();
        println!("{query}: {} calls, {} units", much.len(), capacity(much));
        assert_eq!(operations(few), operations(much), "{query}");
        // A page of a timeline may begin anywhere in its bucket, so up to 256 rows of it are read besides. Elsewhere longer
        // numbers make rows larger, which may cost one more unit.
        let room = if query.starts_with("list-timeline") { 8.0 } else { 1.0 };
        assert!(capacity(much) <= capacity(few) + room, "{query}: {few:?}, {much:?}");
    }
}

#[tokio::test]
async fn page_cost_does_not_depend_on_the_number_of_rows() {
    let stack = Stack::connect();
    let rows = env::var("READS_AT_SCALE").map_or(MUCH, |rows| rows.parse().expect("a number"));
    let (few, much) = futures::join!(costs(&stack, FEW, 0), costs(&stack, rows, 0));
    compare(&few, &much);
}

#[tokio::test]
async fn pages_are_full_and_cost_the_same_among_a_thousand_decisions() {
    let stack = Stack::connect();
    let (without, among) = futures::join!(costs(&stack, FEW, 0), costs(&stack, FEW, 1_000));
    compare(&without, &among);
}
