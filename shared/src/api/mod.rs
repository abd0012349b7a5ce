//! Requests, answers and errors that several endpoints share.

pub mod activity;
pub mod cost;
pub mod error;
pub mod media;
pub mod notice;
pub mod prepare;
pub mod publish;
pub mod read;
pub mod request;
pub mod service_client;
pub mod transact;
pub mod wallet_verifier;
pub mod webhook_message;
