//! Library that every function shares. Modules are layered, and imports only point down: `api` uses `auth` and `chain`;
//! both use `store`; that uses `http`, `mail`, `kms`, `config`, `telemetry`, `clock` and so on; all use `model`.
#![warn(missing_docs)]

// So that derived code finds the library within the library.
extern crate self as shared;

#[cfg(feature = "dynamic")]
use third_party as _;

pub mod api;
pub mod auth;
mod aws;
pub mod bucket;
pub mod chain;
pub mod clock;
pub mod config;
pub mod deadline;
pub mod http;
pub mod kept_documents;
pub mod kms;
pub mod mail;
pub mod model;
pub mod public_web;
pub mod store;
pub mod telemetry;
pub mod vault;
