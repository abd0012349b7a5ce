//! Calls that create collections, tokens and sales. Direct publishing and governance proposals share them.

use alloy::{
    primitives::{Address, Bytes, U256, aliases::U96, uint},
    sol_types::SolCall,
};

use super::permission::Permission;
use crate::{
    chain::{
        chains::ChainAddresses,
        contracts::native::{
            Creator1155,
            CreatorFactory::{
                RoyaltyConfiguration, createContractCall, createContractDeterministicCall,
                getOrCreateContractDeterministicCall,
            },
            Erc20Minter, FixedPriceMinter, TimedMinter,
        },
    },
    model::{Call, MetadataUri, NewMoment, NewTokens, OwnCollection, RoyaltyBps, Sale, SaleTerms},
};

/// Seconds that a timed sale goes on once its market can open: a day, as the protocol's own tools set it.
const MARKET_COUNTDOWN: u64 = 24 * 60 * 60;

/// Proceeds that open a timed sale's market: 0.0000111 ETH of each of 1111 collects.
const MINIMUM_MARKET_ETH: U256 = uint!(12_332_100_000_000_000_U256);

/// Accounts involved in publishing.
#[derive(Clone, Copy, Debug)]
pub struct Publisher<'a> {
    /// Contracts of the chain.
    pub addresses: &'a ChainAddresses,
    /// Gets admin permission, the tokens minted at once and, by default, the proceeds.
    pub account: Address,
    /// Acts for the account later and gets admin permission too; may be the same.
    pub operator: Address,
    /// Split that receives proceeds and royalties.
    pub split: Option<Address>,
}

impl Publisher<'_> {
    /// The actions that create moments, in the order that the protocol requires. `first` is the first moment's id; if
    /// another token takes it before, the actions fail. `collection_name` names the markets of timed sales.
    pub fn publish(&self, first: U256, collection_name: &str, moments: &[NewMoment]) -> Vec<Bytes> {
        let ids = std::iter::successors(Some(first), |id| Some(id.saturating_add(U256::ONE)));
        ids.zip(moments).flat_map(|(id, moment)| self.publish_one(id, collection_name, moment)).collect()
    }

    /// The factory call that creates a collection with its first moments.
    /// Its royalty is that of the first one, or `royalty` without any.
    pub fn create_collection(
        &self,
        name: &str,
        uri: &MetadataUri,
        moments: &[NewMoment],
        royalty: RoyaltyBps,
    ) -> createContractCall {
        let mut actions = self.let_in(U256::ZERO);
        actions.extend(self.publish(U256::ONE, name, moments));
        createContractCall {
            newContractURI: uri.to_string(),
            name: name.to_owned(),
            defaultRoyaltyConfiguration: self.royalties(moments.first(), royalty),
            defaultAdmin: self.account,
            setupActions: actions,
        }
    }

    /// Like [`Publisher::create_collection`], at an address known in advance that only the same caller can take.
    pub fn create_collection_deterministically(
        &self,
        name: &str,
        uri: &MetadataUri,
        moments: &[NewMoment],
    ) -> createContractDeterministicCall {
        let createContractCall { newContractURI, name, defaultRoyaltyConfiguration, defaultAdmin, setupActions } =
            self.create_collection(name, uri, moments, RoyaltyBps::default());
        createContractDeterministicCall {
            newContractURI,
            name,
            defaultRoyaltyConfiguration,
            defaultAdmin,
            setupActions,
        }
    }

    /// The call that creates an artist's own collection at this address, unless it is there.
    pub fn create_own_collection(
        &self,
        address: Address,
        OwnCollection { name, uri }: &OwnCollection,
    ) -> getOrCreateContractDeterministicCall {
        getOrCreateContractDeterministicCall {
            expectedContractAddress: address,
            newContractURI: uri.to_string(),
            name: name.clone(),
            defaultRoyaltyConfiguration: self.royalties(None, RoyaltyBps::default()),
            defaultAdmin: self.account,
            setupActions: Vec::new(),
        }
    }

    fn royalties(&self, moment: Option<&NewMoment>, otherwise: RoyaltyBps) -> RoyaltyConfiguration {
        let RoyaltyBps(bps) = moment.map_or(otherwise, |moment| moment.royalty);
        let recipient = moment.map_or(self.split.unwrap_or(self.account), |moment| self.recipient(moment));
        RoyaltyConfiguration { royaltyMintSchedule: 0, royaltyBPS: bps, royaltyRecipient: recipient }
    }

    fn publish_one(&self, id: U256, collection_name: &str, moment: &NewMoment) -> Vec<Bytes> {
        let minter = minter(self.addresses, &moment.sale);
        let set_sale = set_sale(id, &moment.sale, self.recipient(moment), collection_name);
        let mut actions = vec![
            encode(&Creator1155::assumeLastTokenIdMatchesCall { lastTokenId: id.saturating_sub(U256::ONE) }),
            encode(&Creator1155::setupNewTokenWithCreateReferralCall {
                newURI: moment.uri.to_string(),
                maxSupply: U256::from(moment.max_supply),
                createReferral: moment.create_referral.into(),
            }),
        ];
        // During collection creation only the factory is admin, so access is granted explicitly.
        actions.extend(self.let_in(id));
        actions.extend([
            grant(id, minter, Permission::Minter),
            encode(&Creator1155::callSaleCall { tokenId: id, salesConfig: minter, data: set_sale }),
            encode(&Creator1155::updateRoyaltiesForTokenCall {
                tokenId: id,
                newConfiguration: self.royalties(Some(moment), moment.royalty),
            }),
        ]);
        if moment.mint_to_creator > 0 {
            actions.push(encode(&Creator1155::adminMintCall {
                recipient: self.account,
                tokenId: id,
                quantity: U256::from(moment.mint_to_creator),
                data: Bytes::new(),
            }));
        }
        actions
    }

    /// Grants the account and its operator admin permission on a token, or with id 0 on the collection.
    fn let_in(&self, id: U256) -> Vec<Bytes> {
        let mut admins = vec![self.account, self.operator];
        admins.dedup();
        admins.into_iter().map(|admin| grant(id, admin, Permission::Admin)).collect()
    }

    fn recipient(&self, moment: &NewMoment) -> Address {
        self.split.or(moment.payout_recipient.map(Into::into)).unwrap_or(self.account)
    }
}

