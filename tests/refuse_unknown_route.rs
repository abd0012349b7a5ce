//! Routes that no endpoint has.

use reqwest::Method;
use tests::{Answer, Stack};

#[tokio::test]
async fn an_unknown_path_is_404() {
    let stack = Stack::connect();
    for path in [
        "",
        "/",
        "/nowhere",
        "/comments/",
        "/comments/1",
        "/Comments",
        "/oauth",
        "/oauth/code/x",
        "/.well-known",
        "/%2e%2e/x",
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let request = stack.http.request(method, format!("{}{path}", stack.map.api));
            Answer::of(request).await.expect_error(404);
        }
    }
}

#[tokio::test]
async fn a_known_path_with_another_method_is_405_and_says_which_it_has() {
    let stack = Stack::connect();
    for (method, path, allowed) in [
        (Method::POST, "/comments", "GET"),
        (Method::DELETE, "/comments", "GET"),
        (Method::GET, "/oauth/code", "POST"),
        (Method::PUT, "/oauth/login", "POST"),
        (Method::PATCH, "/artists/api-keys", "DELETE, GET, POST"),
    ] {
        let request = stack.http.request(method.clone(), format!("{}{path}", stack.map.api));
        let answer = Answer::of(request).await.expect_error(405);
        let mut methods: Vec<_> = answer.header("allow").split(", ").collect();
        methods.sort_unstable();
        assert_eq!(methods.join(", "), allowed, "{method} {path}");
    }
}
