use alloy::{primitives::Bytes, sol_types::SolCall};
use governance::build_proposal::ProposeArguments;
use shared::{
    chain::{
        contracts::native::{Creator1155, Governor::proposeCall, SplitFactory::createSplitDeterministicCall},
        protocol::{destination::Destination, publishing::Publisher},
        wallet::Call,
    },
    model::NewMoment,
};

/// One or two actions; governors take ten.
pub struct Proposal {
    actions: Vec<Action>,
    description: String,
}

/// A call with its function's signature apart from the arguments, readable for voters.
struct Action {
    call: Call,
    /// Canonical signature of the function.
    signature: &'static str,
}

impl Proposal {
    /// Proposes to publish moments, after their split if it doesn't exist yet.
    pub fn new(
        publisher: &Publisher<'_>,
        split: Option<&createSplitDeterministicCall>,
        destination: Destination<'_>,
        moments: &[NewMoment],
        description: String,
    ) -> Self {
        let addresses = publisher.addresses;
        let mut actions: Vec<_> = split.map(|split| Action::new(addresses.split_factory, split)).into_iter().collect();
        actions.push(match destination {
            Destination::New { name, uri } => {
                Action::new(addresses.factory, &publisher.create_collection_deterministically(name, uri, moments))
            }
            Destination::Existing { contract, next_token, name } => {
                let data = publisher.publish(next_token, &name, moments);
                Action::new(contract, &Creator1155::multicallCall { data })
            }
        });
        Self { actions, description }
    }

    /// Calls of the governor's executor once the proposal has passed.
    pub fn calls(&self) -> Vec<Call> {
        self.actions.iter().map(|action| action.call.clone()).collect()
    }

    /// The call that makes the proposal.
    pub fn propose(&self) -> proposeCall {
        proposeCall {
            targets: self.actions.iter().map(|action| action.call.target).collect(),
            values: self.actions.iter().map(|action| action.call.value).collect(),
            signatures: self.actions.iter().map(|action| action.signature.to_owned()).collect(),
            calldatas: self.actions.iter().map(Action::arguments).collect(),
            description: self.description.clone(),
        }
    }

    /// Its arguments as JSON.
    pub fn arguments(&self) -> ProposeArguments<'_> {
        (
            self.actions.iter().map(|action| action.call.target.into()).collect(),
            self.actions.iter().map(|action| action.call.value.to_string()).collect(),
            self.actions.iter().map(|action| action.signature).collect(),
            self.actions.iter().map(Action::arguments).collect(),
            &self.description,
        )
    }

    /// Minimal gas of `propose`: the governor stores every word of the arguments.
    pub fn storage_gas(&self) -> u64 {
        /// A zero word that is set: <https://eips.ethereum.org/EIPS/eip-2929>
        const NEW_WORD: u64 = 22_100;
        let is_kept = |word: &[u8]| word.iter().any(|byte| *byte != 0);
        let kept = |action: &Action| action.arguments().chunks(32).filter(|word| is_kept(word)).count();
        NEW_WORD.saturating_mul(self.actions.iter().map(kept).sum::<usize>() as u64)
    }
}

impl Action {
    fn new<C: SolCall>(target: alloy::primitives::Address, function: &C) -> Self {
        Self { call: Call::new(target, function), signature: C::SIGNATURE }
    }

    /// The arguments without selector.
    fn arguments(&self) -> Bytes {
        self.call.data.slice(4..)
    }
}
