//! Checks that hold for every protocol's table.

use std::{collections::BTreeSet, fs, path::Path};

use alloy::{
    primitives::{Address, B256, Log},
    sol_types::{SolEvent, SolEventInterface},
};
use shared::{
    chain::{
        Chain, Chains,
        contracts::{
            native::{
                CommentsProtocol::CommentsProtocolEvents, Creator1155::Creator1155Events,
                CreatorFactory::CreatorFactoryEvents, Erc20Minter::Erc20MinterEvents,
                FixedPriceMinter::FixedPriceMinterEvents, MerkleMinter::MerkleMinterEvents,
                MintCommenter::MintCommenterEvents, ProtocolRewards::ProtocolRewardsEvents,
                SplitFactory::SplitFactoryEvents, TimedMinter::TimedMinterEvents,
            },
            third_party::{
                Edition::EditionEvents, EditionCreator::EditionCreatorEvents, EditionMetadata::EditionMetadataEvents,
                RegistryCollection::RegistryCollectionEvents, RegistryController::RegistryControllerEvents,
                RegistryFactory::RegistryFactoryEvents,
            },
        },
    },
    model::{ChainId, Protocol},
};

use super::{reader::ProtocolReader, readers};
use crate::event::Fact;

/// Events of the bindings that no table has, by signature, each with the reason.
const NOT_INDEXED: [(&str, &str); 1] = [(
    "RewardsDeposit(address,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256)",
    "asked for where a block has a purchase: most of them are others'",
)];

/// A chain where every protocol has contracts.
pub fn chain() -> Chain {
    let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
    chains.get(ChainId(8453)).unwrap().clone()
}

pub fn reader(protocol: Protocol) -> ProtocolReader {
    readers(&chain()).into_iter().find(|reader| reader.protocol() == protocol).unwrap()
}

/// An event of a table and its decoded form.
pub struct Sample {
    log: Log,
    fact: Fact,
}

pub fn sample<E: SolEvent>(emitter: Address, event: E, fact: Fact) -> Sample {
    Sample { log: Log { address: emitter, data: event.encode_log_data() }, fact }
}

/// Asserts that each row of a table has samples, and that they are decoded from their emitters alone.
pub fn assert_table(protocol: Protocol, samples: &[Sample]) {
    let reader = reader(protocol);
    let topics: BTreeSet<B256> = reader.topics().collect();
    assert_eq!(topics.len(), reader.topics().count(), "a topic has two rows");
    let sampled: BTreeSet<B256> = samples.iter().map(|sample| sample.log.topics()[0]).collect();
    let unpaired: Vec<&B256> = topics.symmetric_difference(&sampled).collect();
    assert_eq!(unpaired, Vec::<&B256>::new(), "rows without a sample, or samples without a row");
    for Sample { log, fact } in samples {
        assert_eq!(reader.read(log).as_ref(), Some(fact), "{} from {}", log.topics()[0], log.address);
        let is_contract = reader.contracts().contains(&log.address);
        let others = reader.contracts().iter().copied().chain([Address::repeat_byte(0xcc)]);
        for other in others.filter(|other| *other != log.address) {
            let fact = reader.read(&Log { address: other, ..log.clone() });
            let is_collection = !reader.contracts().contains(&other);
            // Several contracts may emit the same event, such as the minters, and those that had a role before.
            let of_role = |sample: &Sample| sample.is_of(current(other), log);
            let may_emit = if is_contract { samples.iter().any(of_role) } else { is_collection };
            assert_eq!(fact.is_some(), may_emit, "{} from {other}", log.topics()[0]);
        }
    }
}

/// The contract that has the role now which a former one had.
fn current(contract: Address) -> Address {
    let addresses = chain().addresses;
    let former = addresses.former.iter().find(|former| former.address == contract);
    former.map_or(contract, |former| addresses.all(former.role)[0])
}

impl Sample {
    fn is_of(&self, emitter: Address, log: &Log) -> bool {
        self.log.address == emitter && self.log.topics()[0] == log.topics()[0]
    }
}

/// The events of one interface of the bindings: name of the interface, topics, signatures.
type Declared = (&'static str, &'static [[u8; 32]], &'static [&'static str]);

macro_rules! declared {
    ($($events:ty),+ $(,)?) => { vec![$((<$events>::NAME, <$events>::SELECTORS, <$events>::SIGNATURES)),+] };
}

fn bindings() -> [(Protocol, Vec<Declared>); 3] {
    let native = declared![
        CreatorFactoryEvents,
        Creator1155Events,
        MintCommenterEvents,
        FixedPriceMinterEvents,
        Erc20MinterEvents,
        TimedMinterEvents,
        MerkleMinterEvents,
        SplitFactoryEvents,
        CommentsProtocolEvents,
        ProtocolRewardsEvents,
    ];
    let registry = declared![RegistryFactoryEvents, RegistryCollectionEvents, RegistryControllerEvents];
    let editions = declared![EditionCreatorEvents, EditionEvents, EditionMetadataEvents];
    [(Protocol::Native, native), (Protocol::Registry, registry), (Protocol::Editions, editions)]
}

#[test]
fn every_event_of_the_bindings_is_in_its_protocols_table() {
    for (protocol, interfaces) in bindings() {
        let topics: BTreeSet<B256> = reader(protocol).topics().collect();
        for (name, selectors, signatures) in interfaces {
            for (selector, signature) in selectors.iter().zip(signatures) {
                let is_excepted = NOT_INDEXED.iter().any(|(excepted, _)| excepted == signature);
                assert_ne!(topics.contains(&B256::from(*selector)), is_excepted, "{name}: {signature}");
            }
        }
    }
}

/// Interfaces are found in the bindings' source, so that a new one can't be left out of [`bindings`].
#[test]
fn every_interface_with_events_is_checked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/src/chain/contracts");
    let mut declared = BTreeSet::new();
    // Accounts' own events aren't indexed.
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| !file.ends_with("safe.rs")) {
        let mut interface = String::new();
        for line in fs::read_to_string(file).unwrap().lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["interface", name, ..] => interface = format!("{name}Events"),
                ["event", ..] => _ = declared.insert(interface.clone()),
                _ => {}
            }
        }
    }
    let bindings = bindings();
    let checked = bindings.iter().flat_map(|(_, interfaces)| interfaces).map(|(name, ..)| (*name).to_owned());
    assert_eq!(checked.collect::<BTreeSet<_>>(), declared);
}
