//! What every function of the service shares. Modules sit on floors and an import only points down:
//! `writing` stands on `auth` and `chain`, these two on `store`, `http`, `kms`, `mail`, `config` and `clock`, and all of them on
//! `model`.
#![warn(missing_docs)]

pub mod auth;
pub mod chain;
pub mod clock;
pub mod config;
pub mod http;
pub mod kms;
pub mod mail;
pub mod model;
pub mod profile;
pub mod publication;
pub mod reading;
pub mod store;
pub mod telemetry;
pub mod writing;
