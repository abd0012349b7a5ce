//! `GET /` and the other pages for people, their feeds and embeds, as a browser asks for them.

use serde_json::{Value, json};
use tests::{Answer, Stack, document};
use uuid::Uuid;

const NOWHERE: &str = "0x00000000000000000000000000000000000000a1";

async fn read(stack: &Stack, path: &str) -> Answer {
    Answer::of(stack.http.get(format!("{}{path}", stack.site()))).await
}

#[track_caller]
fn assert_page(answer: &Answer, status: u16, ancestors: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(
        answer.body.as_str().is_some_and(|page| page.starts_with("<!DOCTYPE html><html lang=\"en\">")),
        "{answer:?}"
    );
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
    assert!(policy.contains(&format!("frame-ancestors {ancestors};")), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[tokio::test]
async fn everything_published_has_a_page_a_feed_and_an_embed() {
    let stack = Stack::connect();
    let artist = stack.new_collector().await;
    let name = format!("Page.{}", &Uuid::new_v4().simple().to_string()[..12]);
    let named = stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&json!({"username": name}));
    let own = Answer::of(named).await.expect_success().body["page"].clone();
    assert_eq!(own, json!(format!("{}/@{name}", stack.site())));
    let collection = stack.release(&artist.key, "Rooms", &[document("A <b>room</b>", "video/mp4")]).await;
    let path = format!("/moment?collectionAddress={collection}&tokenId=1");
    let moment = stack.wait_until(&path, |body| !body["metadata"].is_null()).await;
    assert_eq!(moment["page"], format!("{}/m/8453/{collection}/1", stack.site()));
    stack.wait_until(&format!("/timeline?collection={collection}"), |body| body["moments"][0].is_object()).await;

    let wallet = &artist.artist.wallet;
    let [page, embed] = ["", "/embed"].map(|front| format!("{front}/m/8453/{collection}/1"));
    for path in [page.clone(), format!("/c/8453/{collection}"), format!("/@{name}"), format!("/a/{wallet}")] {
        let answer = read(&stack, &path).await;
        assert_page(&answer, 200, "'none'");
        let html = answer.body.as_str().expect("a page");
        assert!(html.contains("A &lt;b&gt;room&lt;/b&gt;") && !html.contains("<b>room"), "{html}");
    }
    assert_page(&read(&stack, &embed).await, 200, "*");

    for place in [format!("/c/8453/{collection}"), format!("/@{name}"), format!("/a/{wallet}")] {
        let atom = read(&stack, &format!("{place}/feed.atom")).await.expect_success();
        assert_eq!(atom.header("content-type"), "application/atom+xml; charset=utf-8");
        assert!(atom.body.as_str().is_some_and(|text| text.contains("<title>A &lt;b&gt;room&lt;/b&gt;</title>")));
        let feed = read(&stack, &format!("{place}/feed.json")).await.expect_success();
        assert_eq!(feed.header("content-type"), "application/feed+json; charset=utf-8");
        assert_eq!(
            (&feed.body["items"][0]["id"], &feed.body["items"][0]["title"]),
            (&moment["page"], &json!("A <b>room</b>"))
        );
    }

    let asked = |more: &str| format!("/oembed?url={}{more}", moment["page"].as_str().expect("an address"));
    let found = read(&stack, &asked("&maxwidth=300")).await.expect_success().body;
    assert_eq!((&found["type"], &found["width"], &found["author_name"]), (&json!("video"), &json!(300), &json!(name)));
    let xml = read(&stack, &asked("&format=xml")).await.expect_success();
    assert_eq!(xml.header("content-type"), "text/xml; charset=utf-8");
    assert_eq!(read(&stack, &asked("&format=yaml")).await.status, 501);
    assert_eq!(read(&stack, "/oembed?url=https://elsewhere.example/m/8453/0x1/1").await.status, 404);

    let hide = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "hidden": true});
    Answer::of(stack.post("/moment/hide").header("x-api-key", &artist.key).json(&hide)).await.expect_success();
    stack.wait_until(&path, |body| body["hidden"] != json!([])).await;
    for path in [page, embed] {
        assert_page(&read(&stack, &path).await, 404, "'none'");
    }
    assert_eq!(read(&stack, &asked("")).await.status, 404);
}

#[tokio::test]
async fn unknown_places_are_404_as_pages() {
    let stack = Stack::connect();
    for path in [
        format!("/m/8453/{NOWHERE}/1"),
        "/m/8453/nothing/1".to_owned(),
        format!("/m/7/{NOWHERE}/1"),
        format!("/embed/m/8453/{NOWHERE}/1"),
        format!("/c/8453/{NOWHERE}"),
        "/@nobody-has-this-name".to_owned(),
        "/@nobody-has-this-name/feed.atom".to_owned(),
        format!("/c/8453/{NOWHERE}/feed.json"),
        "/@nobody-has-this-name/feed.rss".to_owned(),
        "/nothing".to_owned(),
        "/assets/1/nothing.css".to_owned(),
    ] {
        let answer = read(&stack, &path).await;
        assert_page(&answer, 404, "'none'");
        assert!(answer.body.as_str().is_some_and(|page| page.contains("content=\"noindex\"")), "{path}");
    }
}

#[tokio::test]
async fn root_is_the_home_page_with_its_feeds_and_files() {
    let stack = Stack::connect();
    let home = read(&stack, "/").await;
    assert_page(&home, 200, "'none'");
    let html = home.body.as_str().expect("a page");
    assert!(html.contains("<title>Moments</title>"), "{html}");
    for asset in html.split("href=\"").chain(html.split("src=\"")).filter_map(|rest| rest.split('"').next()) {
        if asset.contains("/assets/") {
            assert_eq!(Answer::of(stack.http.get(asset)).await.status, 200, "{asset}");
        }
    }
    let feed = read(&stack, "/feed.json").await.expect_success();
    assert_eq!(feed.body["home_page_url"], format!("{}/", stack.site()));
    assert_eq!(
        read(&stack, "/feed.atom").await.expect_success().header("content-type"),
        "application/atom+xml; charset=utf-8"
    );

    let robots = read(&stack, "/robots.txt").await.expect_success();
    let robots = robots.body.as_str().expect("a text").to_owned();
    assert!(robots.contains(&format!("Sitemap: {}/sitemap.xml\n", stack.site())), "{robots}");
    let map = read(&stack, "/sitemap.xml").await.expect_success();
    assert_eq!(map.header("content-type"), "application/xml; charset=utf-8");
    let map = map.body.as_str().expect("a text").to_owned();
    assert!(map.contains(&format!("<loc>{}/</loc>", stack.site())), "{map}");
    // The client follows the redirect.
    let icon = read(&stack, "/favicon.ico").await.expect_success();
    assert_eq!(icon.header("content-type"), "image/svg+xml; charset=utf-8");
    // Nobody is named unless the parameter is given.
    assert_page(&read(&stack, "/.well-known/security.txt").await, 404, "'none'");
}

#[tokio::test]
async fn artists_carry_the_address_of_their_page() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let body = Answer::of(stack.get(&format!("/artists/{}", artist.wallet))).await.expect_success().body;
    assert_eq!(body["page"], Value::from(format!("{}/a/{}", stack.site(), artist.wallet)));
}
