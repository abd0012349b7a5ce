//! Reads that are about to be made.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use alloy::{
    eips::BlockId,
    primitives::{Address, Bytes},
};
use tokio::sync::oneshot;

/// A read of a contract, and who waits for it.
pub(super) struct Read<E> {
    pub(super) at: BlockId,
    pub(super) target: Address,
    pub(super) data: Bytes,
    /// Dropped where the read has to be made alone: the others may have left it too little gas.
    pub(super) answer: oneshot::Sender<Result<Bytes, Arc<E>>>,
}

/// Reads that are about to be made.
pub(super) struct Reads<E>(Arc<Mutex<Vec<Read<E>>>>);

impl<E> Clone for Reads<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> Default for Reads<E> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<E> Reads<E> {
    fn take(&self) -> Vec<Read<E>> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it is the first one.
    pub(super) fn add(&self, read: Read<E>) -> bool {
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push(read);
        reads.len() == 1
    }
}

/// The first read waits for others. If it is given up meanwhile, they are made alone.
pub(super) struct Gathering<'a, E>(pub(super) &'a Reads<E>);

impl<E> Gathering<'_, E> {
    /// The reads that came together; later ones are another first one's.
    pub(super) fn finish(self) -> Vec<Read<E>> {
        let reads = self.0.take();
        mem::forget(self);
        reads
    }
}

impl<E> Drop for Gathering<'_, E> {
    fn drop(&mut self) {
        self.0.take();
    }
}
