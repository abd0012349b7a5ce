//! All rows of a person that stand in partitions of their own, to be exported or erased.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value, json};

use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, ChainId, Email, ExportCursor},
    store::{
        artist::{self, transactions::replay_key},
        engine::{
            Section,
            table::{ArtistTable, Item, PrimaryKey, SecretTable, StoreError, Table, text},
        },
        secret,
    },
};

const AT_ONCE: usize = 8;

/// What a person's partitions are named after.
#[derive(Clone, Debug)]
pub struct Person {
    /// The artist.
    pub artist: ArtistId,
    /// Their mail address, if they have one.
    pub email: Option<Email>,
    /// Their wallets.
    pub wallets: Vec<Address>,
    /// Chains whose notifications they may have viewed.
    pub chains: Vec<ChainId>,
}

/// The tables with rows of persons.
#[derive(Clone)]
pub struct PersonalData {
    artists: ArtistTable,
    secrets: SecretTable,
}

/// Rows as JSON, by partition and sort key, without what keys and codes are checked with.
#[derive(Debug, Default)]
pub struct PersonalPage {
    /// The rows.
    pub rows: Vec<Map<String, Value>>,
    /// Where the next page begins.
    pub next: Option<ExportCursor>,
}

impl PersonalData {
    /// Uses both tables.
    pub fn new(artists: ArtistTable, secrets: SecretTable) -> Self {
        Self { artists, secrets }
    }

    /// Returns a page of at most `limit` rows, the profile first. A Query for each partition.
    pub async fn page(&self, person: &Person, after: ExportCursor, limit: usize) -> Result<PersonalPage, StoreError> {
        let last = [artist::rows::profile(person.artist).pk, artist::rows::contact(person.artist).pk];
        let last = last.into_iter().map(|pk| (&*self.artists, pk));
        let partitions: Vec<_> = last.chain(self.partitions(person)).collect();
        let mut page = PersonalPage::default();
        let mut after_key = Some(after.key).filter(|key| !key.is_empty());
        for (index, (table, pk)) in (0..).zip(&partitions).skip(after.partition.into()) {
            let room = limit.saturating_sub(page.rows.len());
            if room == 0 {
                page.next = Some(ExportCursor { partition: index, key: String::new() });
                break;
            }
            let start = after_key.take();
            let call = table.query().key_condition_expression("pk = :pk").expression_attribute_values(":pk", text(pk));
            let start = start.map(|sk| PrimaryKey { pk: pk.clone(), sk }.item());
            let call = call.set_exclusive_start_key(start).limit(i32::try_from(room).unwrap_or(i32::MAX));
            let answer = call.dispatch().await?;
            page.rows.extend(answer.items.unwrap_or_default().into_iter().map(shown));
            if let Some(AttributeValue::S(key)) = answer.last_evaluated_key.and_then(|mut last| last.remove("sk")) {
                page.next = Some(ExportCursor { partition: index, key });
                break;
            }
        }
        Ok(page)
    }

    /// Deletes all of these rows but the profile and the mail address; may be repeated. A Query per partition and megabyte, a write per row.
    pub async fn erase(&self, person: &Person) -> Result<(), StoreError> {
        for (table, pk) in self.partitions(person) {
            let query = table.query().key_condition_expression("pk = :pk").expression_attribute_values(":pk", text(pk));
            let mut pages = query.into_paginator().send();
            while let Some(page) = pages.next().await {
                let rows = page?.items.unwrap_or_default().into_iter();
                let deletions = rows.map(|row| erase_row(table, row));
                stream::iter(deletions.collect::<Vec<_>>()).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            }
        }
        Ok(())
    }

    fn partitions(&self, person: &Person) -> Vec<(&Table, String)> {
        let Person { artist, email, wallets, chains } = person;
        let artist = artist.to_string();
        // These go by themselves, at last.
        let own = named_after(artist::ROWS, "{artist}").filter(|kind| !["ARTIST#", "CONTACT#"].contains(kind));
        let mut all: Vec<_> = own.map(|kind| (&*self.artists, format!("{kind}{artist}"))).collect();
        for wallet in wallets {
            all.extend(
                chains.iter().map(|chain| (&*self.artists, artist::rows::viewed_notifications(*chain, *wallet))),
            );
        }
        let mut names = vec![("{artist}", artist)];
        if let Some(email) = email {
            names.extend([("{mailbox_hash}", email.mailbox()), ("{email_hash}", email.fingerprint())]);
        }
        for (name, value) in names {
            all.extend(named_after(secret::ROWS, name).map(|kind| (&*self.secrets, format!("{kind}{value}"))));
        }
        all
    }
}

/// What stands before the value in the partitions that are named after it alone.
fn named_after(rows: &'static [Section], value: &str) -> impl Iterator<Item = &'static str> {
    let partitions = rows.iter().flat_map(|section| section.rows).filter_map(|rows| rows.first());
    partitions.filter_map(move |row| row.pk.strip_suffix(value).filter(|kind| !kind.contains('{')))
}

/// A transaction's idempotency key and a claim link's token have rows of their own, which go first: nothing else names them.
async fn erase_row(table: &Table, mut row: Item) -> Result<(), StoreError> {
    let delete = |key: Item| table.client.delete_item().table_name(&table.name).set_key(Some(key)).dispatch();
    if let Some(replay) = row.remove("replay") {
        delete(replay_key(&serde_dynamo::from_attribute_value(replay)?).item()).await?;
    }
    if let Some(AttributeValue::S(hash)) = row.remove("token_hash") {
        delete(artist::rows::claim_place(&hash).item()).await?;
    }
    row.retain(|name, _| name == "pk" || name == "sk");
    delete(row).await?;
    Ok(())
}

fn shown(mut row: Item) -> Map<String, Value> {
    row.retain(|name, _| !["hash", "token_hash", "mac"].contains(&name.as_str()));
    fields(row)
}

fn fields(fields: HashMap<String, AttributeValue>) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name, json_of(value))).collect()
}

fn json_of(value: AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!(text),
        // Numbers beyond JSON's exact ones stay text.
        AttributeValue::N(digits) => digits.parse::<i64>().map_or_else(|_| json!(digits), |number| json!(number)),
        AttributeValue::Bool(flag) => json!(flag),
        AttributeValue::B(bytes) => json!(BASE64_STANDARD.encode(bytes.into_inner())),
        AttributeValue::L(values) => values.into_iter().map(json_of).collect(),
        AttributeValue::M(values) => Value::Object(fields(values)),
        AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => json!(texts),
        _ => Value::Null,
    }
}
