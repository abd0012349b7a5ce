//! The HTTP API, in front of the probe.

use std::time::Duration;

use local_lambda::{
    Lambda, Limits,
    gateway::{Cors, Gateway, HttpApi, MAX_BODY, Outside, Route, Target, Throttle},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Gate, PATIENCE, service};

fn api() -> HttpApi {
    let route = |method: &str, path: &str| Route {
        method: method.to_owned(),
        path: path.to_owned(),
        function: "probe".to_owned(),
        throttle: None,
    };
    HttpApi {
        stage: "api".to_owned(),
        routes: vec![route("GET", "/things/{id}"), route("POST", "/things"), route("ANY", "/any/{rest+}")],
        default_function: None,
        default_throttle: None,
        outside: None,
        cors: None,
        timeout: PATIENCE,
    }
}

struct Site {
    lambda: Lambda,
    gateway: Gateway,
    http: reqwest::Client,
}

impl Site {
    async fn start(change: impl FnOnce(&mut HttpApi)) -> Self {
        let lambda = service(Limits::default(), |_| {}).await;
        let mut api = api();
        change(&mut api);
        let gateway = Gateway::start(0, api, Target::Local(lambda.invoker())).await.expect("a free port");
        Self { lambda, gateway, http: reqwest::Client::new() }
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        self.http.request(method, format!("{}{path}", self.gateway.url))
    }
}

#[tokio::test]
async fn a_function_gets_the_request_and_the_client_its_answer() {
    let site = Site::start(|_| {}).await;
    let request = site.request("GET", "/api/things/a%20b?x=1&x=2").header("x-forwarded-for", "203.0.113.9");
    let answer = Answer::of(request).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert!(!answer.header("apigw-requestid").is_empty());
    let event = &answer.body["event"];
    assert_eq!((&event["rawPath"], &event["routeKey"]), (&json!("/api/things/a b"), &json!("GET /things/{id}")));
    assert_eq!(event["pathParameters"], json!({"id": "a b"}));
    assert_eq!(event["queryStringParameters"], json!({"x": "1,2"}));
    assert_eq!(event["requestContext"]["http"]["sourceIp"], "203.0.113.9");
    assert_eq!(event["requestContext"]["requestId"], answer.header("apigw-requestid"));
}

#[tokio::test]
async fn a_body_of_any_bytes_passes_both_ways() {
    let site = Site::start(|_| {}).await;
    // Every byte, in no order that is text.
    let bytes: Vec<u8> = (0..=255_u8).flat_map(|byte| [byte, byte ^ 0xa5, 0x80 | byte]).collect();
    let request = site.request("POST", "/api/things?do=body").header("content-type", "application/octet-stream");
    let answer = request.body(bytes.clone()).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.bytes().await.expect("a body"), bytes);
    let answer = Answer::of(site.request("POST", "/api/things?do=body").body(bytes)).await;
    assert_eq!(answer.status, 200, "without a content type too");
}

#[tokio::test]
async fn every_method_has_an_answer() {
    let site = Site::start(|_| {}).await;
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "X-Y"] {
        let answer = Answer::of(site.request(method, "/api/any/thing")).await;
        assert_eq!(answer.status, 200, "{method}");
        if method != "HEAD" {
            assert_eq!(answer.body["event"]["requestContext"]["http"]["method"], method);
            assert_eq!(answer.body["event"]["routeKey"], "ANY /any/{rest+}");
        }
        let answer = Answer::of(site.request(method, "/api/nowhere")).await;
        assert_eq!(answer.status, 404, "{method}");
    }
}

#[tokio::test]
async fn reads_outside_the_stage_are_rewritten_as_a_distribution_does() {
    let outside = Outside { prefix: "/things".to_owned(), root_object: "1".to_owned() };
    let site = Site::start(|api| api.outside = Some(outside)).await;
    for (path, rewritten) in [("/", "/api/things/1"), ("/?from=x", "/api/things/1"), ("/2", "/api/things/2")] {
        let answer = Answer::of(site.request("GET", path)).await;
        assert_eq!((answer.status, &answer.body["event"]["rawPath"]), (200, &json!(rewritten)), "{path}");
    }
    assert_eq!(Answer::of(site.request("POST", "/")).await.status, 404);
    assert_eq!(Answer::of(site.request("GET", "/api/2")).await.status, 404, "the stage's own paths stay");
    let without = Site::start(|_| {}).await;
    assert_eq!(Answer::of(without.request("GET", "/")).await.status, 404);
}

