//! What strangers write stays text on each page and in each feed.

mod embeds;
mod feeds;
mod pages;

use alloy::primitives::U256;
use serde_json::json;
use shared::{
    api::read::{
        CollectionName, CollectionView, ContentView, MetadataView, MomentView, Person, Placeholder, Preview, Site,
        Supply,
    },
    chain::Chains,
    model::{Amount, ChainId, Protocol, TokenId},
    store::artist::Profile,
};

const CONTRACT: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";
const ACCOUNT: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const CID: &str = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
const ID: &str = "019a2b3c-4d5e-7f60-8172-839405a6b7c8";

/// Markup, quotes of both kinds, an end of CDATA and of a comment, controls, and overrides of direction.
const HOSTILE: &str = concat!(
    "a\"><script>alert(1)</script>' onerror='x' \" onload=\"x\" ]]> --> &amp; &#60;",
    "\u{0}\u{8}\u{1b}\u{85}\u{FFFE}\u{202E}gnp\u{2066}z",
);

/// What is left of it in one line.
const SHOWN: &str = "a\"><script>alert(1)</script>' onerror='x' \" onload=\"x\" ]]> --> &amp; &#60;gnpz";

fn chains() -> Chains {
    r#"[{"id": 8453}]"#.parse().unwrap()
}

fn person(username: &str) -> Person {
    Person { address: ACCOUNT.parse().unwrap(), username: username.to_owned() }
}

fn metadata(text: &str, mime: &str, uri: &str) -> MetadataView {
    MetadataView {
        name: text.to_owned(),
        image: uri.to_owned(),
        description: text.to_owned(),
        content: ContentView {
            mime: mime.to_owned(),
            uri: uri.to_owned(),
            width: Some(4_000),
            height: Some(3_000),
            size: Some(1_234_567),
            duration: None,
        },
        external_url: uri.to_owned(),
        animation_url: uri.to_owned(),
        alt: text.to_owned(),
        previews: [320, 640].map(|width| preview(uri, width)).into(),
        placeholder: Some(Placeholder {
            thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI".to_owned(),
            color: Some("#7a8b9c".to_owned()),
            width: 4_000,
            height: 3_000,
        }),
    }
}

fn preview(uri: &str, width: u32) -> Preview {
    let url = format!("/api/previews/{}/{width}", "0".repeat(64));
    Preview { uri: uri.to_owned(), url, width, height: width * 3 / 4, mime: "image/webp" }
}

/// A moment with a text in each of its fields that a stranger writes.
fn moment(site: &Site, text: &str, metadata: MetadataView) -> MomentView {
    let place = shared::model::MomentRef {
        chain: ChainId(8453),
        collection: CONTRACT.parse().unwrap(),
        token: "7".parse::<TokenId>().unwrap(),
    };
    MomentView {
        address: place.collection,
        token_id: place.token,
        chain_id: place.chain,
        protocol: Protocol::Native,
        id: serde_json::from_value(json!(ID)).unwrap(),
        page: site.moment(&place),
        uri: text.to_owned(),
        creator: person(text),
        owner: ACCOUNT.parse().unwrap(),
        collection: CollectionName { name: text.to_owned() },
        admins: Vec::new(),
        moved_to: None,
        hidden: Vec::new(),
        is_withheld: false,
        created_at: "2026-11-20T12:00:00Z".to_owned(),
        updated_at: "2026-11-21T12:00:00Z".to_owned(),
        content_uri: Some(metadata.content.uri.clone()),
        metadata: Some(metadata),
        sale: None,
        allow_list: None,
        royalty: None,
        supply: Supply { max: Amount(U256::from(9)), minted: Amount::default(), total: Amount::default() },
        sold_out: false,
        comments: 1,
    }
}

fn collection(site: &Site, text: &str, metadata: MetadataView) -> CollectionView {
    let address = CONTRACT.parse().unwrap();
    CollectionView {
        id: serde_json::from_value(json!(ID)).unwrap(),
        address,
        chain_id: ChainId(8453),
        page: site.collection(ChainId(8453), address),
        name: text.to_owned(),
        uri: text.to_owned(),
        creator: person(text),
        admins: Vec::new(),
        created_at: "2026-11-20T12:00:00Z".to_owned(),
        updated_at: "2026-11-20T12:00:00Z".to_owned(),
        royalty: None,
        protocol: Protocol::Native,
        is_withheld: false,
        metadata: Some(metadata),
    }
}

fn profile(text: &str) -> Profile {
    serde_json::from_value(json!({
        "artist_id": ID,
        "embedded_wallet": ACCOUNT,
        "created_at": 1_700_000_000,
        "updated_at": 1_700_000_000,
        "username": text,
        "bio": text,
        "instagram_username": text,
        "twitter_username": text,
        "telegram_username": text,
        "avatar": CID,
        "avatar_forms": {
            "uri": format!("ipfs://{CID}"), "width": 900, "height": 900, "color": text, "placeholder": text,
            "forms": [{"width": 320, "height": 320}, {"width": 640, "height": 640}],
        },
        "links": ["https://ada.example/\"><script>alert(1)</script>", "https://www.b.example/ada?x=\"onload=\"x"],
        "wallets": [],
        "held_names": [],
        "version": 1,
    }))
    .unwrap()
}

/// Nothing of the hostile text is markup in a document of HTML or XML. Single quotes enclose no attribute there.
#[track_caller]
fn assert_inert(document: &str) {
    for evil in ["<script>alert", "\" onload=\"", "javascript:"] {
        assert!(!document.contains(evil), "{evil} in {document}");
    }
}
