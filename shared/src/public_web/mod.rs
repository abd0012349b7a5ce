//! What may be fetched, and where something may be sent, for a URL that anyone has chosen.

mod address;
mod download;
mod gateways;

pub use self::{
    address::{PrivateReceivers, PublicResolver, is_public},
    download::{DownloadError, DownloadLimit, Downloader},
    gateways::{Gateways, InvalidGateways},
};