#[tokio::test]
async fn what_no_route_takes_is_404_or_the_default_routes() {
    let site = Site::start(|_| {}).await;
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api"),
        ("GET", "/apis/things/1"),
        ("POST", "/api/things/1"),
        ("GET", "/api/things/"),
        ("GET", "/things/1"),
        ("POST", "/2015-03-31/functions/probe/invocations"),
    ] {
        let answer = Answer::of(site.request(method, path)).await;
        assert_eq!((answer.status, &answer.body), (404, &json!({"message": "Not Found"})), "{method} {path}");
    }
    let site = Site::start(|api| api.default_function = Some("probe".to_owned())).await;
    let answer = Answer::of(site.request("POST", "/api/things/1")).await;
    assert_eq!((answer.status, &answer.body["event"]["routeKey"]), (200, &json!("$default")));
    assert_eq!(answer.body["event"].get("pathParameters"), None);
    assert_eq!(Answer::of(site.request("GET", "/elsewhere")).await.status, 404, "outside the stage");
}

#[tokio::test]
async fn errors_and_crashes_of_a_function_are_500() {
    let site = Site::start(|_| {}).await;
    for query in ["do=fail", "do=crash", "do=respond&response={%22statusCode%22:%22ok%22}"] {
        let answer = Answer::of(site.request("GET", &format!("/api/things/1?{query}"))).await;
        assert_eq!((answer.status, &answer.body), (500, &json!({"message": "Internal Server Error"})), "{query}");
    }
    assert_eq!(Answer::of(site.request("GET", "/api/things/1")).await.status, 200);
}

#[tokio::test]
async fn a_function_slower_than_the_gateway_waits_is_503() {
    let site = Site::start(|api| api.timeout = Duration::from_millis(300)).await;
    let gate = Gate::closed("slow");
    let answer = Answer::of(site.request("GET", &format!("/api/things/1?{}", gate.query()))).await;
    assert_eq!((answer.status, &answer.body), (503, &json!({"message": "Service Unavailable"})));
}

#[tokio::test]
async fn a_function_at_its_concurrency_is_503() {
    let lambda = service(Limits::default(), |function| function.reserved_concurrency = Some(1)).await;
    let http = reqwest::Client::new();
    for target in [Target::Local(lambda.invoker()), Target::remote(lambda.url())] {
        let gateway = Gateway::start(0, api(), target).await.expect("a free port");
        let gate = Gate::closed("concurrency");
        let request = http.get(format!("{}/api/things/1?{}", gateway.url, gate.query()));
        let first = tokio::spawn(Answer::of(request));
        gate.holds(1).await;
        assert_eq!(Answer::of(http.get(format!("{}/api/things/2", gateway.url))).await.status, 503);
        gate.open();
        assert_eq!(first.await.expect("an answer").status, 200);
    }
}

#[tokio::test]
async fn requests_and_responses_too_large_are_refused() {
    let site = Site::start(|_| {}).await;
    let send = async |bytes: usize| {
        let request = site.request("POST", "/api/things?do=respond&response=1").header("content-type", "text/plain");
        Answer::of(request.body("x".repeat(bytes))).await
    };
    assert_eq!(send(5 << 20).await.status, 200);
    for too_large in [7 << 20, MAX_BODY + 1, 20 << 20] {
        let answer = send(too_large).await;
        assert_eq!(
            (answer.status, &answer.body),
            (413, &json!({"message": "Request Entity Too Large"})),
            "{too_large}"
        );
    }
    let long = Answer::of(site.request("GET", "/api/things/1").header("x-long", "x".repeat(11_000))).await;
    assert_eq!(long.status, 431);
    let grown = Answer::of(site.request("GET", "/api/things/1?do=grow&bytes=7000000")).await;
    assert_eq!(grown.status, 500);
}

