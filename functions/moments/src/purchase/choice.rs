//! The sale that a purchase is of, where a moment has several.

use alloy::primitives::U256;
use shared::{
    chain::protocol::sale::CurrentSale,
    clock,
    http::ApiError,
    model::{ListProof, MomentRef},
    store::artist::AllowLists,
};

use super::{Collector, check_terms};

/// A sale, and the account's place on its list if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The sale, at the account's price and with its limit.
    pub sale: CurrentSale,
    /// What proves that the account is on the list.
    pub proof: Option<ListProof>,
}

/// The sales that an account can collect from at the time `now`, the preferred first: that of a list which the account
/// is on, and the first open one to everybody. At most two reads.
///
/// # Errors
/// 422 without one, with the reason.
pub async fn choices(
    by: Collector<'_>,
    moment: &MomentRef,
    sales: &[CurrentSale],
    lists: &AllowLists,
    now: u64,
) -> Result<Vec<Choice>, ApiError> {
    let (listed, open): (Vec<&CurrentSale>, Vec<_>) = sales.iter().partition(|sale| sale.root().is_some());
    let (mut choices, mut refusal) = (Vec::new(), None);
    for sale in listed.into_iter().filter(|sale| sale.is_open(now)) {
        let root = sale.root().unwrap_or_default();
        match lists.proof(moment, root, by.account.into()).await? {
            Some(proof) => choices.push(Choice { sale: of_entry(sale, &proof), proof: Some(proof) }),
            None => refusal = Some(refuse(by, sale, lists.has(moment, root).await?)),
        }
    }
    choices.extend(open.iter().find(|sale| sale.is_open(now)).map(|sale| Choice { sale: **sale, proof: None }));
    if !choices.is_empty() {
        return Ok(choices);
    }
    // The one to come says more than the one that is over.
    let next = sales.iter().filter(|sale| sale.terms.start > now).min_by_key(|sale| sale.terms.start);
    let told = next.or_else(|| open.first().copied()).or(sales.first());
    let told = told.ok_or_else(|| ApiError::unprocessable("This moment is not for sale"))?;
    Err(refusal
        .or(check_terms(told, now).err())
        .unwrap_or_else(|| ApiError::unprocessable("This moment is not for sale")))
}

fn of_entry(sale: &CurrentSale, proof: &ListProof) -> CurrentSale {
    let mut sale = CurrentSale { price: proof.entry.price.0, ..*sale };
    sale.terms.max_per_address = proof.entry.max_amount;
    sale
}

fn refuse(by: Collector<'_>, sale: &CurrentSale, is_known: bool) -> ApiError {
    let end = clock::iso_8601(sale.terms.end).unwrap_or_else(|_| U256::from(sale.terms.end).to_string());
    ApiError::unprocessable(if is_known {
        format!("This moment is sold to a list of accounts until {end}, and {:#x} is not on it", by.account)
    } else {
        format!(
            "This moment is sold until {end} to a list of accounts that was made elsewhere: who made it has the proofs"
        )
    })
}
