//! Indexing of local chains with real transactions.

mod admins;
mod adversary;
mod bounds;
mod chains;
mod commit;
mod creators;
mod decisions;
mod documents;
mod floods;
mod lists;
mod naive;
mod names;
mod nodes;
mod processes;
mod protocols;
mod reorganisations;
mod support;
mod units;
mod viewed;
mod withholding;
