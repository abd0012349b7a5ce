//! Plans become calls by what the chain has: when they are tried, and again when they are signed.

use alloy::primitives::{B256, Bytes, U256};

use super::{
    moving::{Found, Movable},
    permission::Permission,
    sale::CurrentSale,
};
use crate::{
    chain::{
        chains::ChainAddresses,
        contracts::native::Creator1155,
        node::{Node, NodeError},
    },
    model::{Call, Invalid, MomentEdit, MomentUpdate, NewTokens, Plan, SaleEdit},
};

/// What a plan's calls depend on, as the chain has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each plan of a batch, on the stack")]
pub enum Binding {
    /// Nothing, or it isn't there.
    Nothing,
    /// Id of the plan's first token.
    NextToken(U256),
    /// Sale of the plan's moment.
    Sale(CurrentSale),
    /// The moment that the plan moves.
    Movable(Movable),
    /// That moment isn't what it was when the plan was made.
    Changed,
}

/// Reason why a plan has no calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The collection isn't there.
    #[error("The collection doesn't say what its next token is")]
    NoNextToken,
    /// The moment isn't what it was when the plan was made.
    #[error("The moment was moved or got other metadata meanwhile")]
    Changed,
    /// None of its tokens are left, so that a copy would have none.
    #[error("All tokens of this moment are minted: its copy would have none")]
    SoldOut,
    /// The moment isn't sold, or in a way that can't be changed.
    #[error("This moment has no sale that could be changed")]
    NoSale,
    /// The sale's strategy refuses a value of the changed sale.
    #[error("{field} {reason}")]
    Refused {
        /// The request's field that has it.
        field: &'static str,
        /// Follows the field's name in a sentence.
        reason: Invalid,
    },
}

impl Binding {
    /// Reads what the plan depends on, as of the block with this hash or the newest one. At most five concurrent calls.
    pub async fn read(
        node: &Node,
        addresses: &ChainAddresses,
        plan: &Plan,
        block: Option<B256>,
    ) -> Result<Self, NodeError> {
        Ok(match plan {
            Plan::Tokens(tokens) => {
                let next = Creator1155::nextTokenIdCall {};
                let next = node.read_at(block, tokens.collection.into(), &next).await?;
                tokens.first(addresses, next).map_or(Self::Nothing, Self::NextToken)
            }
            Plan::Moment(MomentUpdate { collection, token, edit: MomentEdit::Sale(_) }) => {
                let place = ((*collection).into(), (*token).into());
                CurrentSale::changeable(node, addresses, place, block).await?.map_or(Self::Nothing, Self::Sale)
            }
            Plan::Moving(moving) => match Movable::find(node, addresses, moving, block).await? {
                Found::Movable(movable) => Self::Movable(movable),
                Found::Changed => Self::Changed,
                Found::NoNextToken => Self::Nothing,
            },
            Plan::Calls { .. } | Plan::Moment(_) => Self::Nothing,
        })
    }
}

impl Plan {
    /// The calls, given what they depend on.
    pub fn calls(&self, addresses: &ChainAddresses, binding: &Binding) -> Result<Vec<Call>, BindError> {
        match (self, binding) {
            (Self::Calls { calls }, _) => Ok(calls.clone()),
            (Self::Tokens(tokens), Binding::NextToken(first)) => Ok(tokens.calls(addresses, *first)),
            (Self::Tokens(_), _) => Err(BindError::NoNextToken),
            (Self::Moving(_), Binding::Movable(movable)) if movable.left.is_zero() => Err(BindError::SoldOut),
            (Self::Moving(moving), Binding::Movable(movable)) => Ok(moving.calls(addresses, movable)),
            (Self::Moving(_), Binding::Changed) => Err(BindError::Changed),
            (Self::Moving(_), _) => Err(BindError::NoNextToken),
            (Self::Moment(update), binding) => Ok(vec![update.call(addresses, binding)?]),
        }
    }

    /// The calls with placeholders for what they depend on: their targets, functions and values are those of the real
    /// ones.
    pub fn outline(&self, addresses: &ChainAddresses) -> Vec<Call> {
        match self {
            Self::Calls { calls } => calls.clone(),
            Self::Tokens(tokens) => tokens.calls(addresses, U256::ONE),
            Self::Moving(moving) => moving.outline(addresses),
            Self::Moment(
                update @ MomentUpdate { edit: MomentEdit::GrantAdmin(_) | MomentEdit::RevokeAdmin(_), .. },
            ) => update.call(addresses, &Binding::Nothing).into_iter().collect(),
            Self::Moment(MomentUpdate { collection, token, .. }) => {
                let (token, minter) = ((*token).into(), addresses.fixed_price_minter);
                let call = Creator1155::callSaleCall { tokenId: token, salesConfig: minter, data: Bytes::new() };
                vec![Call::new((*collection).into(), &call)]
            }
        }
    }

    /// Leaves out the first call, which creates a split that the chain has by now. Returns whether anything is left to
    /// do.
    pub(crate) fn leave_split_out(&mut self) -> bool {
        let calls = match self {
            Self::Calls { calls } | Self::Tokens(NewTokens { before: calls, .. }) => calls,
            Self::Moment(_) | Self::Moving(_) => return true,
        };
        calls.drain(..calls.len().min(1));
        !matches!(self, Self::Calls { calls } if calls.is_empty())
    }
}

impl MomentUpdate {
    fn call(&self, addresses: &ChainAddresses, binding: &Binding) -> Result<Call, BindError> {
        let (collection, token) = (self.collection.into(), self.token.into());
        Ok(match &self.edit {
            MomentEdit::Sale(edit) => Call::new(collection, &sale_call(addresses, token, edit, binding)?),
            MomentEdit::Uri(uri) => {
                Call::new(collection, &Creator1155::updateTokenURICall { tokenId: token, newURI: uri.to_string() })
            }
            MomentEdit::GrantAdmin(admin) => Call::new(collection, &Permission::Admin.grant(token, (*admin).into())),
            MomentEdit::RevokeAdmin(admin) => Call::new(collection, &Permission::Admin.revoke(token, (*admin).into())),
        })
    }
}

fn sale_call(
    addresses: &ChainAddresses,
    token: U256,
    edit: &SaleEdit,
    binding: &Binding,
) -> Result<Creator1155::callSaleCall, BindError> {
    let Binding::Sale(current) = binding else { return Err(BindError::NoSale) };
    let changed = edit.applied_to(*current).map_err(|(field, reason)| BindError::Refused { field, reason })?;
    Ok(changed.storing(addresses, token, ""))
}
