//! The local stack: the whole service on one machine, made from `template.yaml`.
#![warn(missing_docs)]

pub mod api_gateway;
pub mod chains;
pub mod cloud;
pub mod containers;
pub mod contracts;
pub mod database;
pub mod demo;
pub mod functions;
mod gateway;
pub mod governor;
pub mod mail;
mod node;
pub mod paths;
pub mod process;
pub mod recorder;
pub mod roles;
pub mod stack;
pub mod workshop;

/// What goes wrong here ends the command, with one line that says what and what to do.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
