//! Unknown routes and methods.

use reqwest::Method;
use serde_json::json;
use tests::{Answer, Stack};

#[tokio::test]
async fn unknown_path_is_404() {
    let stack = Stack::connect();
    for path in ["/nowhere", "/comments/1", "/Comments", "/oauth", "/oauth/code/x", "/.well-known"] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let request = stack.http.request(method, format!("{}{path}", stack.map.api));
            Answer::of(request).await.expect_error(404);
        }
    }
}

#[tokio::test]
async fn write_outside_the_stage_is_the_gateway_s_own_404() {
    let stack = Stack::connect();
    // The client resolves the dots before it sends the path. A read there would be one of a page.
    let answer = Answer::of(stack.post("/%2e%2e/x")).await;
    assert_eq!((answer.status, answer.body), (404, json!({"message": "Not Found"})));
}

#[tokio::test]
async fn unsupported_method_is_405_with_allow_header() {
    let stack = Stack::connect();
    for (method, path, allowed) in [
        (Method::POST, "/comments", "GET, HEAD"),
        (Method::DELETE, "/comments", "GET, HEAD"),
        (Method::GET, "/oauth/code", "POST"),
        (Method::PUT, "/oauth/login", "POST"),
        (Method::PATCH, "/artists/api-keys", "DELETE, GET, HEAD, POST"),
    ] {
        let request = stack.http.request(method.clone(), format!("{}{path}", stack.map.api));
        let answer = Answer::of(request).await.expect_error(405);
        let mut methods: Vec<_> = answer.header("allow").split(", ").collect();
        methods.sort_unstable();
        assert_eq!(methods.join(", "), allowed, "{method} {path}");
    }
}
