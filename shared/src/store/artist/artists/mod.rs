//! Artists: profile, sign-in address, wallets and username. Rows: docs/data-model.md, Artists.

mod artist;
mod attributions;
mod contact;
mod erasure;
mod hidden;
mod introductions;
mod outbox;
mod own_collections;
mod profile;
mod profiles;
mod reservations;
mod usernames;
mod wallets;
mod withholding;

pub use self::{
    artist::{Artist, Artists},
    attributions::{AcceptanceRefusal, MAX_ACCEPTED_SENDERS, NewAttribution},
    contact::{ChangedBy, Contact, ContactRefusal, EmailOwner, NextEmail},
    introductions::Introduction,
    outbox::Outbox,
    profile::{Profile, ProfileChange, ProfileRefusal},
    usernames::{HELD_NAMES, NAME_HELD_FOR},
    wallets::{MAX_WALLETS, OldWallet, PAYOUT_DELAY, WalletOwner, WalletRefusal},
};
pub(in crate::store) use self::{
    artist::{profile_key, wallet_key},
    wallets::{ConnectionProof, Departure},
};
