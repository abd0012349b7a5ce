//! Attacks, a file for each: what somebody tries who has stolen, forged or guessed something, and what stops them.

mod code_guessing;
mod ended_token;
mod fake_collection;
mod raised_price;
mod repeated_withdrawal;
mod stolen_key;
mod stolen_token;
