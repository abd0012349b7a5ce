//! Planning a write before it is queued: whether it is allowed, the gas that it may use, the money to reserve.

use alloy::primitives::U256;

use super::{
    cap::{fitted, gas_cap, suffices, without_margin},
    data_fee::data_fee,
    error::PlanError,
    packing::{Load, MAX_TRANSACTION_BYTES, Operation},
    policy::{Policy, PolicyError},
    simulate::{simulate, simulate_wealthy},
};
use crate::{
    chain::{
        chains::Chain,
        node::{Node, NodeError},
        protocol::{binding::Binding, splits},
        wallet::{EmbeddedWallet, OperatorAccount},
    },
    model::{Address, ArtistId, Call, MarketFees, Plan},
    store::artist::CallerState,
};

/// Most bytes of a write's calls: they have to fit into a transaction, and twice into a row.
const MAX_CALL_BYTES: usize = 100_000;

const PLAN_ATTEMPTS: u32 = 5;

/// Bytes that signature, fees, and both accounts' calls add to a write's calls.
const WRAPPER: usize = 1_500;

/// A write that would succeed now. Nothing is reserved for it yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What to call.
    pub plan: Plan,
    /// Most gas that the calls may use.
    pub gas: u64,
    /// Gas limit of a transaction with this write alone.
    pub gas_limit: u64,
    /// Most that it costs in such a transaction, in wei.
    pub reserve: u64,
}

/// Plans writes to one chain.
#[derive(Clone)]
pub struct Planner {
    chain: Chain,
    node: Node,
    operator: OperatorAccount,
    policy: Policy,
}

impl Planner {
    /// A planner for a chain.
    pub fn new(chain: Chain, node: Node, operator: OperatorAccount, policy: Policy) -> Self {
        Self { chain, node, operator, policy }
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The chain's nodes.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// An artist's embedded wallet.
    pub fn wallet(&self, artist: ArtistId) -> EmbeddedWallet {
        EmbeddedWallet::new(self.operator.safe, artist)
    }

    /// Plans a write of the caller. Tokens get the ids that are next now, and may get later ones when it is sent. Two
    /// round trips of calls; as many again each time that another token or the same split comes between them. With the
    /// id of `next_token`, which was read just now, the first attempt is one.
    pub async fn plan(
        &self,
        caller: &CallerState,
        plan: Plan,
        mut next_token: Option<U256>,
    ) -> Result<Planned, PlanError> {
        let mut attempts = 1..PLAN_ATTEMPTS;
        loop {
            match self.try_plan(caller, plan.clone(), next_token.take()).await {
                Err(PlanError::Overtaken(_)) if attempts.next().is_some() => {}
                Err(PlanError::Reverts(_)) if self.split_is_there(&plan).await? && attempts.next().is_some() => {}
                planned => return planned,
            }
        }
    }

    async fn try_plan(
        &self,
        caller: &CallerState,
        mut plan: Plan,
        next_token: Option<U256>,
    ) -> Result<Planned, PlanError> {
        let wallet = self.wallet(caller.artist.artist_id);
        if caller.artist.embedded_wallet != wallet.address().into() {
            return Err(PlanError::ForeignWallet(caller.artist.embedded_wallet));
        }
        let addresses = &self.chain.addresses;
        let binding = match next_token {
            Some(next) => Binding::NextToken(next),
            None => {
                let (is_there, binding) =
                    tokio::join!(self.split_is_there(&plan), Binding::read(&self.node, addresses, &plan, None));
                if is_there? && !plan.leave_split_out() {
                    return Err(PlanError::Reverts(splits::IS_THERE.to_owned()));
                }
                binding?
            }
        };
        let calls = plan.calls(addresses, &binding)?;
        let bytes = calls.iter().map(|call| call.data.len()).sum();
        if bytes > MAX_CALL_BYTES {
            return Err(PlanError::TooLong { bytes, most: MAX_CALL_BYTES });
        }
        self.policy.admit_calls(&self.chain, wallet.address(), &calls)?;
        // One that the guard refuses would make all of its batch revert.
        if !Operation::new(wallet.address(), &calls, 0, false).passes_guard(self.operator.safe) {
            let target = calls.first().map(|call| call.target).unwrap_or_default();
            return Err(PolicyError::Function { target, selector: [0; 4] }.into());
        }
        let (simulated, gas, market, l1_fee, is_deployed) = tokio::join!(
            simulate(&self.node, wallet.address(), &calls),
            gas_cap(&self.node, wallet.address(), &calls),
            self.node.market_fees(),
            data_fee(&self.node, &self.chain, bytes + WRAPPER),
            self.is_deployed(&wallet, caller),
        );
        // Its words are better than those of a cap that can't be found.
        simulated?;
        let (gas, market) = (gas?, self.affordable(market?)?);
        let is_deployed = is_deployed?;
        let load = |gas| {
            let load = Load::default().with(&Operation::new(wallet.address(), &calls, gas, true));
            if is_deployed { load } else { load.with(&Operation::deployment(&self.operator, &wallet)) }
        };
        let most = self.policy.max_gas;
        let fitted = fitted(gas, most, |gas| load(gas).gas_limit());
        let refused = || PlanError::Gas { needed: load(gas).gas_limit(), most };
        let used = without_margin(gas);
        let gas = fitted.filter(|&gas| load(gas).fits(most, MAX_TRANSACTION_BYTES)).ok_or_else(refused)?;
        if gas < used && !suffices(&self.node, wallet.address(), &calls, gas).await? {
            return Err(refused());
        }
        let gas_limit = load(gas).gas_limit();
        let fee = market.quote(self.chain.spending.max_fee_per_gas).max_fee_per_gas;
        let cost = (U256::from(gas_limit) * U256::from(fee)).saturating_add(l1_fee?);
        Ok(Planned { plan, gas, gas_limit, reserve: cost.saturating_to() })
    }

    /// Simulates calls of an account with an unlimited balance of the chain's own currency.
    pub async fn simulate_wealthy(&self, account: Address, calls: &[Call]) -> Result<(), PlanError> {
        Ok(simulate_wealthy(&self.node, account.into(), calls).await?)
    }

    /// Whether the chain has the split that the plan creates: another write's may have come to be meanwhile.
    async fn split_is_there(&self, plan: &Plan) -> Result<bool, NodeError> {
        let factory = self.chain.addresses.split_factory;
        match splits::creation(factory, &plan.outline(&self.chain.addresses)) {
            Some(creation) => Ok(splits::find(&self.node, factory, &creation, None).await?.1),
            None => Ok(false),
        }
    }

    async fn is_deployed(&self, wallet: &EmbeddedWallet, caller: &CallerState) -> Result<bool, NodeError> {
        match caller.account {
            Some(account) if account.deployed => Ok(true),
            _ => self.node.has_code(wallet.address()).await,
        }
    }

    fn affordable(&self, market: MarketFees) -> Result<MarketFees, PlanError> {
        let cap = self.chain.spending.max_fee_per_gas;
        if market.base > cap { Err(PlanError::Fee { base: market.base, cap }) } else { Ok(market) }
    }
}
