//! Attacks, a file for each: what somebody tries who has stolen, forged or guessed something, and what stops them.

mod altered_message;
mod claim_links;
mod code_guessing;
mod ended_token;
mod everybody_at_once;
mod fake_collection;
mod forged_token;
mod held_events;
mod last_way_in;
mod locked_out;
mod look_alikes;
mod mail_flood;
mod many_networks;
mod noisy_network;
mod others_things;
mod page_session;
mod planted_passkey;
mod raised_price;
mod repeated_withdrawal;
mod secrets_in_logs;
mod shared_gas;
mod stolen_key;
mod stolen_tables;
mod stolen_token;
mod taken_over_function;
