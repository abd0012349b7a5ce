//! What names a file: documents that are kept here, and moments and collections that have their URIs. Documents that are
//! kept elsewhere aren't known.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use shared::{
    chain::Chains,
    clock,
    http::ApiError,
    model::{ChainId, Cid, MomentRef},
    store::{
        StoreError,
        artist::{MAX_NAMINGS, Media, Naming},
        chain::{ChainTable, UriNames, UriOwner},
    },
};

/// Seconds for which a document keeps what it names: a moment may be on its way.
const PUBLISHED_WITHIN: u64 = 24 * 60 * 60;

/// Finds what names files.
pub struct FileNames {
    media: Media,
    uris: UriNames,
    chains: Vec<ChainId>,
}

/// What names a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Documents that are kept here, of many some.
    pub documents: Vec<Naming>,
    /// A moment or collection.
    pub owner: Option<UriOwner>,
}

impl FileNames {
    /// Looks at these chains.
    pub fn new(media: Media, chain: ChainTable, chains: &Chains) -> Self {
        let chains = chains.iter().map(|chain| chain.id).collect();
        Self { media, uris: UriNames::new(chain), chains }
    }

    /// What names each file. A Query for each that documents name (`is_named`), a read for each chain and 100 URIs, and two
    /// for each URI that a chain has.
    pub async fn of(&self, files: &[(Cid, bool)]) -> Result<Vec<Names>, StoreError> {
        let documents = try_join_all(files.iter().map(async |(cid, is_named)| match is_named {
            true => self.media.namings(*cid).await,
            false => Ok(Vec::new()),
        }))
        .await?;
        let uris = files.iter().map(|(cid, _)| cid.uri());
        let uris: BTreeSet<String> =
            uris.chain(documents.iter().flatten().map(|naming| naming.document.uri())).collect();
        let of_chains = try_join_all(self.chains.iter().map(|chain| self.owners(*chain, &uris))).await?;
        let owners: BTreeMap<String, UriOwner> = of_chains.into_iter().flatten().collect();
        let names = files.iter().zip(documents).map(|((cid, _), documents)| {
            let mut uris = std::iter::once(cid.uri()).chain(documents.iter().map(|naming| naming.document.uri()));
            let owner = uris.find_map(|uri| owners.get(&uri).copied());
            Names { documents, owner }
        });
        Ok(names.collect())
    }

    async fn owners(&self, chain: ChainId, uris: &BTreeSet<String>) -> Result<Vec<(String, UriOwner)>, StoreError> {
        let known = self.uris.known(chain, uris).await?;
        let owners = try_join_all(known.iter().map(|uri| self.uris.owner(chain, uri))).await?;
        Ok(known.into_iter().zip(owners).filter_map(|(uri, owner)| Some((uri, owner?))).collect())
    }
}

impl Names {
    /// 409 if the file must stay at `now`, in Unix seconds.
    pub fn require_none(&self, now: u64) -> Result<(), ApiError> {
        match self.owner {
            Some(UriOwner::Moment(MomentRef { chain, collection, token })) => {
                let moment = format!("Moment {token} of {collection} on chain {chain}");
                return Err(ApiError::conflict(format!("{moment} names this file: it stays")));
            }
            Some(UriOwner::Other(chain)) => {
                return Err(ApiError::conflict(format!("A collection on chain {chain} names this file: it stays")));
            }
            None => {}
        }
        if self.documents.len() >= MAX_NAMINGS {
            return Err(ApiError::conflict(format!("{MAX_NAMINGS} documents or more name this file: it stays")));
        }
        let until = self.documents.iter().map(|naming| naming.at.saturating_add(PUBLISHED_WITHIN)).max();
        match until.filter(|until| now < *until) {
            Some(until) => {
                let until = clock::iso_8601(until).map_err(ApiError::internal)?;
                let words = "A document of less than a day ago names this file, and a moment may be on its way";
                Err(ApiError::conflict(format!("{words}: delete it after {until}")))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::model::Dag;

    use super::*;

    #[test]
    fn a_document_keeps_its_files_for_a_day_and_a_moment_for_good() {
        let naming = Naming { document: Dag::cid_of(b"a document"), at: 1_000 };
        let names = Names { documents: vec![naming], owner: None };
        assert!(names.require_none(1_000 + PUBLISHED_WITHIN - 1).is_err());
        assert!(names.require_none(1_000 + PUBLISHED_WITHIN).is_ok() && Names::default().require_none(0).is_ok());
        let named = Names { owner: Some(UriOwner::Other(ChainId::DEFAULT)), ..names.clone() };
        assert!(named.require_none(u64::MAX).is_err());
        let many = Names { documents: vec![naming; MAX_NAMINGS], owner: None };
        assert!(many.require_none(u64::MAX).is_err(), "not all of them were looked at");
    }
}
