use maud::Markup;
use serde_json::json;
use shared::{
    api::read::Site,
    model::{Comment, Transfer},
    store::chain::{CommentPage, ListedComment},
};

use super::{ACCOUNT, CID, CONTRACT, HOSTILE, ID, assert_inert, chains, collection, metadata, moment, person, profile};
use crate::{Clock, Frame, MomentParts, artist_page, collection_page, embed_page, home_page, moment_page};

const URIS: [&str; 4] =
    ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "ipfs://a\" onload=\"x", HOSTILE];

fn comment() -> Comment {
    serde_json::from_value(json!({
        "id": ID, "sender": ACCOUNT, "username": HOSTILE, "comment": HOSTILE, "timestamp": 1, "commentId": null,
        "replyToId": null, "nonce": null,
    }))
    .unwrap()
}

fn transfer() -> Transfer {
    serde_json::from_value(json!({
        "id": ID, "type": "airdrop", "chain_id": 8453, "collection": CONTRACT, "token_id": "7", "creator": ACCOUNT,
        "from": ACCOUNT, "to": ACCOUNT, "quantity": "2", "value": null, "currency": null,
        "transaction_hash": format!("0x{}", "1".repeat(64)), "transferred_at": 1,
    }))
    .unwrap()
}

#[track_caller]
fn assert_page(frame: Frame, site: &Site) {
    let page: Markup = frame.render(site);
    let page = page.into_string();
    assert_inert(&page);
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, page.matches("</script>").count(), "{page}");
    assert!(scripts <= 2, "the script and the data: {page}");
    // Below the head, what people wrote is in elements of its own direction.
    let head = page.split("<script").next().unwrap_or_default();
    assert!(!head.contains(['\u{202E}', '\u{2066}', '\u{0}', '\u{1b}']), "{head}");
}

#[test]
fn hostile_texts_are_inert_on_every_page() {
    let (site, chains, clock) = (Site::from_env(), chains(), Clock::at(1_800_000_000));
    for uri in URIS {
        for mime in ["image/png", "video/mp4", "audio/mpeg", "text/plain", "model/gltf-binary", HOSTILE] {
            let metadata = || metadata(HOSTILE, mime, uri);
            let moments = [moment(&site, HOSTILE, metadata())];
            let chain = chains.get(moments[0].chain_id).unwrap();
            let listed = ListedComment { comment: comment(), reply_count: 3, replies: vec![comment()] };
            let parts = MomentParts {
                chain,
                comments: CommentPage { comments: vec![listed], more: true },
                collectors: vec![(transfer(), person(HOSTILE))],
                collects: 1,
            };
            let profile = profile(HOSTILE);
            let list = || (moments.as_slice(), 30, Some(2));
            let collection = collection(&site, HOSTILE, metadata());
            let artist = (profile.artist.embedded_wallet, Some(&profile));
            assert_page(moment_page(&site, &moments[0], &parts, clock), &site);
            assert_page(embed_page(&site, &moments[0], chain, clock), &site);
            assert_page(collection_page(&site, &chains, &collection, list(), clock), &site);
            assert_page(artist_page(&site, &chains, artist, list(), clock), &site);
            assert_page(home_page(&site, &chains, &moments, Some(2), clock), &site);
        }
    }
}

#[test]
fn artists_have_a_face_and_links() {
    let (site, clock) = (Site::from_env(), Clock::at(1_800_000_000));
    let profile = profile("ada");
    let artist = (profile.artist.embedded_wallet, Some(&profile));
    let page = artist_page(&site, &chains(), artist, (&[], 0, None), clock).render(&site).into_string();
    let hash = shared::model::Picture::hash(&format!("ipfs://{CID}"));
    for part in [
        format!("<img class=\"face\" src=\"/api/previews/{hash}/320\" width=\"112\" height=\"112\" alt=\"\">"),
        format!("<meta property=\"og:image\" content=\"/api/previews/{hash}/640\">"),
        ">b.example/ada</a>".to_owned(),
    ] {
        assert!(page.contains(&part), "{part} in {page}");
    }
}

#[test]
fn lists_lead_to_their_feeds_and_moments_to_their_embeds() {
    let (site, chains, clock) = (Site::from_env(), chains(), Clock::at(1_800_000_000));
    let home = home_page(&site, &chains, &[], None, clock).render(&site).into_string();
    for (kind, file) in [("atom+xml", "feed.atom"), ("feed+json", "feed.json")] {
        let link = format!("<link rel=\"alternate\" type=\"application/{kind}\" href=\"/api/pages/{file}\">");
        assert!(home.contains(&link), "{home}");
    }
    let moment = moment(&site, "Dawn", metadata("Dawn", "image/png", "ipfs://bafy/1.png"));
    let chain = chains.get(moment.chain_id).unwrap();
    let comments = CommentPage { comments: Vec::new(), more: false };
    let parts = MomentParts { chain, comments, collectors: Vec::new(), collects: 0 };
    let page = moment_page(&site, &moment, &parts, clock).render(&site).into_string();
    for (kind, format) in [("application/json+oembed", "json"), ("text/xml+oembed", "xml")] {
        let link =
            format!("type=\"{kind}\" href=\"/api/pages/oembed?format={format}&amp;url=%2Fapi%2Fpages%2Fm%2F8453");
        assert!(page.contains(&link), "{page}");
    }
}
