//! Permissions of accounts on tokens of a collection, as a bit set. Permissions on token 0 apply to all tokens.

use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolCall,
};
use futures::future::BoxFuture;

use crate::{
    chain::{
        contracts::native::Creator1155,
        node::{Node, NodeError},
    },
    model::{self, MomentRef},
};

/// A permission; its value is the contract's bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Everything, including granting permissions.
    Admin = 2,
    /// Minting without a sale.
    Minter = 4,
    /// Changing sales.
    Sales = 8,
    /// Changing metadata.
    Metadata = 16,
    /// Changing the recipient of funds.
    FundsManager = 32,
}

/// An account's permissions on a moment, and whether the moment exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permissions {
    /// Whether the collection exists.
    pub is_collection: bool,
    /// Whether the moment exists.
    pub exists: bool,
    on_token: U256,
    on_collection: U256,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Admin, Self::Minter, Self::Sales, Self::Metadata, Self::FundsManager];

    /// Whether the bit set `permissions` contains this permission.
    pub fn is_among(self, permissions: U256) -> bool {
        !(permissions & self.bits()).is_zero()
    }

    /// The call that grants this permission to an account on a token, or with id 0 on all tokens.
    pub fn grant(self, token: U256, user: Address) -> Creator1155::addPermissionCall {
        Creator1155::addPermissionCall { tokenId: token, user, permissionBits: self.bits() }
    }

    /// The call that revokes this permission from an account.
    pub fn revoke(self, token: U256, user: Address) -> Creator1155::removePermissionCall {
        Creator1155::removePermissionCall { tokenId: token, user, permissionBits: self.bits() }
    }

    /// The permission's bit in the contract.
    pub fn bits(self) -> U256 {
        U256::from(self as u8)
    }

    /// The permission's name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Minter => "MINTER",
            Self::Sales => "SALES",
            Self::Metadata => "METADATA",
            Self::FundsManager => "FUNDS_MANAGER",
        }
    }

    /// The name of the permission with this bit, or the number itself.
    pub fn name_of(bit: U256) -> String {
        let known = Self::ALL.into_iter().find(|&permission| U256::from(permission as u8) == bit);
        known.map_or_else(|| bit.to_string(), |permission| permission.name().to_owned())
    }
}

impl Permissions {
    /// Reads permissions and existence. Three concurrent calls. Boxed, so that they are compiled here and not in each
    /// function.
    pub fn of<'a>(node: &'a Node, account: Address, moment: &MomentRef) -> BoxFuture<'a, Result<Self, NodeError>> {
        let (collection, token) = (moment.collection.into(), moment.token.into());
        Box::pin(async move {
            let on = |token| Creator1155::permissionsCall { tokenId: token, user: account };
            let (count, of_token, of_all) = (Creator1155::nextTokenIdCall {}, on(token), on(U256::ZERO));
            let (next, on_token, on_all) = tokio::try_join!(
                node.read(collection, &count),
                node.read(collection, &of_token),
                node.read(collection, &of_all),
            )?;
            let exists = next.is_some_and(|next| token != U256::ZERO && token < next);
            let is_collection = next.is_some();
            Ok(Self {
                is_collection,
                exists,
                on_token: on_token.unwrap_or_default(),
                on_collection: on_all.unwrap_or_default(),
            })
        })
    }

    /// Which of the accounts are token-level admins, in their order. One call.
    pub async fn admins_among(
        node: &Node,
        moment: &MomentRef,
        accounts: &[model::Address],
    ) -> Result<Vec<bool>, NodeError> {
        if accounts.is_empty() {
            return Ok(Vec::new());
        }
        let question = |user: &model::Address| {
            let on_token = Creator1155::permissionsCall { tokenId: moment.token.into(), user: (*user).into() };
            on_token.abi_encode().into()
        };
        let questions = Creator1155::multicallCall { data: accounts.iter().map(question).collect() };
        let answers = node.read(moment.collection.into(), &questions).await?.unwrap_or_default();
        let is_admin = |answer: Option<&Bytes>| {
            let mask = answer.and_then(|answer| Creator1155::permissionsCall::abi_decode_returns(answer).ok());
            mask.is_some_and(|mask| Permission::Admin.is_among(mask))
        };
        Ok((0..accounts.len()).map(|index| is_admin(answers.get(index))).collect())
    }

    /// Whether the account has this permission or is an admin, on the token or the collection.
    pub fn may(&self, permission: Permission) -> bool {
        let bits = U256::from(permission as u8 | Permission::Admin as u8);
        !((self.on_token | self.on_collection) & bits).is_zero()
    }

    /// Whether the account is a token-level admin.
    pub fn is_admin_of_token(&self) -> bool {
        Permission::Admin.is_among(self.on_token)
    }

    /// Whether the account is a collection-level admin.
    pub fn is_admin_of_collection(&self) -> bool {
        Permission::Admin.is_among(self.on_collection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admins_may_do_everything_and_others_what_they_were_granted() {
        let permissions = |bits| Permissions {
            is_collection: true,
            exists: true,
            on_token: U256::from(bits),
            on_collection: U256::ZERO,
        };
        assert!(permissions(2).may(Permission::Metadata));
        assert!(permissions(16 | 4).may(Permission::Metadata));
        assert!(!permissions(4 | 8 | 32).may(Permission::Metadata));
        assert!(!permissions(0).may(Permission::Sales));
        let of_collection =
            Permissions { is_collection: true, exists: true, on_token: U256::from(4), on_collection: U256::from(2) };
        assert!(of_collection.may(Permission::Sales));
        assert!(of_collection.is_admin_of_collection() && !of_collection.is_admin_of_token());
    }

    #[test]
    fn permissions_are_named() {
        assert_eq!(Permission::name_of(U256::from(16)), "METADATA");
        assert_eq!(Permission::name_of(U256::from(12)), "12");
    }
}
