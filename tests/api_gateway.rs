//! CORS, and the headers of every response.

use alloy::primitives::Address;
use local::{api_gateway::ApiGateway, paths::Paths};
use reqwest::{Method, RequestBuilder, header::HeaderMap};
use serde_json::json;
use template::Cors;
use tests::{Answer, DAY, Stack, within_one_window};

const PAGE: &str = "https://app.example.com";

fn preflight(request: RequestBuilder, origin: &str) -> RequestBuilder {
    request
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "x-api-key,idempotency-key")
}

fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(',').filter(|item| !item.is_empty()).map(|item| item.trim().to_lowercase()).collect()
}

#[tokio::test]
async fn cors_allows_credentials_and_exposes_headers() {
    let stack = Stack::connect();
    let asked =
        Answer::of(preflight(stack.http.request(Method::OPTIONS, format!("{}/sale", stack.map.api)), PAGE)).await;
    assert_eq!(asked.status, 204);
    assert_eq!(asked.header("access-control-allow-origin"), "*");
    for header in ["authorization", "content-type", "idempotency-key", "x-api-key"] {
        assert!(list(&asked.headers, "access-control-allow-headers").contains(&header.to_owned()), "{header}");
    }
    for method in ["get", "post", "patch", "delete"] {
        assert!(list(&asked.headers, "access-control-allow-methods").contains(&method.to_owned()), "{method}");
    }
    let answer = Answer::of(stack.post("/sale").header("origin", PAGE).json(&json!({}))).await.expect_error(401);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    for header in
        ["etag", "idempotent-replayed", "link", "ratelimit", "ratelimit-policy", "retry-after", "x-request-id"]
    {
        assert!(list(&answer.headers, "access-control-expose-headers").contains(&header.to_owned()), "{header}");
    }
    let own = Answer::of(stack.get("/.well-known/jwks.json")).await.expect_success();
    assert_eq!(own.header("access-control-allow-origin"), "", "the request has no origin");
}

#[tokio::test]
async fn unlisted_origin_is_refused() {
    let stack = Stack::connect();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let cors = Cors {
        allow_origins: texts(&[PAGE, "https://other.example.com"]),
        allow_methods: texts(&["GET", "POST"]),
        allow_headers: texts(&["authorization"]),
        expose_headers: texts(&["x-request-id"]),
        max_age: 600,
    };
    let gateway = ApiGateway::start(0, &stack.map.lambda, Some(cors)).await.expect("a gateway");
    let url = format!("{}/api/.well-known/jwks.json", gateway.url);
    for (origin, allowed) in [(PAGE, PAGE), ("https://app.example.com.evil.example", ""), ("null", "")] {
        let asked = Answer::of(preflight(stack.http.request(Method::OPTIONS, &url), origin)).await;
        assert_eq!((asked.status, asked.header("access-control-allow-origin")), (204, allowed));
        assert_eq!(asked.header("access-control-allow-methods").is_empty(), allowed.is_empty(), "{origin}");
        let answer = Answer::of(stack.http.get(&url).header("origin", origin)).await.expect_success();
        assert_eq!(answer.header("access-control-allow-origin"), allowed);
    }
    for internal in ["/2015-03-31/functions/send-code/invocations", "/.rt/send-code/2018-06-01/runtime/invocation/next"]
    {
        let answer = Answer::of(stack.http.post(format!("{}{internal}", gateway.url))).await;
        assert_eq!(answer.status, 404, "{internal}");
    }
}

#[tokio::test]
async fn pages_only_read_what_anybody_may_without_configured_origins() {
    let stack = Stack::connect();
    let template = Paths::of_checkout().template().expect("a template");
    let defaults = template.names([]).expect("names");
    let gateway = ApiGateway::start(0, &stack.map.lambda, template.cors(&defaults).expect("CORS")).await;
    let url = format!("{}/api/.well-known/jwks.json", gateway.as_ref().expect("a gateway").url);
    let asked = Answer::of(preflight(stack.http.request(Method::OPTIONS, &url), PAGE)).await.expect_error(405);
    assert_eq!(asked.header("access-control-allow-origin"), "");
    let read = stack.http.get(&url).header("origin", PAGE);
    let answer = Answer::of(read.try_clone().expect("a request")).await.expect_success();
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert!(list(&answer.headers, "access-control-expose-headers").contains(&"link".to_owned()));
    for closed in [read.header("x-api-key", "moments_x"), stack.http.post(&url).header("origin", PAGE)] {
        assert_eq!(Answer::of(closed).await.header("access-control-allow-origin"), "");
    }
}

