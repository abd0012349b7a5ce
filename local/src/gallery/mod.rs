//! The works that `make run` shows: published, collected and talked about by demo artists through the service's own
//! endpoints.

mod catalogue;
mod session;

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use futures::future::{try_join, try_join_all};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use self::catalogue::{ArtistEntry, Catalogue, Conversation, Visit, Work, WorkContent};
pub(crate) use self::{catalogue::WorkFile, session::Session};
use crate::{
    Error,
    artists::{DemoArtist, SignedIn},
    ipfs_gateway,
    paths::Paths,
    patience::eventually,
    stack_map::StackMap,
};

/// Chain of the works.
const CHAIN: u64 = 8453;

/// A published work.
#[derive(Clone, Debug)]
struct Published {
    collection: String,
    token: String,
}

impl Published {
    fn reference(&self) -> Value {
        json!({"chainId": CHAIN, "collectionAddress": self.collection, "tokenId": self.token})
    }
}

/// Signs the catalogue's artists in and equips them. Those of `signed_in` are already.
pub async fn artists(paths: &Paths, map: &StackMap, signed_in: &[SignedIn]) -> Result<Vec<DemoArtist>, Error> {
    let mut artists = Vec::new();
    // One after another: one account of the node pays all of them.
    for entry in Catalogue::load(paths)?.artists {
        let artist = match signed_in.iter().find(|artist| artist.email == entry.email) {
            Some(artist) => artist.clone(),
            None => SignedIn::by_mail(&map.api, &map.mail, &entry.email).await?,
        };
        artists.push(artist.equip(map, &entry.username).await?);
    }
    Ok(artists)
}

/// Publishes the catalogue by `artists`, those of [`artists`].
pub async fn publish(paths: &Paths, map: &StackMap, artists: &[DemoArtist]) -> Result<(), Error> {
    let catalogue = Catalogue::load(paths)?;
    let http = Client::new();
    let mut sessions = BTreeMap::new();
    for entry in &catalogue.artists {
        let artist = artists.iter().find(|artist| artist.email == entry.email);
        let artist = artist.ok_or_else(|| format!("{} isn't signed in", entry.email))?;
        sessions.insert(entry.username.as_str(), Session::new(artist, &map.api, &http));
    }
    let session = |username: &str| sessions.get(username).ok_or_else(|| format!("{username} isn't in the catalogue"));

    let exhibitions = catalogue.artists.iter().map(async |entry| {
        let session = session(&entry.username)?;
        exhibit(paths, map, session, entry).await
    });
    // The stack's first moments name these files; stored, they are served as the others are.
    let stored = ipfs_gateway::PICTURES.iter().map(async |file| {
        let first = catalogue.artists.first().ok_or("the catalogue has no artist")?;
        session(&first.username)?.upload(WorkFile::read(paths, file)?).await
    });
    let (published, _) = try_join(try_join_all(exhibitions), try_join_all(stored)).await?;
    let published: BTreeMap<_, _> = published.into_iter().flatten().collect();
    let find = |work: &str| published.get(work).ok_or_else(|| format!("{work} isn't published"));

    let orders =
        catalogue.visits.iter().map(async |visit| collect(session(&visit.by)?, visit, find(&visit.work)?).await);
    try_join_all(orders).await?;
    let conversations = catalogue.conversations.iter().map(async |talk| {
        let (by, answerer) = (session(&talk.by)?, session(&talk.answer.by)?);
        converse(by, answerer, &map.api, talk, find(&talk.work)?).await
    });
    let ends = catalogue.artists.iter().flat_map(|entry| entry.works.iter().map(move |work| (entry, work)));
    let ends = ends.filter(|(_, work)| work.sale.ends_after_collecting);
    let ends = ends.map(async |(entry, work)| end_sale(session(&entry.username)?, find(&work.title)?).await);
    try_join(try_join_all(conversations), try_join_all(ends)).await?;
    Ok(())
}

