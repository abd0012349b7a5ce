//! Paid collects and moved tokens, in the table of what the chain can rebuild. All are numbered lists in the order of
//! the chain.
//!
//! - `pk = PAYMENTS#<chain>`: payments;
//! - `pk = PAYMENTS#<chain>#ARTIST#<creator>`, `pk = PAYMENTS#<chain>#COLLECTOR#<buyer>` and both together: numbers of
//!   the payments to a collection's creator, of a buyer, of the one to the other;
//! - `pk = TRANSFERS#<moment>`: what moved of a moment;
//! - `pk = HOLDERS#<moment>`, `sk = <address>`: how many tokens an account holds of it.

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{Key, StoreError, Unit, numbered::length_key};
use crate::model::{Address, Amount, ChainId, MomentRef, Payment, Transfer};

/// The place of a payment in its chain's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNumber {
    /// Counted from 0.
    pub number: u64,
}

#[derive(Serialize, Deserialize)]
struct HolderRow {
    quantity: Amount,
}

/// Which payments a list holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Only to collections of this creator.
    pub artist: Option<Address>,
    /// Only of this buyer.
    pub collector: Option<Address>,
}

impl PaymentFilter {
    /// The lists that a payment of this buyer to this creator is in, besides that of all.
    pub fn of(creator: Address, buyer: Address) -> [Self; 3] {
        let (artist, collector) = (Some(creator), Some(buyer));
        [Self { artist, collector: None }, Self { artist: None, collector }, Self { artist, collector }]
    }

    /// Where the length of the list is kept.
    pub fn key(&self, chain: ChainId) -> Key {
        length_key(&self.partition(chain))
    }

    /// The partition of the list. Without a filter its rows are [`Payment`]s, else [`PaymentNumber`]s.
    pub fn partition(&self, chain: ChainId) -> String {
        let part = |name: &str, address: Option<Address>| address.map_or(String::new(), |it| format!("#{name}#{it}"));
        format!("PAYMENTS#{chain}{}{}", part("ARTIST", self.artist), part("COLLECTOR", self.collector))
    }
}

impl Unit {
    /// Adds a payment at the end of its chain's list and of those of its creator and buyer. Gives its number.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_payment(&mut self, payment: &Payment) -> Result<u64, StoreError> {
        let chain = payment.chain_id;
        let number = self.append(&PaymentFilter::default().partition(chain), payment).await?;
        for filter in PaymentFilter::of(payment.creator, payment.buyer) {
            self.append(&filter.partition(chain), &PaymentNumber { number }).await?;
        }
        Ok(number)
    }

    /// Adds what moved of a moment at the end of its list, and counts it with those who have it and had it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_transfer(&mut self, moment: &MomentRef, transfer: &Transfer) -> Result<(), StoreError> {
        self.append(&transfers_partition(moment), transfer).await?;
        let quantity = transfer.quantity.0;
        self.count_held(moment, transfer.from, |held| held.saturating_sub(quantity)).await?;
        self.count_held(moment, transfer.to, |held| held.saturating_add(quantity)).await
    }

    async fn count_held(
        &mut self,
        moment: &MomentRef,
        holder: Address,
        change: impl FnOnce(U256) -> U256,
    ) -> Result<(), StoreError> {
        if holder == Address::ZERO {
            return Ok(());
        }
        let key = holder_key(moment, holder);
        let held: Option<HolderRow> = self.get(&key).await?;
        let quantity = change(held.map_or(U256::ZERO, |row| row.quantity.0));
        if quantity.is_zero() {
            self.delete(&key);
            return Ok(());
        }
        self.put(&key, &HolderRow { quantity: Amount(quantity) })
    }
}

/// Where it is kept how many tokens of a moment an account holds.
pub fn holder_key(moment: &MomentRef, holder: Address) -> Key {
    Key::new(format!("HOLDERS#{moment}"), holder.to_string())
}

/// Where the length of a moment's list of transfers is kept.
pub fn transfers_key(moment: &MomentRef) -> Key {
    length_key(&transfers_partition(moment))
}

fn transfers_partition(moment: &MomentRef) -> String {
    format!("TRANSFERS#{moment}")
}
