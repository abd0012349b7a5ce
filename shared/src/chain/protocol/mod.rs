//! The protocol behind the contracts: permissions, sales, splits, currencies, and the calls that publish.

pub mod admins;
pub mod allow_list;
pub mod binding;
pub mod created;
pub mod currency;
pub mod destination;
mod factory_addresses;
pub mod gift;
pub mod moving;
pub mod permission;
pub mod provenance;
pub mod publishing;
pub mod sale;
mod sale_edit;
pub mod splits;
