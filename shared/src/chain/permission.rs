//! What an account may do with a collection's token. Bits add up; those on token 0 hold for every token.

use alloy::primitives::{Address, U256};

use super::{
    contracts::Creator1155,
    node::{Node, NodeError},
};
use crate::model::MomentRef;

/// A permission, as the collections' contract numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Everything, and giving permissions.
    Admin = 2,
    /// Minting without a sale.
    Minter = 4,
    /// Changing sales.
    Sales = 8,
    /// Changing metadata.
    Metadata = 16,
    /// Changing who gets the funds.
    FundsManager = 32,
}

/// What the chain says of a moment and an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether there is such a moment.
    pub exists: bool,
    permissions: U256,
}

impl Permission {
    const ALL: [Self; 5] = [Self::Admin, Self::Minter, Self::Sales, Self::Metadata, Self::FundsManager];

    /// Its name, as the contract words it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Minter => "MINTER",
            Self::Sales => "SALES",
            Self::Metadata => "METADATA",
            Self::FundsManager => "FUNDS_MANAGER",
        }
    }

    /// The name of the permission with this number, or the number.
    pub fn name_of(bit: U256) -> String {
        let known = Self::ALL.into_iter().find(|&permission| U256::from(permission as u8) == bit);
        known.map_or_else(|| bit.to_string(), |permission| permission.name().to_owned())
    }
}

impl Standing {
    /// Asks the chain. Three calls at the same time.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn of(node: &Node, account: Address, moment: &MomentRef) -> Result<Self, NodeError> {
        let (collection, token) = (moment.collection.into(), moment.token.into());
        let on = |token| Creator1155::permissionsCall { tokenId: token, user: account };
        let (count, of_token, of_all) = (Creator1155::nextTokenIdCall {}, on(token), on(U256::ZERO));
        let (next, on_token, on_all) = tokio::try_join!(
            node.read(collection, &count),
            node.read(collection, &of_token),
            node.read(collection, &of_all),
        )?;
        let exists = next.is_some_and(|next| token != U256::ZERO && token < next);
        Ok(Self { exists, permissions: on_token.unwrap_or_default() | on_all.unwrap_or_default() })
    }

    /// Whether the account may do what takes this permission.
    pub fn may(&self, permission: Permission) -> bool {
        let bits = U256::from(permission as u8 | Permission::Admin as u8);
        !(self.permissions & bits).is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_admin_may_everything_and_others_what_they_were_given() {
        let standing = |bits| Standing { exists: true, permissions: U256::from(bits) };
        assert!(standing(2).may(Permission::Metadata));
        assert!(standing(16 | 4).may(Permission::Metadata));
        assert!(!standing(4 | 8 | 32).may(Permission::Metadata));
        assert!(!standing(0).may(Permission::Sales));
    }

    #[test]
    fn permissions_are_named() {
        assert_eq!(Permission::name_of(U256::from(16)), "METADATA");
        assert_eq!(Permission::name_of(U256::from(12)), "12");
    }
}
