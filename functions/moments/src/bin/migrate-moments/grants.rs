//! Permissions that a wallet lacks to be an admin wherever the artist's embedded wallet is one.

use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use futures::{StreamExt, TryStreamExt, stream};
use moments::grants::{Grant, calls};
use shared::{
    api::transact::WriteSession,
    chain::{
        contracts::native::Creator1155::{self, multicallCall, permissionsCall},
        node::{Node, NodeError},
        protocol::permission::Permission,
        wallet::Call,
    },
    http::ApiError,
    model,
    store::chain::Moments,
};

/// Permissions per transaction: some 4 million gas.
const GRANTS_PER_BATCH: usize = 100;
/// Transactions per request.
const MAX_BATCHES: usize = 5;
/// Collections read in parallel.
const AT_ONCE: usize = 16;
const TOKENS_PER_CALL: u64 = 200;

/// Calls that make `wallet` an admin of every collection that the artist's account administers, in bounded batches. At
/// most as many as fit one request: the next one finds the rest.
pub(crate) async fn missing(
    moments: &Moments,
    session: &WriteSession<'_>,
    wallet: model::Address,
) -> Result<Vec<Vec<Call>>, ApiError> {
    let (node, account) = (session.node(), Address::from(session.account()));
    let (factory, wallet) = (session.chain().addresses.factory, Address::from(wallet));
    let mut grants: Vec<Grant> = Vec::new();
    let mut after = None;
    while grants.len() < GRANTS_PER_BATCH * MAX_BATCHES {
        let page = moments.administered(session.chain().id, session.account(), after).await?;
        after = page.last().copied();
        if page.is_empty() {
            break;
        }
        let look = |collection: model::Address| async move {
            let collection = Collection { node, address: collection.into() };
            collection.missing(account, wallet, factory).await
        };
        let found: Vec<_> = stream::iter(page).map(look).buffered(AT_ONCE).try_collect().await?;
        grants.extend(found.into_iter().flatten());
    }
    Ok(grants.chunks(GRANTS_PER_BATCH).take(MAX_BATCHES).map(|batch| calls(batch, wallet)).collect())
}

struct Collection<'a> {
    node: &'a Node,
    address: Address,
}

impl Collection<'_> {
    /// Grants that `wallet` lacks. The one on the whole collection comes last and marks it as done, so that an interrupted
    /// migration resumes.
    async fn missing(&self, account: Address, wallet: Address, factory: Address) -> Result<Vec<Grant>, NodeError> {
        let on_all = |user| permissionsCall { tokenId: U256::ZERO, user };
        let (of_account, of_wallet) = (on_all(account), on_all(wallet));
        let (account, wallet_now, next) = tokio::try_join!(
            self.node.read(self.address, &of_account),
            self.node.read(self.address, &of_wallet),
            self.node.read(self.address, &Creator1155::nextTokenIdCall {}),
        )?;
        let is_admin = |permissions: Option<U256>| Permission::Admin.is_among(permissions.unwrap_or_default());
        if !is_admin(account) || is_admin(wallet_now) {
            return Ok(Vec::new());
        }
        let mut tokens = self.left_by(factory, wallet, next.unwrap_or_default().saturating_to()).await?;
        tokens.push(U256::ZERO);
        Ok(tokens.into_iter().map(|token| (self.address, token)).collect())
    }

    /// Tokens with the factory as admin and without `wallet`. They are the first ones: the factory creates tokens only
    /// together with the collection.
    async fn left_by(&self, factory: Address, wallet: Address, next: u64) -> Result<Vec<U256>, NodeError> {
        let mut left = Vec::new();
        for first in (1..next).step_by(usize::try_from(TOKENS_PER_CALL).unwrap_or(usize::MAX)) {
            let tokens = first..next.min(first + TOKENS_PER_CALL);
            let (of_factory, of_wallet) =
                tokio::try_join!(self.admin_of(factory, tokens.clone()), self.admin_of(wallet, tokens.clone()))?;
            if !of_factory.contains(&true) {
                break;
            }
            let lacking = tokens.zip(of_factory.into_iter().zip(of_wallet));
            left.extend(
                lacking.filter(|(_, (factory, wallet))| *factory && !wallet).map(|(token, _)| U256::from(token)),
            );
        }
        Ok(left)
    }

    /// Returns, per token, whether `user` is a token-level admin. One call.
    async fn admin_of(&self, user: Address, tokens: std::ops::Range<u64>) -> Result<Vec<bool>, NodeError> {
        let questions = tokens.map(|token| permissionsCall { tokenId: U256::from(token), user }.abi_encode().into());
        let answers = self.node.read(self.address, &multicallCall { data: questions.collect() }).await?;
        let is_admin = |answer: &[u8]| {
            permissionsCall::abi_decode_returns(answer).is_ok_and(|mask| Permission::Admin.is_among(mask))
        };
        Ok(answers.unwrap_or_default().iter().map(|answer| is_admin(answer)).collect())
    }
}
