//! What somebody meets who knows the address alone.

use local::functions::Invocation;
use reqwest::{Client, Method, redirect::Policy};
use tests::{Answer, Sandbox, Stack};

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

fn browser() -> Client {
    Client::builder().redirect(Policy::none()).build().expect("a client")
}

#[tokio::test]
async fn base_address_says_what_is_where() {
    let stack = Stack::connect();
    for path in ["", "/"] {
        let answer = Answer::of(stack.get(path)).await.expect_success();
        for name in ["home", "studio", "reference", "description", "text", "chains", "health"] {
            let place = answer.body[name].as_str().unwrap_or_else(|| panic!("no {name}: {answer:?}"));
            assert_eq!(stack.http.get(place).send().await.expect("an answer").status(), 200, "{name}: {place}");
        }
    }
    let opened =
        browser().get(format!("{}/", stack.map.api)).header("accept", BROWSER).send().await.expect("an answer");
    let home = format!("{}/", stack.map.api.trim_end_matches("/api"));
    assert_eq!(opened.status(), 302);
    assert_eq!(opened.headers()["location"], home);
}

#[tokio::test]
async fn slash_too_many_leads_to_the_path_without_it() {
    let stack = Stack::connect();
    let asked = |path: &str| browser().get(format!("{}{path}", stack.map.api)).send();
    for (path, location) in [("/timeline/?limit=1", "/api/timeline?limit=1"), ("/docs/", "/api/docs")] {
        let answer = asked(path).await.expect("an answer");
        assert_eq!(answer.status(), 308, "{path}");
        assert_eq!(answer.headers()["location"], location);
    }
    for path in ["//evil.example/", "/nothing/", "/sale/"] {
        assert!([404, 405].contains(&asked(path).await.expect("an answer").status().as_u16()), "{path}");
    }
}

#[tokio::test]
async fn every_kind_of_answer_loads_nothing_and_is_framed_by_nobody() {
    let stack = Stack::connect();
    for (path, status) in [
        ("/timeline", 200),
        ("/timeline?limit=0", 400),
        ("/transactions", 401),
        ("/artists/nobody-has-this-name", 404),
        ("/openapi.json", 200),
        ("/docs", 200),
        ("/manage", 200),
        ("/.well-known/jwks.json", 200),
    ] {
        let answer = Answer::of(stack.get(path)).await;
        assert_eq!(answer.status, status, "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(answer.header("strict-transport-security").starts_with("max-age="), "{path}");
    }
}

#[tokio::test]
async fn errors_are_pages_for_people_and_json_for_programs() {
    let stack = Stack::connect();
    for (path, status, words) in [
        ("/nothing/%3Cscript%3Ealert(1)%3C/script%3E", 404, "There is nothing at"),
        ("/timeline?limit=0", 400, "limit must be"),
    ] {
        let opened = stack.get(path).header("accept", BROWSER).send().await.expect("an answer");
        assert_eq!(opened.status(), status, "{path}");
        assert_eq!(opened.headers()["content-type"], "text/html; charset=utf-8");
        assert!(opened.headers()["content-security-policy"].to_str().is_ok_and(|it| it.contains("default-src 'none'")));
        let page = opened.text().await.expect("a page");
        assert!(page.contains(words) && !page.contains("<script"), "{page}");
        Answer::of(stack.get(path)).await.expect_error(status);
    }
}

#[tokio::test]
async fn key_is_taken_in_the_place_of_a_token() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let me = stack.get("/artists/wallets").bearer_auth(&writer.key);
    Answer::of(me).await.expect_success();
    let wrong = Answer::of(stack.get("/artists/wallets").bearer_auth("moments_wrong")).await.expect_error(401);
    assert!(wrong.body["message"].as_str().is_some_and(|words| words.contains("API key")), "{wrong:?}");
    let payout = stack.post("/smartwallet/withdraw").bearer_auth(&writer.key).json(&serde_json::json!({}));
    Answer::of(payout).await.expect_error(403);
}