#[tokio::test]
async fn each_route_has_its_own_throttle() {
    let site = Site::start(|api| {
        api.default_throttle = Some(Throttle { rate: 1_000.0, burst: 1_000.0 });
        // A token in weeks, and one in a microsecond.
        api.routes[0].throttle = Some(Throttle { rate: 1e-6, burst: 3.0 });
        api.routes[2].throttle = Some(Throttle { rate: 1e6, burst: 1.0 });
    })
    .await;
    let send = async |method: &str, path: &str| Answer::of(site.request(method, path)).await;
    for _ in 0..3 {
        assert_eq!(send("GET", "/api/things/1").await.status, 200);
    }
    for _ in 0..2 {
        let limited = send("GET", "/api/things/1").await;
        assert_eq!((limited.status, &limited.body), (429, &json!({"message": "Too Many Requests"})));
    }
    assert_eq!(send("POST", "/api/things").await.status, 200);
    for _ in 0..3 {
        assert_eq!(send("GET", "/api/any/thing").await.status, 200, "the bucket fills again");
    }
}

#[tokio::test]
async fn cookies_and_encoded_bodies_reach_the_client() {
    let site = Site::start(|_| {}).await;
    let response = json!({
        "statusCode": 201, "cookies": ["a=1; Path=/", "b=2"], "headers": {"x-own": "yes"},
        "body": "AP8=", "isBase64Encoded": true,
    });
    let request = site.request("GET", "/api/things/1").query(&[("do", "respond"), ("response", &response.to_string())]);
    let answer = request.send().await.expect("an answer");
    assert_eq!((answer.status().as_u16(), &answer.headers()["x-own"]), (201, &"yes".parse().unwrap()));
    assert_eq!(answer.headers().get_all("set-cookie").iter().count(), 2);
    assert_eq!(answer.bytes().await.expect("a body")[..], [0, 255]);
}

#[tokio::test]
async fn cors_is_answered_as_configured_and_never_by_the_function() {
    let page = "https://app.example.com";
    let site = Site::start(|api| {
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        api.cors = Some(Cors {
            allow_origins: list(&[page]),
            allow_methods: list(&["GET", "POST"]),
            allow_headers: list(&["authorization"]),
            expose_headers: list(&["etag"]),
            max_age: 600,
        });
    })
    .await;
    let preflight = async |origin: &str| {
        let request = site.request("OPTIONS", "/api/nowhere").header("origin", origin);
        Answer::of(request.header("access-control-request-method", "POST")).await
    };
    let allowed = preflight(page).await;
    assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (204, page));
    assert_eq!(allowed.header("access-control-allow-methods"), "GET,POST");
    assert_eq!(
        (allowed.header("access-control-allow-headers"), allowed.header("access-control-max-age")),
        ("authorization", "600")
    );
    let other = preflight("https://evil.example").await;
    assert_eq!((other.status, other.header("access-control-allow-origin")), (204, ""));
    let response = json!({"statusCode": 200, "headers": {"access-control-allow-origin": "*"}}).to_string();
    for (origin, expected) in [(Some(page), page), (Some("https://evil.example"), ""), (None, "")] {
        let request = site.request("GET", "/api/things/1").query(&[("do", "respond"), ("response", &response)]);
        let answer =
            Answer::of(origin.into_iter().fold(request, |request, origin| request.header("origin", origin))).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, expected), "{origin:?}");
    }
    let refused = Answer::of(site.request("GET", "/api/nowhere").header("origin", page)).await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (404, page));
}

#[tokio::test]
async fn a_gateway_elsewhere_reaches_functions_through_the_invoke_api() {
    let site = Site::start(|_| {}).await;
    let remote = Gateway::start(0, api(), Target::remote(site.lambda.url())).await.expect("a free port");
    let get = async |query: &str| Answer::of(site.http.get(format!("{}/api/things/1?{query}", remote.url))).await;
    assert_eq!(get("").await.body["event"]["routeKey"], "GET /things/{id}");
    assert_eq!(get("do=fail").await.status, 500);
    let unknown: Value = get("do=respond&response=null").await.body;
    assert_eq!(unknown, Value::Null);
}
