use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::api::read::Site;

use super::{ACCOUNT, CONTRACT, HOSTILE, SHOWN, assert_inert, metadata, moment};
use crate::{
    OembedQuery,
    crawler::{map, robots_text, security_text},
    oembed::{Oembed, OembedFormat, PageUrl, Pixels},
};

fn query(format: OembedFormat, width: Option<&str>, height: Option<&str>) -> OembedQuery {
    let pixels = |text: Option<&str>| text.map(|text| text.parse::<Pixels>().unwrap());
    OembedQuery {
        url: PageUrl(String::new()),
        format: Some(format),
        maxwidth: pixels(width),
        maxheight: pixels(height),
    }
}

fn json_of(site: &Site, text: &str, mime: &str, query: &OembedQuery) -> Value {
    let moment = moment(site, text, metadata(text, mime, "ipfs://bafy/1"));
    serde_json::to_value(Oembed::of(site, &moment, query)).unwrap()
}

#[test]
fn embeds_fit_into_the_size_asked_for() {
    let site = Site::from_env();
    let frame = format!("/api/pages/embed/m/8453/{CONTRACT}/7");
    let sizes = [(None, None, 600, 680), (Some("320"), None, 320, 680), (Some("9999"), Some("240"), 600, 240)];
    for (most_width, most_height, width, height) in sizes {
        let embed = json_of(&site, "Dawn", "video/mp4", &query(OembedFormat::Json, most_width, most_height));
        assert_eq!((&embed["width"], &embed["height"]), (&json!(width), &json!(height)));
        let start = format!("<iframe src=\"{frame}\" width=\"{width}\" height=\"{height}\" title=\"Dawn\"");
        assert!(embed["html"].as_str().unwrap().starts_with(&start), "{embed}");
        assert_eq!((&embed["type"], &embed["version"]), (&json!("video"), &json!("1.0")));
    }
    assert_eq!(json_of(&site, "Dawn", "image/png", &query(OembedFormat::Json, None, None))["type"], "rich");
    for text in ["0", "-1", "a", "4294967296"] {
        text.parse::<Pixels>().unwrap_err();
    }
}

#[test]
fn formats_are_json_and_xml() {
    let site = Site::from_env();
    let moment = moment(&site, "Dawn", metadata("Dawn", "image/png", "ipfs://bafy/1"));
    let embed = Oembed::of(&site, &moment, &query(OembedFormat::Json, None, None));
    for (format, start) in [("json", Some("{")), ("xml", Some("<?xml")), ("yaml", None), ("", None)] {
        let text = embed.document(format.parse().unwrap()).unwrap().map(|(_, text)| text);
        assert_eq!(text.as_deref().map(|text| text.starts_with(start.unwrap())), start.map(|_| true), "{format}");
    }
}

#[test]
fn hostile_texts_are_inert_in_embeds() {
    let site = Site::from_env();
    let moment = moment(&site, HOSTILE, metadata(HOSTILE, HOSTILE, HOSTILE));
    let embed = Oembed::of(&site, &moment, &query(OembedFormat::Xml, None, None));
    assert_inert(&embed.document(OembedFormat::Xml).unwrap().unwrap().1);
    let value = serde_json::to_value(&embed).unwrap();
    assert_inert(value["html"].as_str().unwrap());
    assert_eq!((&value["title"], &value["author_name"]), (&json!(SHOWN), &json!(SHOWN)));
}

#[test]
fn site_map_has_each_page_once_and_only_text() {
    let site = Site::from_env();
    let place = |token: &str| shared::model::MomentRef {
        chain: shared::model::ChainId(8453),
        collection: CONTRACT.parse().unwrap(),
        token: token.parse().unwrap(),
    };
    let artists = BTreeSet::from([(ACCOUNT.parse().unwrap(), HOSTILE.to_owned())]);
    let map = map(&site, &[place("2"), place("1")], &artists);
    assert_inert(&map);
    assert_eq!((map.matches("<url>").count(), map.matches("/c/8453/").count()), (5, 1), "{map}");
    assert!(map.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns="), "{map}");
    assert!(robots_text(&site).ends_with("\nSitemap: /api/pages/sitemap.xml\n"));
    let security = security_text(&site, "mailto:a@b.example", 1_753_400_000).unwrap();
    assert!(security.starts_with("Contact: mailto:a@b.example\nExpires: 2025-08-23T23:33:20Z\n"), "{security}");
}
