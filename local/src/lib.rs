//! The local stack: the whole service on one machine, built from `template.yaml`. Functions here fail when a program
//! can't be started, or a service or node refuses a request.
#![warn(missing_docs)]

pub mod alarm;
pub mod api_gateway;
pub mod artists;
pub mod authenticator;
pub mod chains;
pub mod cloud;
pub mod containers;
pub mod contracts;
pub mod database;
pub mod demo;
pub mod desk;
pub mod edge;
pub mod files_host;
pub mod functions;
pub mod gallery;
pub mod governor;
mod http;
mod ipfs_gateway;
pub mod lock;
pub mod mail;
pub mod mailbox;
mod node;
mod objects;
pub mod operator;
pub mod paths;
pub mod patience;
pub mod pinning_service;
pub mod process;
pub mod queue;
pub mod receiver;
pub mod recorder;
pub mod roles;
pub mod secrets;
pub mod stack;
pub mod stack_map;
pub mod test_events;
pub mod traces;
pub mod watch;
pub mod welcome;
pub mod workshop;
pub mod writes;

/// Any error; the command prints it as one line and exits.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
