//! Queries and addresses of reads.

use serde_json::Value;
use tests::{Answer, Stack};

use super::support::{Requests, assert_words};

#[tokio::test]
async fn wrong_query_says_which_parameter_and_why() {
    let stack = Stack::connect();
    for (path, words) in [
        ("/timeline?limit=0", "limit must be"),
        ("/timeline?limit=101", "limit must be"),
        ("/timeline?page=0", "page must be"),
        ("/timeline?page=one", "page must be"),
        ("/timeline?artist=0x1", "artist must be an address, 0x and 40 hexadecimal digits, or a username"),
        ("/timeline?artist=a", "artist must be an address or a username"),
        ("/timeline?type=mine", "type"),
        ("/timeline?channel=web", "channel is a filter that this service doesn't have"),
        ("/timeline?limit=1&limit=2", "limit must be given only once"),
        ("/comments", "collectionAddress is required"),
        ("/comments?collectionAddress=0x1&tokenId=1", "collectionAddress must be an address"),
        ("/collectors?period=year", "period must be"),
        ("/collectors?sort_by=name", "sort_by must be"),
        ("/artists/search", "query is required"),
        ("/moment?collectionAddress=0x1", "collectionAddress must be an address"),
        ("/collections/base/0x1", "network"),
        ("/collections/eip155:8453/0x1", "contract"),
        ("/notifications?viewed=maybe", "viewed must be"),
        ("/transfers?type=gift", "type must be"),
    ] {
        let answer = Answer::of(stack.get(path)).await.expect_error(400);
        assert_words(&answer, words, path, &Value::Null);
    }
}

#[tokio::test]
async fn wrong_address_of_a_read_says_which_part_and_why() {
    let requests = Requests::new().await;
    for (request, body, words) in [
        ("GET /artists/search?query=%ff", Value::Null, "query must be UTF-8, percent-encoded"),
        ("GET /artists/search?query=a&query=b", Value::Null, "query must be given only once"),
        ("GET /artists/search?query=%20", Value::Null, "query must have at least one character"),
        ("GET /artists/search?query=a&limit=51", Value::Null, "limit must be a whole number from 1 to 50"),
        ("GET /artists/%00", Value::Null, "address must be an address or a username, which has 3 to 32 letters"),
        ("GET /timeline?page=4294967296", Value::Null, "page must be a whole number from 1 to 4294967295"),
        ("GET /timeline?page=1.5", Value::Null, "page must be a whole number"),
        (
            "GET /timeline?chain_id=base",
            Value::Null,
            "chain_id must be a chain id: a whole number of at most 9007199254740991",
        ),
        (
            "GET /timeline?chain_id=137",
            Value::Null,
            "chain_id is not a chain that this service is configured for: see GET /chains",
        ),
        ("GET /timeline?content_type=picture", Value::Null, "content_type must be one of: application, audio"),
        (
            "GET /collections/eip155:137/erc1155:$someone",
            Value::Null,
            "network is not a chain that this service is configured for: see GET /chains",
        ),
        ("GET /collections/solana:101/erc1155:$someone", Value::Null, "network must be eip155: and a chain id"),
        (
            "GET /collections/eip155:8453/$someone",
            Value::Null,
            "contract must be erc1155: and the collection's address",
        ),
        ("GET /splits/eip155:137/$someone", Value::Null, "network is not a chain"),
        ("GET /moment?collectionAddress=$someone&tokenId=1&chainId=137", Value::Null, "chainId is not a chain"),
        (
            "GET /comments?collectionAddress=$someone&tokenId=1&offset=-1",
            Value::Null,
            "offset must be a whole number from 0",
        ),
        ("GET /transfers?tokenId=1", Value::Null, "tokenId needs a collection"),
        ("GET /stats?period=decade", Value::Null, "period must be day, week, month or all"),
        ("GET /events?types=moment.sold", Value::Null, "types must be types of events, separated by commas"),
        ("GET /events?wait=60", Value::Null, "wait must be a whole number of seconds from 0 to 20"),
        ("GET /smartwallet?address=ada", Value::Null, "address must be an address: 0x and 40 hexadecimal digits"),
        ("GET /transactions?limit=0", Value::Null, "limit must be a whole number from 1 to 100"),
        ("GET /transactions/1", Value::Null, "id must be a UUID"),
        ("GET /ipfs/1", Value::Null, "cid must be a CID of version 1 in base32"),
    ] {
        requests.expect_words(request, &body, words).await;
    }
}