#[tokio::test]
async fn guides_name_the_address_that_they_are_read_at() {
    let stack = Stack::connect();
    for path in ["/docs/quickstart", "/docs/quickstart.md", "/llms-full.txt"] {
        let text = stack.get(path).send().await.expect("an answer").text().await.expect("a text");
        assert!(text.contains(&stack.map.api), "{path}");
        let elsewhere = "http://127.0.0.1:3000/api";
        assert!(stack.map.api == elsewhere || !text.contains(elsewhere), "{path}");
    }
}

#[tokio::test]
async fn request_that_names_no_chain_is_about_the_stages_default() {
    let stack = Stack::connect();
    let collection = stack.demo_collection(0);
    for (chain, status) in [("8453", 200), ("84532", 400)] {
        let sandbox = Sandbox::with_variables(&stack, "list-comments", &[("DEFAULT_CHAIN", chain)]).await;
        let query = format!("collectionAddress={collection:#x}&tokenId=1");
        // A stage without its own default says so.
        assert_eq!(sandbox.get(&query).await["statusCode"], status, "{chain}");
        assert_eq!(sandbox.get(&format!("{query}&chainId=8453")).await["statusCode"], 200, "{chain}");
    }
}

#[tokio::test]
async fn head_of_what_can_be_read_is_get_without_a_body() {
    let stack = Stack::connect();
    let host = stack.map.api.trim_end_matches("/api").to_owned();
    let asked = async |method: Method, url: &str| {
        let client = browser().request(method, url).header("accept", "application/json").send().await;
        client.expect("an answer")
    };
    for path in [
        "/api/chains?nonsense=1",
        "/api/openapi.json",
        "/api/manage",
        "/api/docs",
        "/api/moment?collectionAddress=0x1",
        "/api/transactions",
        "/robots.txt",
    ] {
        let url = format!("{host}{path}");
        let (get, head) = (asked(Method::GET, &url).await, asked(Method::HEAD, &url).await);
        assert_eq!(head.status(), get.status(), "{path}");
        for name in ["content-type", "content-length", "cache-control", "etag", "location", "x-ignored-parameters"] {
            assert_eq!(head.headers().get(name), get.headers().get(name), "{path}: {name}");
        }
        assert_eq!(head.bytes().await.expect("an end"), "", "{path}");
    }
    let nothing = asked(Method::HEAD, &format!("{host}/api/nothing")).await;
    assert_eq!(nothing.status(), 404);
    let changed = asked(Method::HEAD, &format!("{host}/api/sale")).await;
    assert_eq!((changed.status().as_u16(), changed.headers()["allow"].to_str().ok()), (405, Some("POST")));
}

#[tokio::test]
async fn head_is_asked_with_the_callers_credential_and_range() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let head = |path: &str| stack.http.head(format!("{}{path}", stack.map.api));
    let listed = head("/transactions").bearer_auth(&writer.key).send().await.expect("an answer");
    assert_eq!(listed.status(), 200);
    let keyed = head("/me").header("x-api-key", &writer.key).send().await.expect("an answer");
    assert_eq!(keyed.status(), 200);
}

#[tokio::test]
async fn monitors_see_that_the_service_answers_and_how_far_chains_are_read() {
    let stack = Stack::connect();
    let health = Answer::of(stack.get("/health")).await.expect_success();
    assert_eq!(health.body["status"], "ok");
    let base = health.body["chains"].as_array().into_iter().flatten().find(|chain| chain["chainId"] == 8453);
    assert!(base.is_some_and(|chain| chain["indexedBlock"].as_u64() > Some(0)), "{health:?}");
    assert_eq!(health.header("cache-control"), "no-store");
    let broken = Sandbox::with_database(&stack, "list-chains", "http://127.0.0.1:9").await;
    let mut event = broken.event();
    event["requestContext"]["routeKey"] = "GET /health".into();
    assert_eq!(broken.invoke(&event).await["statusCode"], 500);
}

#[tokio::test]
async fn stage_with_a_wrong_default_chain_starts_no_function() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "list-comments", &[("DEFAULT_CHAIN", "base")]).await;
    Invocation::of(sandbox.url(), "list-comments").send(&sandbox.event()).await.expect_err("it can't start");
}
