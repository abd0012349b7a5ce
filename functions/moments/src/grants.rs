//! Grants of the admin permission, and their calls.

use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use shared::chain::{contracts::native::Creator1155::multicallCall, protocol::permission::Permission, wallet::Call};

/// A missing ADMIN permission on a token, or with id 0 on a whole collection.
pub type Grant = (Address, U256);

/// Calls that make `wallet` an admin: one per collection.
pub fn calls(grants: &[Grant], wallet: Address) -> Vec<Call> {
    let of_collections = grants.chunk_by(|(one, _), (other, _)| one == other);
    let call = |grants: &[Grant]| {
        let (collection, _) = grants.first()?;
        let data = grants.iter().map(|(_, token)| Permission::Admin.grant(*token, wallet).abi_encode().into());
        Some(Call::new(*collection, &multicallCall { data: data.collect() }))
    };
    of_collections.filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_become_one_call_per_collection() {
        let (one, other) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let grants =
            [(one, 1), (one, 2), (one, 0), (other, 0)].map(|(collection, token)| (collection, U256::from(token)));
        let calls = calls(&grants, Address::repeat_byte(3));
        assert_eq!(calls.iter().map(|call| call.target).collect::<Vec<_>>(), [one, other]);
        let bundled = multicallCall::abi_decode(&calls[0].data).unwrap().data;
        assert_eq!(bundled[2], Permission::Admin.grant(U256::ZERO, Address::repeat_byte(3)).abi_encode());
        assert_eq!(bundled.len(), 3);
    }
}
