//! Operator lanes: the service's keys, which own the operator Safe and pay for gas.

use std::str::FromStr;

use alloy::primitives::Address;

use crate::{
    config::{self, ConfigError},
    model::{self, Invalid},
};

/// Addresses of the lanes, each in the place of its key. The zero address is the place of a key out of use.
#[derive(Clone, Debug)]
pub struct Lanes(Vec<Address>);

impl Lanes {
    /// Reads `OPERATOR_LANES`: addresses separated by commas, zero where a lane was removed.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed(config::variables::OPERATOR_LANES)
    }

    /// The addresses of lanes in use, in the configured order.
    pub fn iter(&self) -> impl Iterator<Item = Address> {
        self.0.iter().copied().filter(|lane| !lane.is_zero())
    }

    /// Each lane in use with what is in its place; `None` if there are fewer places than lanes.
    pub(super) fn with<T>(&self, places: Vec<T>) -> Option<Vec<(Address, T)>> {
        let pairs = (places.len() >= self.0.len()).then(|| self.0.iter().copied().zip(places));
        Some(pairs?.filter(|(lane, _)| !lane.is_zero()).collect())
    }
}

impl FromStr for Lanes {
    type Err = Invalid;

    fn from_str(list: &str) -> Result<Self, Self::Err> {
        let lane = |text: &str| text.trim().parse::<model::Address>().map(Into::into);
        list.split(',').map(lane).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_lanes_leave_the_others_their_keys() {
        let (first, third) = (Address::repeat_byte(1), Address::repeat_byte(3));
        let lanes: Lanes = format!("{first},{}, {third}", Address::ZERO).parse().unwrap();
        assert_eq!(lanes.iter().collect::<Vec<_>>(), [first, third]);
        assert_eq!(lanes.with(vec!["a", "b", "c", "d"]), Some(vec![(first, "a"), (third, "c")]));
        assert_eq!(lanes.with(vec!["a", "b"]), None);
        assert!("0x12".parse::<Lanes>().is_err());
    }
}