/// Fills in an artist's profile and publishes their works: the files' in one transaction, then each writing.
async fn exhibit<'a>(
    paths: &Paths,
    map: &StackMap,
    session: &Session<'_>,
    entry: &'a ArtistEntry,
) -> Result<Vec<(&'a str, Published)>, Error> {
    let profile = async {
        let avatar = session.upload(WorkFile::read(paths, &entry.picture)?).await?;
        let (username, bio, links) = (&entry.username, &entry.bio, &entry.links);
        let profile = json!({"username": username, "bio": bio, "links": links, "avatar": avatar});
        session.update_profile(&profile).await
    };
    let tokens = entry.works.iter().map(async |work| token(paths, map, session, work).await);
    let collection = async {
        let image = session.upload(WorkFile::read(paths, &entry.collection.image)?).await?;
        let (name, description) = (&entry.collection.name, &entry.collection.description);
        session.store_metadata(&json!({"name": name, "description": description, "image": image})).await
    };
    let (_, (tokens, uri)) = try_join(profile, try_join(try_join_all(tokens), collection)).await?;

    let (files, writings): (Vec<_>, Vec<_>) =
        entry.works.iter().zip(tokens).partition(|(work, _)| matches!(work.content, WorkContent::File { .. }));
    let (works, tokens): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    let batch = json!({
        "chainId": CHAIN,
        "contract": {"name": entry.collection.name, "uri": uri},
        "tokens": tokens,
    });
    let made = session.send(Method::POST, "/moment/create-batch", &batch).await?;
    let collection = text(&made["contractAddress"])?;
    let ids = made["tokenIds"].as_array().filter(|ids| ids.len() == works.len()).ok_or("tokens are missing")?;
    let mut published = Vec::new();
    for (work, id) in works.into_iter().zip(ids) {
        published.push((work.title.as_str(), Published { collection: collection.clone(), token: text(id)? }));
    }
    for (work, token) in writings {
        let WorkContent::Text { text: writing } = &work.content else { continue };
        let request = json!({
            "chainId": CHAIN,
            "contract": {"address": collection},
            "title": work.title,
            "text": writing,
            "token": token,
        });
        let made = session.send(Method::POST, "/moment/create/writing", &request).await?;
        let token = text(&made["tokenId"])?;
        published.push((work.title.as_str(), Published { collection: collection.clone(), token }));
    }
    Ok(published)
}

/// The token of a request that creates a work, with its files uploaded.
async fn token(paths: &Paths, map: &StackMap, session: &Session<'_>, work: &Work) -> Result<Value, Error> {
    let mut token = json!({"salesConfig": sale(map, work)?});
    if let Some(edition) = work.edition {
        token["maxSupply"] = edition.into();
    }
    let WorkContent::File { file, cover, description, alt } = &work.content else { return Ok(token) };
    let content = WorkFile::read(paths, file)?;
    let mime = content.mime;
    let uri = session.upload(content).await?;
    let mut metadata = json!({
        "name": work.title,
        "description": description,
        "image": uri,
        "content": {"mime": mime, "uri": uri},
        "attributes": [{"trait_type": "Alt text", "value": alt}],
    });
    if let Some(cover) = cover {
        metadata["animation_url"] = uri.into();
        metadata["image"] = session.upload(WorkFile::read(paths, cover)?).await?.into();
    }
    token["metadata"] = metadata;
    Ok(token)
}

fn sale(map: &StackMap, work: &Work) -> Result<Value, Error> {
    let start = match work.sale.starts_in_days {
        Some(days) => now() + days * 24 * 60 * 60,
        None => 0,
    };
    let mut sale = json!({
        "type": work.sale.r#type,
        "pricePerToken": work.sale.price,
        "saleStart": start,
        "saleEnd": u64::MAX.to_string(),
    });
    if work.sale.r#type == "erc20Mint" {
        let usdc = map.contracts.get(&CHAIN.to_string()).and_then(|contracts| contracts.get("usdc"));
        sale["currency"] = usdc.ok_or("the chain has no USDC")?.as_str().into();
    }
    Ok(sale)
}

async fn collect(session: &Session<'_>, visit: &Visit, work: &Published) -> Result<(), Error> {
    let order = json!({"moment": work.reference(), "amount": visit.amount, "comment": visit.comment});
    session.collect(&format!("demo-{}-{}", work.collection, work.token), &order).await?;
    Ok(())
}

/// Comments, and answers as soon as the index has the comment.
async fn converse(
    by: &Session<'_>,
    answerer: &Session<'_>,
    api: &str,
    talk: &Conversation,
    work: &Published,
) -> Result<(), Error> {
    let path = format!("/comments/eip155:{CHAIN}/erc1155:{}", work.collection);
    let comment = json!({"tokenId": work.token, "text": talk.comment});
    by.send(Method::POST, &path, &comment).await?;
    let parent = comment_id(api, work, &talk.comment).await?;
    let answer = json!({"tokenId": work.token, "text": talk.answer.text, "replyTo": parent});
    answerer.send(Method::POST, &path, &answer).await?;
    Ok(())
}

async fn comment_id(api: &str, work: &Published, text: &str) -> Result<String, Error> {
    let url = format!("{api}/comments?collectionAddress={}&tokenId={}", work.collection, work.token);
    eventually(format!("the comment \"{text}\" is indexed"), async || {
        let page: Value = crate::http::client().get(&url).send().await?.json().await?;
        let mut comments = page["comments"].as_array().into_iter().flatten();
        let found = comments.find(|comment| comment["comment"] == text);
        Ok(found.and_then(|found| found["commentId"].as_str()).map(str::to_owned))
    })
    .await
}

async fn end_sale(session: &Session<'_>, work: &Published) -> Result<(), Error> {
    let change = json!({"moment": work.reference(), "saleEnd": now()});
    session.send(Method::POST, "/sale", &change).await?;
    Ok(())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn text(value: &Value) -> Result<String, Error> {
    Ok(value.as_str().ok_or("a text is missing in an answer")?.to_owned())
}
