//! Moving a moment: a copy in another collection, and the old one points to it and sells no more, in one transaction.

use alloy::primitives::{Address, B256, Bytes, U256};

use super::{
    permission::Permission,
    publishing::encode,
    sale::{CurrentSale, Strategy},
};
use crate::{
    chain::{
        chains::ChainAddresses,
        contracts::native::{Creator1155, CreatorFactory::RoyaltyConfiguration},
        node::{Node, NodeError},
    },
    model::{Call, MovingMoment, OPEN_EDITION, SaleTerms},
};

/// A moment that is there to be moved, as the chain has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movable {
    /// Id of the copy: the next token of the other collection.
    pub copy: U256,
    /// Most tokens of the copy: those that aren't minted yet, so that there are no more altogether than there could be.
    pub left: U256,
    /// Its sales, the one in force first.
    pub sales: [Option<CurrentSale>; 3],
}

/// A moment or why it can't be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each plan of a batch, on the stack")]
pub enum Found {
    /// It can.
    Movable(Movable),
    /// Its URI is another one: somebody moved it, or changed its metadata.
    Changed,
    /// The other collection isn't there.
    NoNextToken,
}

impl Movable {
    /// Reads it, as of the block with this hash or the newest one. Five concurrent calls.
    pub async fn find(
        node: &Node,
        addresses: &ChainAddresses,
        moving: &MovingMoment,
        block: Option<B256>,
    ) -> Result<Found, NodeError> {
        let (collection, token) = (moving.collection.into(), moving.token.into());
        let info = Creator1155::getTokenInfoCall { tokenId: token };
        let next = Creator1155::nextTokenIdCall {};
        let (info, copy, sales) = tokio::try_join!(
            node.read_at(block, collection, &info),
            node.read_at(block, moving.to.into(), &next),
            CurrentSale::each(node, addresses, (collection, token), block),
        )?;
        let Some(copy) = copy else { return Ok(Found::NoNextToken) };
        Ok(match info {
            Some(info) if info.uri == moving.uri => {
                Found::Movable(Self { copy, left: left(info.maxSupply, info.totalMinted), sales })
            }
            _ => Found::Changed,
        })
    }
}

impl MovingMoment {
    /// The calls, given what the chain has.
    pub(super) fn calls(&self, addresses: &ChainAddresses, movable: &Movable) -> Vec<Call> {
        let (old, token): (Address, U256) = (self.collection.into(), self.token.into());
        let sales = || movable.sales.iter().flatten();
        let copy = Creator1155::multicallCall { data: self.copying(addresses, movable) };
        let mut calls = vec![Call::new(self.to.into(), &copy)];
        // A timed sale has no end that could be set; without its minter nobody collects in it.
        let is_timed = |sale: &CurrentSale| sale.strategy == Strategy::Timed;
        let revoke = Permission::Minter.revoke(token, addresses.timed_minter);
        calls.extend(sales().any(is_timed).then(|| Call::new(old, &revoke)));
        let ended = sales().filter(|sale| !is_timed(sale)).map(|sale| {
            let terms = SaleTerms { start: sale.terms.start.min(self.ends), end: self.ends, ..sale.terms };
            encode(&CurrentSale { terms, ..*sale }.storing(addresses, token, ""))
        });
        let mut data: Vec<_> = ended.collect();
        let uri = self.pointing_to(movable.copy.into());
        data.push(encode(&Creator1155::updateTokenURICall { tokenId: token, newURI: uri }));
        calls.push(Call::new(old, &Creator1155::multicallCall { data }));
        calls
    }

    /// The calls with placeholders, whose targets, functions and accounts are those of the real ones.
    pub(super) fn outline(&self, addresses: &ChainAddresses) -> Vec<Call> {
        self.calls(addresses, &Movable { copy: U256::ONE, left: U256::ONE, sales: [None; 3] })
    }

