//! Round trips to a node that writes take, and the calls of each.

use alloy::primitives::{Address, address};
use serde_json::{Value, json};
use tests::{Collector, RpcProxy, Sandbox, Stack};

/// Says what a transaction's data costs: <https://specs.optimism.io/protocol/predeploys.html#gaspriceoracle>
const ORACLE: Address = address!("420000000000000000000000000000000000000F");
/// The calls of a trial: simulation, estimate of its gas, market's fees and fee for the data.
const TRIAL: usize = 4;
const ETHER: u64 = 1_000_000_000_000_000_000;

/// A node that answers no call of a round trip before all of them have come.
struct Counted {
    stack: Stack,
    node: RpcProxy,
    artist: Collector,
}

impl Counted {
    async fn new() -> Self {
        let stack = Stack::connect();
        let oracle = json!(ORACLE);
        // The local chain lacks it, so that it would be asked in a second way, too.
        let of_oracle =
            move |call: &Value| (call["params"][0]["to"] == oracle).then(|| json!({"result": format!("0x{:064x}", 1)}));
        let node = RpcProxy::in_front_of(&stack.map.rpc["8453"], of_oracle).await;
        let artist = stack.new_collector().await;
        Self { stack, node, artist }
    }

    /// A collection with a moment for sale, which the index has. The artist's account is deployed by then.
    async fn published(&self) -> Address {
        let collection = self.stack.publish(&self.artist.key, sale(), json!({})).await;
        let path = format!("/moment?collectionAddress={collection:#x}&tokenId=1");
        self.stack.wait_until(&path, |_| true).await;
        collection
    }

    /// Fails unless a write of the artist's takes these trips, each of so many calls.
    async fn assert_trips(&self, binary: &str, body: Value, trips: &[usize]) {
        self.assert_trips_of(binary, json!({"headers": self.headers(), "body": body.to_string()}), trips).await;
    }

    /// The same for a write whose path names a collection.
    async fn assert_trips_in(&self, collection: Address, binary: &str, body: Value, trips: &[usize]) {
        let path = json!({"network": "eip155:8453", "contract": format!("erc1155:{collection:#x}")});
        let fields = json!({"headers": self.headers(), "pathParameters": path, "body": body.to_string()});
        self.assert_trips_of(binary, fields, trips).await;
    }

    fn headers(&self) -> Value {
        json!({"content-type": "application/json", "x-api-key": self.artist.key})
    }

    /// The same for an event with these fields.
    async fn assert_trips_of(&self, binary: &str, fields: Value, trips: &[usize]) {
        let urls = json!({"8453": [self.node.url]}).to_string();
        let sandbox = Sandbox::with_variables(&self.stack, binary, &[("RPC_URLS", &urls)]).await;
        let mut event = sandbox.event();
        for (name, value) in fields.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.node.expect_trips(trips);
        let answer = sandbox.write(&event).await;
        let calls = self.node.take();
        assert_eq!(answer["statusCode"], 200, "{binary}, which made {calls:?}: {answer}");
        assert_eq!(calls.len(), trips.iter().sum::<usize>(), "{binary} made {calls:?}");
    }
}

fn sale() -> Value {
    json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX.to_string(),
        "maxTokensPerAddress": 5})
}

fn moment(collection: Address) -> Value {
    json!({"collectionAddress": collection, "tokenId": "1"})
}

fn unused_account() -> Address {
    Address::from_slice(&[&[0xa1; 4][..], uuid::Uuid::new_v4().as_bytes()].concat())
}

#[tokio::test]
async fn publishing_takes_three_round_trips_at_most() {
    let counted = Counted::new().await;
    let collection = json!({"address": counted.published().await});
    let token = json!({"tokenMetadataURI": "ar://token", "salesConfig": sale()});
    let share = || json!({"address": unused_account(), "percentAllocation": 50});
    let splits = json!([share(), share()]);
    for (binary, body, trips) in [
        ("create-collection", json!({"name": "New", "uri": "ar://new"}), vec![TRIAL]),
        ("create-moment", json!({"contract": collection, "token": token}), vec![1, TRIAL]),
        ("create-moment", json!({"contract": collection, "token": token, "splits": splits}), vec![1, TRIAL]),
        ("create-moments", json!({"contract": collection, "tokens": [token, token]}), vec![1, TRIAL]),
        // The artist's own collection, to be made and then there: its address, what it says, the trial.
        ("create-moment", json!({"token": token}), vec![1, 1, TRIAL]),
        ("create-moment", json!({"token": token}), vec![1, 1, TRIAL]),
        // With nothing known of its split, it is looked for again.
        ("create-split", json!({"splits": [share(), share()]}), vec![1, 1, TRIAL]),
    ] {
        counted.assert_trips(binary, body, &trips).await;
    }
}

