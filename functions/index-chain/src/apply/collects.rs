//! Which transfers are collects: a purchase says of itself which token was bought, the transfer before it who got it.

use std::collections::{HashMap, HashSet};

use alloy::primitives::{Address, U256};

use crate::event::{ChainEvent, Fact, Position};

/// Where an event is.
type Place = (u64, u64);

/// The collects among some events.
#[derive(Default)]
pub struct Collects {
    /// Who got how many tokens, by the place of the purchase.
    buyers: HashMap<Place, Buyer>,
    /// The places of the transfers.
    transfers: HashSet<Place>,
}

/// Who got the tokens of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buyer {
    /// The account.
    pub account: Address,
    /// How many.
    pub quantity: U256,
}

/// Tokens that were minted and belong to no purchase so far.
struct Mint {
    place: Place,
    collection: Address,
    token: U256,
    operator: Address,
    buyer: Buyer,
}

impl Collects {
    /// The collects among events, which are in the order of the chain and of whole transactions.
    pub fn among(events: &[ChainEvent]) -> Self {
        let mut collects = Self::default();
        for transaction in events.chunk_by(|one, next| one.at.transaction == next.at.transaction) {
            collects.pair(transaction);
        }
        collects
    }

    /// Finds for each purchase of a transaction the mint before it or, where a contract tells the purchase first, after.
    fn pair(&mut self, transaction: &[ChainEvent]) {
        let mut mints: Vec<Mint> = transaction.iter().flat_map(mints).collect();
        for event in transaction {
            let Fact::Purchased(bought) = &event.fact else { continue };
            let is_meant = |mint: &Mint| {
                (mint.collection, mint.token) == (bought.collection, bought.token)
                    // A seller that doesn't say how many minted them itself.
                    && bought.quantity.map_or(mint.operator == bought.seller, |it| it == mint.buyer.quantity)
            };
            let before = mints.iter().rposition(|mint| mint.place < place(&event.at) && is_meant(mint));
            if let Some(index) = before.or_else(|| mints.iter().position(is_meant)) {
                let mint = mints.remove(index);
                self.transfers.insert(mint.place);
                self.buyers.insert(place(&event.at), mint.buyer);
            }
        }
    }

    /// Who got the tokens of the purchase at this place.
    pub fn buyer(&self, purchase: &Position) -> Option<Buyer> {
        self.buyers.get(&place(purchase)).copied()
    }

    /// Whether the transfer at this place is one of a purchase.
    pub fn has(&self, transfer: &Position) -> bool {
        self.transfers.contains(&place(transfer))
    }
}

fn place(at: &Position) -> Place {
    (at.block, at.log_index)
}

/// The tokens that an event says were minted.
fn mints(event: &ChainEvent) -> Vec<Mint> {
    let Fact::Transferred { operator, from, to, tokens } = &event.fact else { return Vec::new() };
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
