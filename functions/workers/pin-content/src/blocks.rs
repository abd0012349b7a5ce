//! Stores where each block of a file is, so that gateways can fetch them one by one (`GET /ipfs/{cid}?format=raw`).

use std::collections::BTreeMap;

use shared::{
    bucket::{Bucket, BucketError},
    model::{Cid, Dag, LEAF},
    store::{
        StoreError,
        artist::{Media, StoredBlock},
    },
};

/// Blocks that are written together.
const AT_ONCE: usize = 400;

/// Why a file's blocks can't be stored.
#[derive(Debug, thiserror::Error)]
pub enum BlocksError {
    /// Its row, or theirs.
    #[error("rows of a file's blocks")]
    Rows(#[from] StoreError),
    /// Its bytes.
    #[error("bytes of a file")]
    Bytes(#[from] BucketError),
    /// It isn't kept.
    #[error("{0} isn't kept")]
    Missing(Cid),
    /// Its bytes are others.
    #[error("{0} isn't what is kept under it")]
    Changed(Cid),
}

/// Stores a file's blocks.
pub async fn store(media: &Media, bucket: &Bucket, cid: Cid) -> Result<(), BlocksError> {
    media.stored(cid).await?.ok_or(BlocksError::Missing(cid))?;
    let mut stream = bucket.read(&cid.object(), 0, None).await?.ok_or(BlocksError::Missing(cid))?;
    let (mut dag, mut blocks, mut offset) = (Dag::default(), BTreeMap::new(), 0);
    let mut leaf = Vec::with_capacity(LEAF);
    loop {
        let chunk = stream.try_next().await.map_err(BucketError::from)?;
        let is_last = chunk.is_none();
        let mut rest = chunk.as_deref().unwrap_or_default();
        while !rest.is_empty() || is_last && !leaf.is_empty() {
            let (taken, later) = rest.split_at(rest.len().min(LEAF - leaf.len()));
            leaf.extend_from_slice(taken);
            rest = later;
            if leaf.len() == LEAF || is_last {
                let found = dag.push_with(&leaf, &mut |cid, node| {
                    blocks.insert(cid, StoredBlock::Node { block: node.into() });
                });
                let size = leaf.len() as u64;
                blocks.insert(found, StoredBlock::Leaf { file: cid, offset, size });
                offset += size;
                leaf.clear();
            }
        }
        if blocks.len() >= AT_ONCE {
            media.add_blocks(std::mem::take(&mut blocks)).await?;
        }
        if is_last {
            break;
        }
    }
    let found = dag.finish_with(&mut |cid, node| {
        blocks.insert(cid, StoredBlock::Node { block: node.into() });
    });
    media.add_blocks(blocks).await?;
    if found == cid { Ok(()) } else { Err(BlocksError::Changed(cid)) }
}
