//! An indexer with empty tables.

pub mod shop;

use std::{collections::BTreeMap, fs};

use aws_sdk_dynamodb::types::AttributeValue;
use index_chain::{Followed, Follower, IndexError};
use local::{cloud::Endpoints, database, paths::Paths};
use serde_json::json;
use shared::{
    chain::node::Node,
    store::{Artists, Table},
};
use template::Template;
use tests::{Error, TestChain};

/// Rows by `pk` and `sk`.
pub type Rows = BTreeMap<(String, String), BTreeMap<String, AttributeValue>>;

pub struct Indexer {
    pub follower: Follower,
    pub table: Table,
    pub artists: Table,
    pub dynamodb: String,
    client: aws_sdk_dynamodb::Client,
}

impl Indexer {
    /// An indexer with empty tables that reads from the nodes at these URLs.
    pub async fn of(test_chain: &TestChain, urls: &[&str]) -> Result<Self, Error> {
        Self::through(test_chain, urls, None).await
    }

    /// The same, with an optional proxy in front of DynamoDB.
    pub async fn through(test_chain: &TestChain, urls: &[&str], proxy: Option<&str>) -> Result<Self, Error> {
        let dynamodb = database::start().await?;
        let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
        let template: Template = fs::read_to_string(Paths::of_checkout().root().join("template.yaml"))?.parse()?;
        for table in template.resources("AWS::DynamoDB::Table") {
            endpoints.create_table(table).await?;
        }
        let proxy = proxy.unwrap_or(&dynamodb).to_owned();
        Self::on(test_chain, urls, dynamodb, &proxy).await
    }

    async fn on(test_chain: &TestChain, urls: &[&str], dynamodb: String, proxy: &str) -> Result<Self, Error> {
        let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
        let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&dynamodb).await);
        let aws = endpoints.sdk_config(proxy).await;
        let nodes = json!({ test_chain.chain.id.to_string(): urls }).to_string().parse()?;
        let (table, artists) = (Table::new(&aws, "ChainTable"), Table::new(&aws, "ArtistTable"));
        let (chain, nodes) = (test_chain.chain.clone(), Node::new(&nodes, test_chain.chain.id)?);
        let follower = Follower::new(chain, &nodes, table.clone(), Artists::new(artists.clone()));
        Ok(Self { follower, table, artists, dynamodb, client })
    }

    /// The same indexer with a proxy in front of its DynamoDB.
    pub async fn behind(self, test_chain: &TestChain, proxy: &str) -> Result<Self, Error> {
        Self::on(test_chain, &[&test_chain.rpc_url], self.dynamodb, proxy).await
    }

    /// The rows of a fresh index.
    pub async fn fresh_rows(test_chain: &TestChain) -> Result<Rows, Error> {
        let mut fresh = Self::of(test_chain, &[&test_chain.rpc_url]).await?;
        fresh.follow().await?;
        fresh.rows().await
    }

    /// Indexes all new blocks.
    pub async fn follow(&mut self) -> Result<Followed, IndexError> {
        self.follower.follow(None, None, &[]).await
    }

    /// Rows of the chain's table without progress, journal and metadata documents.
    pub async fn rows(&self) -> Result<Rows, Error> {
        let rows = self.all_rows().await?;
        Ok(rows
            .into_iter()
            .filter(|((pk, _), _)| !["CHECKPOINT#", "JOURNAL#", "METADATA"].iter().any(|other| pk.starts_with(other)))
            .collect())
    }

    /// The rows of a numbered list, the oldest first.
    pub async fn list<R: serde::de::DeserializeOwned>(&self, partition: &str) -> Result<Vec<R>, Error> {
        let rows = self.all_rows().await?.into_iter().filter(|((pk, sk), _)| pk == partition && sk != "LENGTH");
        rows.map(|(_, row)| Ok(serde_dynamo::from_item(row.into_iter().collect::<std::collections::HashMap<_, _>>())?))
            .collect()
    }

    /// All rows of the chain's table.
    pub async fn all_rows(&self) -> Result<Rows, Error> {
        let scan = self.client.scan().table_name("ChainTable").consistent_read(true).into_paginator().items().send();
        let items = scan.collect::<Result<Vec<_>, _>>().await?;
        let text = |value: &AttributeValue| value.as_s().cloned().unwrap_or_default();
        Ok(items.into_iter().map(|item| ((text(&item["pk"]), text(&item["sk"])), item.into_iter().collect())).collect())
    }
}
