//! The cookie that the pages go on by is worth nothing to anybody else's page.

use serde_json::json;
use tests::{Answer, Stack, unused_email};

const OWN: [(&str, &str); 2] = [("moments-session", "cookie"), ("sec-fetch-site", "same-origin")];

fn with(request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> reqwest::RequestBuilder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

#[tokio::test]
async fn cookie_counts_for_pages_of_this_origin_alone_and_ends_with_its_token() {
    let stack = Stack::connect();
    let signed_in = async |headers: &[(&str, &str)]| {
        let email = unused_email();
        let body = json!({"email": email, "code": stack.code_for(&email).await});
        Answer::of(with(stack.post("/oauth/login").json(&body), headers)).await.expect_success()
    };
    // Whoever doesn't ask for it gets none.
    for headers in [&[][..], &OWN[..1], &OWN[1..], &[OWN[0], ("sec-fetch-site", "cross-site")]] {
        assert_eq!(signed_in(headers).await.header("set-cookie"), "", "{headers:?}");
    }
    let answer = signed_in(&OWN).await;
    let (cookie, rules) = answer.header("set-cookie").split_once(';').expect("rules");
    assert_eq!(rules, " Path=/api; Max-Age=3600; Secure; HttpOnly; SameSite=Strict");

    let me = async |headers: &[(&str, &str)]| {
        Answer::of(with(stack.get("/me").header("cookie", format!("other=1; {cookie}")), headers)).await.status
    };
    let key = async |headers: &[(&str, &str)]| {
        let request = stack.post("/artists/api-keys").header("cookie", cookie).json(&json!({}));
        Answer::of(with(request, headers)).await.status
    };
    assert_eq!((me(&OWN).await, key(&OWN).await), (200, 200));
    for headers in [
        &[][..],
        &OWN[..1],
        &OWN[1..],
        &[OWN[0], ("sec-fetch-site", "same-site")],
        &[OWN[0], ("sec-fetch-site", "cross-site")],
        &[OWN[0], ("sec-fetch-site", "none")],
    ] {
        assert_eq!((me(headers).await, key(headers).await), (401, 401), "{headers:?}");
    }
    // A credential that is sent besides goes before it.
    let besides = with(stack.get("/me").header("cookie", cookie).bearer_auth("x"), &OWN);
    Answer::of(besides).await.expect_error(401);

    let left = Answer::of(with(stack.post("/oauth/logout").header("cookie", cookie), &OWN)).await.expect_success();
    assert!(left.header("set-cookie").starts_with("moments-session=; Path=/api; Max-Age=0;"), "{left:?}");
    assert_eq!(me(&OWN).await, 401);
}