/// The collection in which an account's calls create tokens, and the id of its last token that they rest on.
pub fn expected_token(calls: &[Call]) -> Option<(Address, U256)> {
    calls.iter().find_map(|call| {
        let actions = Creator1155::multicallCall::abi_decode(&call.data).ok()?.data;
        let expected =
            actions.iter().find_map(|action| Creator1155::assumeLastTokenIdMatchesCall::abi_decode(action).ok())?;
        Some((call.target, expected.lastTokenId))
    })
}

impl NewTokens {
    /// Id of the first one, by what the collection says its next token is: nothing before the calls create it. `None` where
    /// it isn't there and won't be.
    pub fn first(&self, addresses: &ChainAddresses, next_token: Option<U256>) -> Option<U256> {
        let is_created = || self.before.iter().any(|call| call.target == addresses.factory);
        next_token.or_else(|| is_created().then_some(U256::ONE))
    }

    /// The calls, given the id of the first one.
    pub(super) fn calls(&self, addresses: &ChainAddresses, first: U256) -> Vec<Call> {
        let (account, operator, split) = (self.account.into(), self.operator.into(), self.split.map(Into::into));
        let publisher = Publisher { addresses, account, operator, split };
        let data = publisher.publish(first, &self.collection_name, &self.moments);
        let mut calls = self.before.clone();
        calls.push(Call::new(self.collection.into(), &Creator1155::multicallCall { data }));
        calls
    }
}

/// The sale strategy's contract.
pub fn minter(addresses: &ChainAddresses, sale: &Sale) -> Address {
    match sale {
        Sale::FixedPrice { .. } => addresses.fixed_price_minter,
        Sale::Erc20 { .. } => addresses.erc20_minter,
        Sale::Timed { .. } => addresses.timed_minter,
    }
}

/// The call that sets a sale, always with all of its fields. `collection_name` names the market of a timed sale.
pub fn set_sale(id: U256, sale: &Sale, recipient: Address, collection_name: &str) -> Bytes {
    match sale {
        Sale::FixedPrice { terms: SaleTerms { start, end, max_per_address }, price } => {
            encode(&FixedPriceMinter::setSaleCall {
                tokenId: id,
                salesConfig: FixedPriceMinter::SalesConfig {
                    saleStart: *start,
                    saleEnd: *end,
                    maxTokensPerAddress: *max_per_address,
                    pricePerToken: U96::saturating_from(price.0),
                    fundsRecipient: recipient,
                },
            })
        }
        Sale::Erc20 { terms: SaleTerms { start, end, max_per_address }, price, currency } => {
            encode(&Erc20Minter::setSaleCall {
                tokenId: id,
                salesConfig: Erc20Minter::SalesConfig {
                    saleStart: *start,
                    saleEnd: *end,
                    maxTokensPerAddress: *max_per_address,
                    pricePerToken: price.0,
                    fundsRecipient: recipient,
                    currency: (*currency).into(),
                },
            })
        }
        Sale::Timed { start } => encode(&TimedMinter::setSaleV2Call {
            tokenId: id,
            salesConfig: TimedMinter::SalesConfigV2 {
                saleStart: *start,
                marketCountdown: MARKET_COUNTDOWN,
                minimumMarketEth: MINIMUM_MARKET_ETH,
                name: collection_name.to_owned(),
                symbol: market_symbol(collection_name),
            },
        }),
    }
}

/// The first four consonants and digits of the name, without any its first four letters, without these `MMNT`.
fn market_symbol(name: &str) -> String {
    let plain = || name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase());
    let consonants: String = plain().filter(|letter| !"AEIOU".contains(*letter)).take(4).collect();
    let letters: String = plain().take(4).collect();
    let chosen = [consonants, letters].into_iter().find(|symbol| !symbol.is_empty());
    format!("${}", chosen.unwrap_or_else(|| "MMNT".to_owned()))
}

fn grant(id: U256, to: Address, permission: Permission) -> Bytes {
    encode(&permission.grant(id, to))
}

/// A call as one of several that a contract makes in itself.
pub(super) fn encode(call: &impl SolCall) -> Bytes {
    call.abi_encode().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn market_symbols_follow_the_protocols_tools() {
        for (name, symbol) in [
            ("First Light", "$FRST"),
            ("Tide Tables 2", "$TDTB"),
            ("Aeiou", "$AEIO"),
            ("夜明け", "$MMNT"),
            ("", "$MMNT"),
        ] {
            assert_eq!(market_symbol(name), symbol, "{name}");
        }
    }
}