#[tokio::test]
async fn changes_of_a_moment_take_three_round_trips_at_most() {
    let counted = Counted::new().await;
    let place = counted.published().await;
    let (other, account) = (unused_account(), unused_account());
    let list = json!({"moment": moment(place), "entries": [{"account": account}]});
    for (binary, body, trips) in [
        ("update-moment-uri", json!({"moment": moment(place), "newUri": "ar://renamed"}), vec![1, TRIAL]),
        ("update-sale", json!({"moment": moment(place), "pricePerToken": "7"}), vec![1, 1, TRIAL]),
        ("grant-permission", json!({"moment": moment(place), "adminAddress": other}), vec![1, TRIAL]),
        ("revoke-permission", json!({"moment": moment(place), "adminAddress": other}), vec![1, TRIAL]),
        ("airdrop-moment", json!({"moment": moment(place), "recipients": [account]}), vec![1, TRIAL]),
        ("set-allow-list", list, vec![1, 1, TRIAL]),
    ] {
        counted.assert_trips(binary, body, &trips).await;
    }
}

#[tokio::test]
async fn claim_collect_and_move_take_three_round_trips_at_most() {
    let counted = Counted::new().await;
    let (place, there) = (counted.published().await, counted.published().await);
    let (stack, artist) = (&counted.stack, &counted.artist);

    let (link, person) = (stack.claim_link(&artist.key, place, json!({"count": 1})).await, stack.new_artist().await);
    let bearer = format!("Bearer {}", person.token);
    let headers = json!({"content-type": "application/json", "authorization": bearer});
    let claim = json!({"headers": headers, "pathParameters": {"token": link.token}});
    counted.assert_trips_of("claim-moment", claim, &[1, TRIAL]).await;

    stack.set_balance(artist.account, ETHER).await;
    // The time of the newest block beside all that contracts say, the balance, the trial.
    let order = json!({"moment": moment(place), "amount": 1});
    counted.assert_trips("collect-moment", order, &[2, 1, TRIAL]).await;

    // What may be done and what is there, then the sales as they are, the trial.
    let order = json!({"moment": moment(place), "newCollectionAddress": there});
    counted.assert_trips("move-moment", order, &[1, 1, TRIAL]).await;
}

#[tokio::test]
async fn change_of_a_collection_comment_and_withdrawal_take_three_round_trips_at_most() {
    let counted = Counted::new().await;
    let place = counted.published().await;
    let (stack, artist, to) = (&counted.stack, &counted.artist, unused_account());

    let change = json!({"newUri": "ar://changed", "newCollectionName": "Changed"});
    counted.assert_trips_in(place, "update-collection", change, &[1, TRIAL]).await;

    // What contracts say of the moment and its price, the balance, the trial.
    let comment = json!({"tokenId": "1", "text": "Made at dawn."});
    counted.assert_trips_in(place, "create-comment", comment, &[1, 1, TRIAL]).await;

    stack.set_balance(artist.account, ETHER).await;
    stack.add_old_payout_address(&artist.artist, to).await;
    let bearer = format!("Bearer {}", artist.artist.token);
    let headers = json!({"content-type": "application/json", "authorization": bearer});
    // The whole balance is read first.
    for (amount, trips) in [("1", vec![1, TRIAL]), ("max", vec![1, 1, TRIAL])] {
        let body = json!({"to": to, "amount": amount, "unit": "wei"}).to_string();
        counted.assert_trips_of("withdraw-funds", json!({"headers": headers, "body": body}), &trips).await;
    }
}
