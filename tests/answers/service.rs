//! The indexer, the ranker and the reading functions, with their own tables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::{Sandbox, Stack, TestChain, empty_tables};

const READS: [&str; 8] = [
    "list-collections",
    "list-collectors",
    "list-comments",
    "list-notifications",
    "list-payments",
    "list-timeline",
    "read-collection",
    "read-moment",
];

/// Small, so that lists have several pages.
const ROWS_A_PAGE: usize = 7;
const COMMENTS_A_PAGE: usize = 20;

pub struct Service {
    index: Sandbox,
    rank: Sandbox,
    reads: BTreeMap<&'static str, Sandbox>,
}

impl Service {
    pub async fn on(stack: &Stack, test_chain: &TestChain) -> Self {
        let database = empty_tables(stack).await.endpoint;
        let id = test_chain.chain.id;
        let chains =
            json!([{"id": id, "firstBlock": 0, "confirmations": 0, "reorgDepth": test_chain.chain.reorg_depth}]);
        let (chains, nodes) = (chains.to_string(), json!({ id.to_string(): [test_chain.rpc_url] }).to_string());
        let variables = [("CHAINS", chains.as_str()), ("RPC_URLS", nodes.as_str())];
        let index = Sandbox::with(stack, "index-chain", &variables, &database).await;
        let rank = Sandbox::with(stack, "rank-collectors", &variables[..1], &database).await;
        let mut reads = BTreeMap::new();
        for binary in READS {
            reads.insert(binary, Sandbox::with_database(stack, binary, &database).await);
        }
        Self { index, rank, reads }
    }

    pub async fn index(&self) {
        let read = self.index.invoke(&json!({})).await;
        assert!(read[0]["nextBlock"].is_u64(), "{read}");
    }

    pub async fn rank(&self) {
        let ranked = self.rank.invoke(&json!({})).await;
        assert!(ranked.get("errorType").is_none(), "{ranked}");
    }

    pub async fn get(&self, binary: &str, query: &str) -> Value {
        body(&self.reads[binary].get(query).await)
    }

    pub async fn collection(&self, address: &str) -> Value {
        let read = &self.reads["read-collection"];
        let mut event = read.event();
        event["pathParameters"]["contract"] = json!(format!("erc1155:{address}"));
        body(&read.invoke(&event).await)
    }

    /// All rows of a list's `field`, from all pages.
    pub async fn pages(&self, binary: &str, query: &str, field: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 1.. {
            let answer = self.get(binary, &format!("{query}&limit={ROWS_A_PAGE}&page={page}")).await;
            let on_page = answer[field].as_array().expect("rows");
            rows.extend_from_slice(on_page);
            if on_page.len() < ROWS_A_PAGE {
                break;
            }
        }
        rows
    }

    /// All comments of a list.
    pub async fn comments(&self, query: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        loop {
            let answer = self.get("list-comments", &format!("{query}&offset={}", rows.len())).await;
            let on_page = answer["comments"].as_array().expect("comments");
            rows.extend_from_slice(on_page);
            if on_page.len() < COMMENTS_A_PAGE {
                return rows;
            }
        }
    }
}

fn body(answer: &Value) -> Value {
    assert_eq!(answer["statusCode"], 200, "{answer}");
    serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON")
}
