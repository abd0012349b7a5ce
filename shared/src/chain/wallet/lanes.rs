//! Operator lanes: the service's keys that own artists' accounts and pay for gas, and their assignment to artists.

use std::str::FromStr;

use alloy::primitives::Address;

use crate::{
    config::{self, ConfigError},
    model::{self, ArtistId, Invalid},
};

/// Addresses of the lanes.
#[derive(Clone, Debug)]
pub struct Lanes(Vec<Address>);

impl Lanes {
    /// Reads `OPERATOR_LANES`: addresses separated by commas. A lane added at the end moves no artist who has signed
    /// in, since the lane is stored with the artist's wallet.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed("OPERATOR_LANES")
    }

    /// The addresses, in the configured order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Address> {
        self.0.iter().copied()
    }

    /// The lane for an artist who signs in for the first time.
    pub fn assign(&self, artist: ArtistId) -> Address {
        // Parsing guarantees at least one lane.
        self.0[lane_index(artist, self.0.len()).unwrap_or_default()]
    }
}

impl FromStr for Lanes {
    type Err = Invalid;

    fn from_str(list: &str) -> Result<Self, Self::Err> {
        let lane = |text: &str| text.trim().parse::<model::Address>().map(Into::into);
        list.split(',').map(lane).collect::<Result<_, _>>().map(Self)
    }
}

pub(super) fn lane_index(artist: ArtistId, lanes: usize) -> Option<usize> {
    let lanes = u128::try_from(lanes).ok().filter(|&lanes| lanes > 0)?;
    usize::try_from(artist.as_u128() % lanes).ok()
}
