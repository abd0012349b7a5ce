//! Pairs purchases with mints: the purchase has the token and the price, the mint who received how many.

use std::collections::{HashMap, HashSet};

use alloy::primitives::{Address, U256};

use crate::event::{ChainEvent, Fact, Position, Transferred};

/// Block and log index.
type Place = (u64, u64);

/// The pairs among some events.
#[derive(Default)]
pub struct Collects {
    /// Buyers by the place of the purchase.
    buyers: HashMap<Place, Buyer>,
    /// Place and token of the mints.
    bought: HashSet<(Place, U256)>,
}

/// The account that received the tokens of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buyer {
    pub account: Address,
    pub quantity: U256,
}

/// A mint that isn't paired yet.
struct Mint {
    place: Place,
    collection: Address,
    token: U256,
    operator: Address,
    buyer: Buyer,
}

impl Collects {
    /// Pairs events, given in the order of the chain and in whole transactions.
    pub fn among(events: &[ChainEvent]) -> Self {
        let mut collects = Self::default();
        for transaction in events.chunk_by(|one, next| one.at.transaction == next.at.transaction) {
            collects.pair(transaction);
        }
        collects
    }

    /// Pairs each purchase of a transaction with the last fitting mint before it, or else the first after it, since some
    /// contracts emit the purchase first.
    fn pair(&mut self, transaction: &[ChainEvent]) {
        let mut mints: Vec<Mint> = transaction.iter().flat_map(mints).collect();
        for event in transaction {
            let Fact::Purchased(bought) = &event.fact else { continue };
            let is_meant = |mint: &Mint| {
                (mint.collection, mint.token) == (bought.collection, bought.token)
                    // A purchase without a quantity is by a seller that mints by itself.
                    && bought.quantity.map_or(mint.operator == bought.seller, |it| it == mint.buyer.quantity)
            };
            let before = mints.iter().rposition(|mint| mint.place < place(&event.at) && is_meant(mint));
            if let Some(index) = before.or_else(|| mints.iter().position(is_meant)) {
                let mint = mints.remove(index);
                self.buyers.insert(place(&event.at), mint.buyer);
                self.bought.insert((mint.place, mint.token));
            }
        }
    }

    /// The buyer of a purchase.
    pub fn buyer(&self, purchase: &Position) -> Option<Buyer> {
        self.buyers.get(&place(purchase)).copied()
    }
}

impl Collects {
    /// Whether a mint belongs to a purchase.
    pub fn is_bought(&self, mint: &Position, token: U256) -> bool {
        self.bought.contains(&(place(mint), token))
    }
}

fn place(at: &Position) -> Place {
    (at.block, at.log_index)
}

/// The mints of an event.
fn mints(event: &ChainEvent) -> Vec<Mint> {
    let Fact::Transferred(Transferred { operator, from, to, tokens }) = &event.fact else { return Vec::new() };
    if !from.is_zero() {
        return Vec::new();
    }
    let mint = |&(token, quantity): &(U256, U256)| Mint {
        place: place(&event.at),
        collection: event.emitter,
        token,
        operator: *operator,
        buyer: Buyer { account: *to, quantity },
    };
    tokens.iter().map(mint).collect()
}