    fn copying(&self, addresses: &ChainAddresses, Movable { copy, left, sales }: &Movable) -> Vec<Bytes> {
        let copy = *copy;
        let mut actions = vec![
            encode(&Creator1155::assumeLastTokenIdMatchesCall { lastTokenId: copy.saturating_sub(U256::ONE) }),
            encode(&Creator1155::setupNewTokenWithCreateReferralCall {
                newURI: self.copy_uri.clone(),
                maxSupply: *left,
                createReferral: self.create_referral.into(),
            }),
        ];
        let grant = |admin| encode(&Permission::Admin.grant(copy, admin));
        actions.extend(self.admins.iter().map(|admin| grant((*admin).into())));
        if let Some(sale) = sales.iter().flatten().next() {
            let minter = sale.strategy.minter(addresses);
            actions.push(encode(&Permission::Minter.grant(copy, minter)));
            actions.push(encode(&sale.storing(addresses, copy, &self.to_name)));
        }
        actions.push(encode(&Creator1155::updateRoyaltiesForTokenCall {
            tokenId: copy,
            newConfiguration: RoyaltyConfiguration {
                royaltyMintSchedule: 0,
                royaltyBPS: self.royalty.bps,
                royaltyRecipient: self.royalty.recipient.into(),
            },
        }));
        actions
    }
}

/// Tokens that may still be minted.
fn left(most: U256, minted: U256) -> U256 {
    if most >= U256::from(OPEN_EDITION) { most } else { most.saturating_sub(minted) }
}

#[cfg(test)]
mod tests {
    use alloy::sol_types::SolCall;

    use super::*;
    use crate::{
        chain::chains::Chains,
        model::{ChainId, Royalty},
    };

    fn moving() -> MovingMoment {
        MovingMoment {
            chain: ChainId(8453),
            collection: Address::repeat_byte(1).into(),
            token: U256::from(3).into(),
            uri: "ipfs://bafy/1.json".to_owned(),
            to: Address::repeat_byte(2).into(),
            to_name: "There".to_owned(),
            copy_uri: "ipfs://bafy/1.json".to_owned(),
            admins: vec![Address::repeat_byte(4).into()],
            royalty: Royalty { bps: 500, recipient: Address::repeat_byte(5).into() },
            create_referral: Address::ZERO.into(),
            ends: 1_000,
        }
    }

    fn sale(strategy: Strategy, start: u64) -> CurrentSale {
        CurrentSale {
            strategy,
            terms: SaleTerms { start, end: u64::MAX, max_per_address: 2 },
            price: U256::from(7),
            funds_recipient: Address::repeat_byte(6),
        }
    }

    #[test]
    fn old_sale_ends_and_the_copy_has_the_sale_that_was() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let addresses = &chains.get(ChainId(8453)).unwrap().addresses;
        let of = |call: &Call| Creator1155::multicallCall::abi_decode(&call.data).unwrap().data;
        for start in [0, 5_000] {
            let movable = Movable {
                copy: U256::from(9),
                left: U256::from(4),
                sales: [None, Some(sale(Strategy::FixedPrice, start)), None],
            };
            let calls = moving().calls(addresses, &movable);
            let [copied, pointed] = calls.as_slice() else { panic!("{calls:?}") };
            assert_eq!([copied.target, pointed.target], [2, 1].map(Address::repeat_byte));
            let set = sale(Strategy::FixedPrice, start);
            assert!(of(copied).contains(&encode(&set.storing(addresses, U256::from(9), ""))));
            let terms = SaleTerms { start: start.min(1_000), end: 1_000, max_per_address: 2 };
            let [ended, uri]: [Bytes; 2] = of(pointed).try_into().unwrap();
            assert_eq!(ended, encode(&CurrentSale { terms, ..set }.storing(addresses, U256::from(3), "")));
            let uri = Creator1155::updateTokenURICall::abi_decode(&uri).unwrap().newURI;
            let there = Address::repeat_byte(2);
            assert_eq!(uri, format!("ipfs://bafy/1.json#moved=eip155:8453/erc1155:{there:#x}/9"));
        }
    }

    #[test]
    fn minter_of_a_timed_sale_is_revoked_since_the_sale_has_no_end() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let addresses = &chains.get(ChainId(8453)).unwrap().addresses;
        let sales = [None, None, Some(sale(Strategy::Timed, 0))];
        let calls = moving().calls(addresses, &Movable { copy: U256::ONE, left: U256::ONE, sales });
        let revoke = Permission::Minter.revoke(U256::from(3), addresses.timed_minter);
        assert_eq!(calls[1], Call::new(Address::repeat_byte(1), &revoke));
    }

    #[test]
    fn copy_has_what_is_left_of_an_edition() {
        let of = |most: u64, minted: u64| left(U256::from(most), U256::from(minted));
        assert_eq!(of(10, 4), U256::from(6));
        assert_eq!(of(10, 10), U256::ZERO);
        assert_eq!(of(OPEN_EDITION, 4), U256::from(OPEN_EDITION));
    }
}
