use alloy::{
    hex,
    primitives::U256,
    sol_types::{Panic, Revert, SolError, SolInterface},
};

use crate::{
    chain::{
        contracts::{
            native::ContractErrors::ContractErrorsErrors as Known, third_party::RegistryCollection::NonPermitted,
        },
        protocol::permission::Permission,
    },
    model::Address,
};

/// The factory's reason if a contract is already at the address of a new collection:
/// <https://github.com/transmissions11/solmate/blob/main/src/utils/CREATE3.sol>
const ADDRESS_TAKEN: &str = "DEPLOYMENT_FAILED";

/// Explains a revert's data in a sentence without a full stop.
pub fn explain(data: &[u8]) -> String {
    if let Ok(error) = Known::abi_decode(data) {
        return explain_known(&error);
    }
    if NonPermitted::abi_decode(data).is_ok() {
        return "Your account has no right to do this in the collection".to_owned();
    }
    if let Ok(Revert { reason }) = Revert::abi_decode(data) {
        return match reason.as_str() {
            ADDRESS_TAKEN => "This very collection is there already: give it another name".to_owned(),
            _ => format!("The contract refuses: {reason}"),
        };
    }
    if let Ok(Panic { code }) = Panic::abi_decode(data) {
        return format!("The contract failed with panic code {code}");
    }
    match data.first_chunk::<4>() {
        Some(selector) => format!("The contract refuses with error 0x{}", hex::encode(selector)),
        None => "The contract refuses without a reason".to_owned(),
    }
}

/// Whether a revert's data means that the caller lacks the right to make the call.
pub fn is_forbidden(data: &[u8]) -> bool {
    matches!(Known::abi_decode(data), Ok(Known::NotTokenHolderOrAdmin(_))) || NonPermitted::abi_decode(data).is_ok()
}

/// Whether a revert's data means that another token took the id that the calls were made for.
pub fn is_overtaken(data: &[u8]) -> bool {
    match Known::abi_decode(data) {
        Ok(Known::TokenIdMismatch(_)) => true,
        Ok(Known::CallFailed(error)) => is_overtaken(&error.reason),
        _ => false,
    }
}

fn explain_known(error: &Known) -> String {
    match error {
        Known::UserMissingRoleForToken(e) => {
            let (user, role) = (Address::from(e.user), Permission::name_of(e.role));
            format!("{user} lacks the permission {role} on token {}", e.tokenId)
        }
        Known::CallFailed(e) => explain(&e.reason),
        Known::TokenIdMismatch(e) => {
            format!("Token {} was created in the meantime (expected {}). Try again.", e.actual, e.expected)
        }
        Known::Call_TokenIdMismatch(_) => "The sale is of another token".to_owned(),
        Known::CannotMintMoreTokens(e) => format!(
            "Only {} more of token {} can be minted, not {}",
            e.maxSupply.checked_sub(e.totalMinted).unwrap_or(U256::ZERO),
            e.tokenId,
            e.quantity
        ),
        Known::INVALID_ETH_AMOUNT(_) | Known::WrongValueSent(_) | Known::InvalidValue(_) => {
            "The amount sent is not what it costs".to_owned()
        }
        Known::InvalidETHValue(e) => {
            format!("{} wei were sent where it costs {}", e.actualValue, e.expectedValue)
        }
        Known::InvalidMintSchedule(_) => "A royalty needs a recipient".to_owned(),
        Known::Sale_CannotCallNonSalesContract(e) => {
            format!("{} is not a sale strategy", Address::from(e.targetContract))
        }
        Known::Mint_ValueTransferFail(_) => "The recipient of the funds refuses them".to_owned(),
        Known::Burn_NotOwnerOrApproved(_) => "Only an owner of the token may burn it".to_owned(),
        Known::ERC1155_TRANSFER_TO_NON_ERC1155RECEIVER_IMPLEMENTER(_)
        | Known::ERC1155_ERC1155RECEIVER_REJECTED_TOKENS(_) => {
            "A recipient is a contract that takes no such tokens".to_owned()
        }
        Known::NewOwnerNeedsToBeAdmin(_) => "The new owner must be an admin first".to_owned(),
        Known::SaleNotSet(_) => "This moment is not for sale".to_owned(),
        Known::SaleEnded(_) | Known::SaleV2Ended(_) => "The sale has ended".to_owned(),
        Known::SaleHasNotStarted(_) => "The sale has not started".to_owned(),
        Known::InvalidMerkleProof(_) => "The account isn't on the list of this sale, or not with this price".to_owned(),
        Known::UserExceedsMintLimit(e) => {
            format!("{} may mint at most {} of this token", Address::from(e.user), e.limit)
        }
        Known::PricePerTokenTooLow(_) => "The price in an ERC-20 currency must be at least 10000 units".to_owned(),
        Known::AddressZero(_) => "The currency and the recipient of the funds must not be the zero address".to_owned(),
        Known::InvalidCurrency(_) => "The sale is in another currency".to_owned(),
        Known::RequestMintInvalidUseMint(_) => "This sale is collected from its strategy directly".to_owned(),
        Known::SaleAlreadySet(_) => "This sale can be set only once".to_owned(),
        Known::NotTokenHolderOrAdmin(_) => "Collect this moment before commenting".to_owned(),
        Known::EmptyComment(_) => "A comment needs a text".to_owned(),
        Known::CommentDoesntExist(_) => "The comment that is replied to does not exist".to_owned(),
        Known::CommenterMismatch(_) => "A comment can only be made in one's own name".to_owned(),
        Known::IncorrectETHAmountForSparks(e) => {
            format!("{} wei were sent where it costs {}", e.actual, e.expected)
        }
        Known::MustSendAtLeastOneSpark(_) => "A comment by anyone but an admin costs a spark".to_owned(),
        Known::CommentAddressOrTokenIdsDoNotMatch(_) => {
            "The comment that is replied to is on another moment".to_owned()
        }
        Known::CannotSparkOwnComment(_) => "An own comment cannot be sparked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::address;

    use super::*;
    use crate::chain::contracts::native::ContractErrors;

    #[test]
    fn errors_are_explained_even_inside_another_error() {
        let missing = ContractErrors::UserMissingRoleForToken {
            user: address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
            tokenId: U256::from(3),
            role: U256::from(8),
        };
        let words = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266 lacks the permission SALES on token 3";
        assert_eq!(explain(&missing.abi_encode()), words);

        let price = ContractErrors::PricePerTokenTooLow {}.abi_encode();
        assert_eq!(explain(&hex!("835de658")), explain(&price));
        let wrapped = ContractErrors::CallFailed { reason: price.into() }.abi_encode();
        assert_eq!(explain(&wrapped), "The price in an ERC-20 currency must be at least 10000 units");
    }

    #[test]
    fn unknown_errors_are_passed_on() {
        let revert = Revert { reason: "GS013".to_owned() }.abi_encode();
        assert_eq!(explain(&revert), "The contract refuses: GS013");
        let panic = Panic { code: U256::from(0x11) }.abi_encode();
        assert_eq!(explain(&panic), "The contract failed with panic code 17");
        assert_eq!(explain(&hex!("deadbeef00")), "The contract refuses with error 0xdeadbeef");
        assert_eq!(explain(&[]), "The contract refuses without a reason");
    }
}