#[tokio::test]
async fn every_response_has_a_request_id_and_no_server_header() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let answers = [
        Answer::of(stack.get("/.well-known/jwks.json")).await,
        Answer::of(stack.get("/docs")).await,
        Answer::of(stack.get("/nowhere")).await,
        Answer::of(stack.post("/comments")).await,
        Answer::of(stack.http.request(Method::OPTIONS, format!("{}/comments", stack.map.api))).await,
        Answer::of(stack.post("/sale").json(&json!({}))).await,
        Answer::of(stack.get("/artists/api-keys").bearer_auth(&artist.token)).await,
    ];
    for answer in answers {
        assert!(!answer.header("x-request-id").is_empty(), "{answer:?}");
        assert!(answer.header("content-type").ends_with("; charset=utf-8"), "{answer:?}");
        for name in ["server", "x-powered-by", "via", "x-amzn-trace-id"] {
            assert_eq!(answer.header(name), "", "{name} of {answer:?}");
        }
    }
}

/// The limit's name, what remains of it, and the seconds until it grows, from an answer's rate limit headers.
fn limit_of(answer: &Answer) -> (String, u64, u64) {
    let part = |header: &str, key: &str| {
        let value = answer.header(header).split(';').find_map(|part| part.strip_prefix(key).map(ToOwned::to_owned));
        value.unwrap_or_else(|| panic!("no {key} in {header}: {answer:?}"))
    };
    let number = |header: &str, key: &str| part(header, key).parse::<u64>().expect("a number");
    let (name, policy) = (part("ratelimit", "\""), part("ratelimit-policy", "\""));
    assert_eq!(name, policy);
    let (left, reset) = (number("ratelimit", "r="), number("ratelimit", "t="));
    assert!(left <= number("ratelimit-policy", "q="), "{answer:?}");
    assert!((1..=number("ratelimit-policy", "w=") * 61 / 60).contains(&reset), "{answer:?}");
    (name.trim_end_matches('"').to_owned(), left, reset)
}

#[tokio::test]
async fn limited_requests_return_the_remaining_allowance() {
    let stack = Stack::connect();
    let other = stack.new_writer().await;
    let change = |collection: Address| {
        let moment = json!({"collectionAddress": collection, "tokenId": "1"});
        json!({"moment": moment, "pricePerToken": "5"})
    };
    // Fees are reserved when a transaction is queued and settled when it is mined; replays and refusals cost none.
    let keyed = [("idempotency-key", "limits")];
    let (writer, fees) = within_one_window(DAY, async || {
        let writer = stack.new_writer().await;
        let sell = async |collection: Address, headers: &[(&str, &str)]| {
            stack.write_once("/sale", &writer.key, &change(collection), headers).await
        };
        let first = limit_of(&sell(writer.collection, &keyed).await.expect_queued());
        stack.write("/sale", &writer.key, &change(writer.collection), &keyed).await.expect_success();
        let replayed = limit_of(&sell(writer.collection, &keyed).await.expect_success());
        let refused = limit_of(&sell(other.collection, &[]).await.expect_error(403));
        let second = limit_of(&sell(writer.collection, &[]).await.expect_queued());
        (writer, [first, replayed, refused, second])
    })
    .await;
    let [first, replayed, refused, second] = fees;
    assert_eq!(first.0, "fees");
    assert!(replayed.1 > first.1, "nothing was given back: {first:?}, then {replayed:?}");
    assert_eq!(refused.1, replayed.1);
    assert!(second.1 < refused.1, "{refused:?}, then {second:?}");

    let challenge = async || {
        let body = json!({"address": writer.artist.wallet});
        let request = stack.post("/artists/wallets/challenge").bearer_auth(&writer.artist.token).json(&body);
        limit_of(&Answer::of(request).await.expect_success())
    };
    let (first, second) = (challenge().await, challenge().await);
    assert!(first.0 == "default" && second.1 < first.1, "{first:?}, then {second:?}");

    let rename = async |name: String| {
        let request = stack.http.patch(format!("{}/artists/me", stack.map.api)).bearer_auth(&writer.artist.token);
        limit_of(&Answer::of(request.json(&json!({"username": name}))).await.expect_success())
    };
    let name = format!("n{}", &writer.artist.wallet[2..20]);
    assert_eq!((rename(name.clone()).await.1, rename(format!("{name}x")).await.1), (3, 2));
}

#[tokio::test]
async fn secret_and_personal_responses_are_not_cacheable() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let code = Answer::of(stack.post("/oauth/code").json(&json!({"email": artist.email}))).await;
    let key = stack.create_key(&artist, &json!({})).await;
    let keys = Answer::of(stack.get("/artists/api-keys").bearer_auth(&artist.token)).await;
    let refused = Answer::of(stack.get("/artists/api-keys")).await;
    for answer in [code, key, keys, refused] {
        assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
    }
}

#[tokio::test]
async fn unsupported_method_is_405() {
    let stack = Stack::connect();
    for method in [Method::HEAD, Method::OPTIONS, Method::PUT, Method::TRACE] {
        let request = stack.http.request(method.clone(), format!("{}/oauth/code", stack.map.api));
        let answer = Answer::of(request).await;
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"), "{method}");
    }
}
