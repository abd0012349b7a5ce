//! Which transfers are collects: a purchase says of itself which token was bought, the transfer before it who got it.

use std::collections::{HashMap, HashSet};

use alloy::primitives::{Address, B256, U256};

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
    transaction: B256,
    collection: Address,
    token: U256,
    operator: Address,
    buyer: Buyer,
}

impl Collects {
    /// The collects among events, which are in the order of the chain and of whole transactions.
    pub fn among(events: &[ChainEvent]) -> Self {
        let mut collects = Self::default();
        let mut mints: Vec<Mint> = Vec::new();
        for ChainEvent { emitter, at, fact, .. } in events {
            mints.retain(|mint| mint.transaction == at.transaction);
            match fact {
                Fact::Transferred { operator, from, to, tokens } if from.is_zero() => {
                    let mint = |&(token, quantity): &(U256, U256)| Mint {
                        place: place(at),
                        transaction: at.transaction,
                        collection: *emitter,
                        token,
                        operator: *operator,
                        buyer: Buyer { account: *to, quantity },
                    };
                    mints.extend(tokens.iter().map(mint));
                }
                Fact::Purchased(bought) => {
                    let is_meant = |mint: &Mint| {
                        (mint.collection, mint.token) == (bought.collection, bought.token)
                            // A seller that doesn't say how many minted them itself.
                            && bought.quantity.map_or(mint.operator == bought.seller, |it| it == mint.buyer.quantity)
                    };
                    if let Some(index) = mints.iter().rposition(is_meant) {
                        let mint = mints.remove(index);
                        collects.transfers.insert(mint.place);
                        collects.buyers.insert(place(at), mint.buyer);
                    }
                }
                _ => {}
            }
        }
        collects
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
