//! A chain with its contracts, tables to index it into, and people who do things on it by chance.

pub mod history;
pub mod protocols;

use std::{collections::BTreeMap, fs};

use alloy::providers::{Provider, RootProvider};
use aws_sdk_dynamodb::types::AttributeValue;
use index_chain::{Followed, Follower, IndexError};
use local::{
    chains::LocalChain,
    cloud::{Endpoints, local_chains},
    contracts::{self, Artifacts},
    database,
    paths::Paths,
};
use serde_json::json;
use shared::{
    chain::{Chain, node::Node},
    model::ChainId,
    store::{Artists, Table},
};
use template::Template;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Every row of a table but for how far the chain is read and how to undo it.
pub type Rows = BTreeMap<(String, String), BTreeMap<String, AttributeValue>>;

const CHAIN: ChainId = ChainId(8453);

/// A chain of one's own.
pub struct Ground {
    pub chain: Chain,
    pub node: RootProvider,
    pub rpc_url: String,
    _process: LocalChain,
}

impl Ground {
    /// A chain on which nothing happened but the contracts' deployment. `name` is the folder of its logs.
    pub async fn start(name: &str, reorg_depth: u64) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let (_, chains) = local_chains(&[CHAIN.0])?;
        let chain = Chain { reorg_depth, ..chains.get(CHAIN)?.clone() };
        let logs = paths.local("workshops").join(name);
        let process = LocalChain::start(&paths, &logs, CHAIN).await?;
        let artifacts = Artifacts::compile(&paths).await?;
        contracts::deploy(&process.rpc_url, &chain, &artifacts).await?;
        let (rpc_url, node) = (process.rpc_url.clone(), RootProvider::connect(&process.rpc_url).await?);
        Ok(Self { chain, node, rpc_url, _process: process })
    }

    /// Drops the newest blocks and puts empty ones in their place.
    pub async fn reorganise(&self, depth: u64) -> Result<(), Error> {
        let nothing: [(); 0] = [];
        Ok(self.node.raw_request("anvil_reorg".into(), (depth, nothing)).await?)
    }

    /// Drops the newest blocks.
    pub async fn roll_back(&self, depth: u64) -> Result<(), Error> {
        Ok(self.node.raw_request("anvil_rollback".into(), (depth,)).await?)
    }

    /// Empty tables, and an indexer of the chain that writes to them and asks the nodes at these URLs.
    pub async fn indexer(&self, urls: &[&str]) -> Result<Indexer, Error> {
        self.indexer_through(urls, None).await
    }

    /// The same, but the indexer reaches its tables through something in front of them.
    pub async fn indexer_through(&self, urls: &[&str], front: Option<&str>) -> Result<Indexer, Error> {
        let dynamodb = database::start().await?;
        let endpoints = Endpoints { aws: dynamodb.clone(), dynamodb: dynamodb.clone() };
        let template: Template = fs::read_to_string(Paths::of_checkout().root().join("template.yaml"))?.parse()?;
        for table in template.resources("AWS::DynamoDB::Table") {
            endpoints.create_table(table).await?;
        }
        let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&dynamodb).await);
        let aws = endpoints.sdk_config(front.unwrap_or(&dynamodb)).await;
        let nodes = json!({ self.chain.id.to_string(): urls }).to_string().parse()?;
        let (table, artists) = (Table::new(&aws, "ChainTable"), Table::new(&aws, "ArtistTable"));
        let (chain, nodes) = (self.chain.clone(), Node::new(&nodes, self.chain.id)?);
        let follower = Follower::new(chain, &nodes, table.clone(), Artists::new(artists.clone()));
        Ok(Indexer { follower, table, artists, dynamodb, client })
    }

    /// The rows of an index made anew.
    pub async fn fresh_rows(&self) -> Result<Rows, Error> {
        let mut fresh = self.indexer(&[&self.rpc_url]).await?;
        fresh.follow().await?;
        fresh.rows().await
    }
}

/// An indexer with tables of its own.
pub struct Indexer {
    pub follower: Follower,
    pub table: Table,
    pub artists: Table,
    pub dynamodb: String,
    client: aws_sdk_dynamodb::Client,
}

impl Indexer {
    /// Reads everything that is new.
    pub async fn follow(&mut self) -> Result<Followed, IndexError> {
        self.follower.follow(None, None, &[]).await
    }

    /// Every row of the chain's table but for how far it is read and how to undo it.
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

    /// Every row of the chain's table.
    pub async fn all_rows(&self) -> Result<Rows, Error> {
        let scan = self.client.scan().table_name("ChainTable").consistent_read(true).into_paginator().items().send();
        let items = scan.collect::<Result<Vec<_>, _>>().await?;
        let text = |value: &AttributeValue| value.as_s().cloned().unwrap_or_default();
        Ok(items.into_iter().map(|item| ((text(&item["pk"]), text(&item["sk"])), item.into_iter().collect())).collect())
    }
}
