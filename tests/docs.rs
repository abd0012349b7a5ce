//! `/docs`: the reference's page.

use tests::{Answer, Stack};

#[tokio::test]
async fn reference_loads_only_the_service_s_own_scripts() {
    let stack = Stack::connect();
    let page = Answer::of(stack.get("/docs")).await.expect_success();
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src"), "{policy}");
    assert!(!policy.contains("http") && policy.matches("unsafe").count() == 1, "{policy}");
    let html = page.body.as_str().expect("a page");
    let parts: Vec<_> = html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for part in &parts {
        let script = stack.get(&format!("/{part}")).send().await.expect("the service answers");
        assert_eq!(script.status(), 200, "{part}");
        assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8", "{part}");
    }
    // Its name changes with it.
    let name = parts.iter().find(|part| part.starts_with("docs/reference.")).expect("the reference's script");
    let script = stack.get(&format!("/{name}")).send().await.expect("the service answers");
    assert_eq!(script.headers()["content-encoding"], "gzip");
    assert_eq!(script.headers()["cache-control"], shared::model::IMMUTABLE);
    let bytes = script.bytes().await.expect("a body");
    assert!(bytes.starts_with(&[0x1f, 0x8b]), "it is sent compressed");
}
