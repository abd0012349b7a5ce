//! `GET /transfers`: who got which tokens, newest first.

use activity::list_transfers::{ListTransfersQuery, ListTransfersResponse};
use shared::{
    api::{
        read::{Pagination, Reader, fitting},
        request::of_another_list,
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, ArtistName, ChainId, Transfer, TransferType},
    store::{
        StoreError,
        artist::ArtistTable,
        chain::{ChainTable, TransferList, Transfers},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListTransfers>().await
}

struct ListTransfers {
    transfers: Transfers,
    reader: Reader,
}

/// Wallets that the query names.
struct Accounts {
    artist: Option<Vec<Address>>,
    collector: Option<Vec<Address>>,
}

impl ListTransfers {
    async fn accounts(&self, artist: Option<&ArtistName>) -> Result<Option<Vec<Address>>, StoreError> {
        match artist {
            None => Ok(None),
            Some(artist) => self.reader.accounts(artist).await.map(Some),
        }
    }

    /// The shortest lists that have all matches, and whether they have others.
    async fn lists(
        &self,
        query: &ListTransfersQuery,
        accounts: &Accounts,
    ) -> Result<(Vec<(ChainId, TransferList)>, bool), StoreError> {
        let chains = self.reader.chains(query.chain_id);
        let types = query.r#type.map_or_else(|| TransferType::EVERY.to_vec(), |r#type| vec![r#type]);
        let of = |chain: ChainId, accounts: &[Address], list: fn(Address, TransferType) -> TransferList| {
            let lists = accounts.iter().flat_map(|account| types.iter().map(move |of| (chain, list(*account, *of))));
            lists.collect::<Vec<_>>()
        };
        let has_type = query.content_type.is_some();
        if let (Some(collection), Some(token)) = (query.collection, query.token_id) {
            let lists = chains.into_iter().map(|chain| (chain, TransferList::Moment(collection, token)));
            let has_others = query.r#type.is_some() || accounts.artist.is_some() || accounts.collector.is_some();
            return Ok((lists.collect(), has_type || has_others));
        }
        let has_others = has_type || query.collection.is_some();
        if let Some(collectors) = &accounts.collector {
            let lists = chains.iter().flat_map(|chain| of(*chain, collectors, TransferList::Collector));
            return Ok((lists.collect(), has_others));
        }
        if let Some(artists) = &accounts.artist {
            let lists = chains.iter().flat_map(|chain| of(*chain, artists, TransferList::Artist));
            return Ok((lists.collect(), has_others));
        }
        let Some(collection) = query.collection else {
            let chains = self.reader.listed_chains(query.chain_id, false).into_iter();
            let lists = chains.map(|chain| (chain, TransferList::All));
            return Ok((lists.collect(), has_type || query.r#type.is_some()));
        };
        let mut lists = Vec::new();
        for chain in chains {
            let creator = self.reader.creator(chain, collection).await?;
            lists.extend(of(chain, creator.as_slice(), TransferList::Artist));
        }
        Ok((lists, true))
    }
}

impl Endpoint for ListTransfers {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let chain = ChainTable::from_env(&aws)?.eventually_consistent();
        Ok(Self {
            transfers: Transfers::new(chain.clone()),
            reader: Reader::from_env(chain, ArtistTable::from_env(&aws)?)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let query: ListTransfersQuery = request.query().read_for(&self.reader)?;
        let accounts = Accounts {
            artist: self.accounts(query.artist.as_ref()).await?,
            collector: self.accounts(query.collector.as_ref()).await?,
        };
        let (lists, has_others) = self.lists(&query, &accounts).await?;
        let found = self.transfers.starting_at(&lists, &query.start).await?.ok_or_else(of_another_list)?;
        let is_among = |accounts: &Option<Vec<Address>>, account: Address| {
            accounts.as_ref().is_none_or(|accounts| accounts.contains(&account))
        };
        let is_meant = |transfer: &Transfer| {
            query.r#type.is_none_or(|r#type| r#type == transfer.r#type)
                && query.collection.is_none_or(|collection| collection == transfer.collection)
                && is_among(&accounts.artist, transfer.creator)
                && is_among(&accounts.collector, transfer.to)
        };
        let meant: Vec<Transfer> = found.transfers.iter().filter(|transfer| is_meant(transfer)).cloned().collect();
        let mut transfers = self.reader.transfers(&meant).await?;
        transfers.retain(|transfer| query.content_type.is_none_or(|kind| transfer.content_type() == Some(kind)));
        let (transfers, shown) = fitting(transfers, &found.transfers, |view, transfer| view.id() == transfer.id)?;
        let pagination = Pagination::new(query.start.page, found.total);
        let pagination = if has_others { pagination.uncounted() } else { pagination };
        let response = ListTransfersResponse { status: "success", transfers, pagination };
        Response::page(&response, request, &query.start, found.rest.after(shown))
    }
}
