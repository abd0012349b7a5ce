//! What holds of the sources, the template and the documents themselves; nothing here needs a stack.

mod any_checkout;
mod asvs;
mod checkout;
mod configuration;
mod data_model;
mod deployment;
mod documents;
mod dynamic;
mod edge;
mod floors;
mod inventory;
mod limits;
mod pages;
mod permissions;
mod places;
mod privacy;
mod shown;
mod stacks;
mod tables;
mod taken_over_role;
mod takeover;
mod thieves;
