use atom_syndication::Feed as AtomFeed;
use serde_json::{Value, json};
use shared::api::read::Site;

use super::{ACCOUNT, CONTRACT, HOSTILE, SHOWN, assert_inert, collection, metadata, moment, profile};
use crate::{Feed, FeedFormat};

fn json_of(feed: &Feed) -> Value {
    serde_json::from_str(&feed.json().unwrap()).unwrap()
}

fn atom_of(feed: &Feed) -> AtomFeed {
    feed.atom().unwrap().parse().unwrap()
}

#[test]
fn feeds_say_the_same_in_both_formats() {
    let site = Site::from_env();
    let moments = [moment(&site, "Ada", metadata("Dawn", "image/png", "ipfs://bafy/1.png"))];
    let profile = profile("Ada");
    let feed = Feed::of_artist(&site, profile.artist.embedded_wallet, Some(&profile), &moments);
    let (page, file) = (format!("/api/pages/m/8453/{CONTRACT}/7"), "/api/ipfs/bafy/1.png");

    let atom = atom_of(&feed);
    assert_eq!((atom.title.value.as_str(), atom.id), ("Ada", format!("/api/pages/a/{ACCOUNT}")));
    assert_eq!(atom.updated.to_rfc3339(), "2026-11-21T12:00:00+00:00");
    let links: Vec<_> = atom.links.iter().map(|link| (link.rel.as_str(), link.href.as_str())).collect();
    assert_eq!(links, [("alternate", "/api/pages/@Ada"), ("self", "/api/pages/@Ada/feed.atom")]);
    let entry = &atom.entries[0];
    assert_eq!((&entry.id, entry.title.value.as_str(), entry.authors[0].name.as_str()), (&page, "Dawn", "Ada"));
    assert_eq!(entry.published.unwrap().to_rfc3339(), "2026-11-20T12:00:00+00:00");
    let enclosure = entry.links.iter().find(|link| link.rel == "enclosure").unwrap();
    assert_eq!((enclosure.href.as_str(), enclosure.mime_type.as_deref()), (file, Some("image/png")));
    let html = entry.content.as_ref().unwrap().value.as_deref().unwrap();
    let picture = format!("/api/previews/{}/640", "0".repeat(64));
    assert!(html.contains(&format!("<img src=\"{picture}\" alt=\"Dawn\">")), "{html}");

    let expected = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Ada",
        "home_page_url": "/api/pages/@Ada",
        "feed_url": "/api/pages/@Ada/feed.json",
        "description": "Ada",
        "items": [{
            "id": page,
            "url": page,
            "title": "Dawn",
            "content_text": "Dawn",
            "image": picture,
            "date_published": "2026-11-20T12:00:00Z",
            "date_modified": "2026-11-21T12:00:00Z",
            "authors": [{"name": "Ada", "url": "/api/pages/@Ada"}],
            "attachments": [{"url": file, "mime_type": "image/png"}],
        }],
    });
    assert_eq!(json_of(&feed), expected);
}

#[test]
fn empty_feeds_are_whole() {
    let atom = atom_of(&Feed::of_everyone(&Site::from_env(), &[]));
    assert_eq!(
        (atom.title.value.as_str(), atom.updated.to_rfc3339().as_str()),
        ("Moments", "1970-01-01T00:00:00+00:00")
    );
    assert!(atom.entries.is_empty());
}

#[test]
fn hostile_texts_come_back_as_text() {
    let site = Site::from_env();
    let moments = [moment(&site, HOSTILE, metadata(HOSTILE, HOSTILE, HOSTILE))];
    let profile = profile(HOSTILE);
    let collection = collection(&site, HOSTILE, metadata(HOSTILE, HOSTILE, HOSTILE));
    for feed in [
        Feed::of_artist(&site, profile.artist.embedded_wallet, Some(&profile), &moments),
        Feed::of_collection(&site, &collection, &moments),
    ] {
        let text = feed.atom().unwrap();
        assert_inert(&text);
        assert!(!text.contains("]]>"), "{text}");
        let is_allowed = |c: char| !c.is_control() || c == '\n';
        assert!(text.chars().all(is_allowed) && !text.contains(['\u{202E}', '\u{2066}', '\u{FFFE}']), "{text}");
        let atom: AtomFeed = text.parse().unwrap();
        let entry = &atom.entries[0];
        for shown in [&atom.title.value, &atom.subtitle.as_ref().unwrap().value, &entry.title.value] {
            assert_eq!(shown, SHOWN);
        }
        assert_eq!(entry.authors[0].name, SHOWN);
        assert!(entry.links.iter().all(|link| link.rel == "alternate"), "{entry:?}");
        assert_inert(entry.content.as_ref().unwrap().value.as_deref().unwrap());

        let json = json_of(&feed);
        let item = &json["items"][0];
        for shown in [&json["title"], &json["description"], &item["title"], &item["content_text"]] {
            assert_eq!(shown, SHOWN);
        }
        assert_eq!((&item["authors"][0]["name"], &item["attachments"]), (&json!(SHOWN), &Value::Null));
    }
}

#[test]
fn formats_are_named_by_their_files() {
    assert_eq!(FeedFormat::of_file("feed.atom"), Some(FeedFormat::Atom));
    assert_eq!(FeedFormat::of_file("feed.json"), Some(FeedFormat::Json));
    for name in ["feed", "feed.xml", "FEED.ATOM", "feed.atom/", ""] {
        assert_eq!(FeedFormat::of_file(name), None, "{name}");
    }
}
