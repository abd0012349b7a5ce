//! What a transaction created, from the logs of its own calls.

use alloy::{primitives::Address, rpc::types::Log, sol_types::SolEvent};
use serde_json::{Map, Value, json};

use crate::{
    chain::{
        chains::Chain,
        contracts::native::{Creator1155, CreatorFactory::SetupNewContract, SplitFactory::SplitCreated_0},
    },
    model::{self, Creation, TokenId},
};

/// The fields that name it in the transaction's answer; empty where the logs don't tell.
pub fn created(chain: &Chain, creation: Creation, logs: &[Log]) -> Map<String, Value> {
    let fields = match creation {
        Creation::Nothing => None,
        Creation::Collection => collection(chain, logs).map(|address| json!({"contractAddress": address})),
        Creation::Moment => tokens(logs).and_then(|(address, ids)| {
            let token = ids.first()?;
            Some(json!({"contractAddress": address, "tokenId": token}))
        }),
        Creation::Moments => tokens(logs).map(|(address, ids)| json!({"contractAddress": address, "tokenIds": ids})),
        Creation::Split => split(chain, logs).map(|address| json!({"splitAddress": address})),
    };
    match fields {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn collection(chain: &Chain, logs: &[Log]) -> Option<model::Address> {
    let mut created = events::<SetupNewContract>(logs).filter(|(emitter, _)| *emitter == chain.addresses.factory);
    Some(created.next()?.1.newContract.into())
}

fn split(chain: &Chain, logs: &[Log]) -> Option<model::Address> {
    let mut created = events::<SplitCreated_0>(logs).filter(|(emitter, _)| *emitter == chain.addresses.split_factory);
    Some(created.next()?.1.split.into())
}

/// The collection and ids of the created tokens: all of a transaction are in one collection, in order.
fn tokens(logs: &[Log]) -> Option<(model::Address, Vec<TokenId>)> {
    let created: Vec<_> =
        events::<Creator1155::SetupNewToken>(logs).filter(|(_, token)| !token.tokenId.is_zero()).collect();
    let collection = created.first()?.0;
    Some((collection.into(), created.into_iter().map(|(_, token)| token.tokenId.into()).collect()))
}

fn events<E: SolEvent>(logs: &[Log]) -> impl Iterator<Item = (Address, E)> {
    let logs = logs.iter().filter(|log| log.topic0() == Some(&E::SIGNATURE_HASH));
    logs.filter_map(|log| Some((log.address(), E::decode_log(&log.inner).ok()?.data)))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Log as Event, U256};

    use super::*;
    use crate::{chain::chains::Chains, model::ChainId};

    fn log(address: Address, event: &impl SolEvent) -> Log {
        Log { inner: Event { address, data: event.encode_log_data() }, ..Log::default() }
    }

    fn token(collection: Address, id: u64) -> Log {
        let event = Creator1155::SetupNewToken {
            tokenId: U256::from(id),
            sender: Address::ZERO,
            newURI: String::new(),
            maxSupply: U256::ONE,
        };
        log(collection, &event)
    }

    #[test]
    fn created_things_are_named_as_their_answers_do() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let collection = Address::repeat_byte(7);
        let logs = [token(collection, 0), token(collection, 4), token(collection, 5)];
        let of = |creation| Value::Object(created(chain, creation, &logs));
        let address = model::Address::from(collection).to_string();
        assert_eq!(of(Creation::Moment), json!({"contractAddress": address, "tokenId": "4"}));
        assert_eq!(of(Creation::Moments), json!({"contractAddress": address, "tokenIds": ["4", "5"]}));
        assert_eq!(of(Creation::Nothing), json!({}));
        assert_eq!(of(Creation::Collection), json!({}), "the factory logged none");
        assert_eq!(of(Creation::Split), json!({}), "the factory logged none");
    }
}
