//! What a wallet of anybody sends: calls that are tried on the newest block. Nothing is sent or stored.

use std::time::Duration;

use alloy::{primitives, sol_types::SolCall};
use aws_config::SdkConfig;
use serde::Serialize;
use utoipa::ToSchema;

use super::cost::{Cost, cannot_pay, shortfalls};
use crate::{
    auth::client_limit::ClientLimit,
    chain::{
        Chain, ServedChains,
        contracts::native::Erc20,
        node::{Node, NodeError},
        transaction::{PlanError, simulate_with_gas},
        wallet::Call,
    },
    clock,
    config::{self, StartError},
    http::{AllowedChains, ApiError, Request},
    model::{Address, Amount, ChainId, Invalid},
    store::secret::SecretTable,
};

/// Prepares calls for wallets of clients that are limited by their network.
pub struct CallPreparer {
    chains: ServedChains,
    clients: ClientLimit,
}

/// A wallet that will send calls.
#[derive(Clone, Copy)]
pub struct Sender<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// Its nodes.
    pub node: &'a Node,
    /// The wallet.
    pub account: primitives::Address,
}

/// Calls for the wallet, in this order: as `wallet_sendCalls` (EIP-5792) takes them, or as transactions one by one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCalls {
    chain_id: ChainId,
    /// An approval comes first where the currency has one and the wallet's allowance doesn't suffice; a new split's creation,
    /// too.
    #[schema(max_items = 2)]
    calls: Vec<PreparedCall>,
    /// What it costs.
    cost: PreparedCost,
    /// The protocol's fee, where it is paid in another currency.
    #[schema(required = true)]
    fee: Option<PreparedCost>,
    /// Whether the calls succeeded when they were tried on the newest block.
    simulated: bool,
}

/// A call.
#[derive(Debug, Serialize, ToSchema)]
pub struct PreparedCall {
    /// Contract that is called.
    to: Address,
    /// Selector and arguments.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]*$", example = "0x731133e9")]
    data: String,
    /// Wei that go along, in hexadecimal digits as wallets take them.
    #[schema(value_type = String, pattern = "^0x[0-9a-f]+$", example = "0x38d7ea4c68000")]
    value: String,
}

/// An amount of a currency.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreparedCost {
    /// Its symbol.
    #[schema(example = "ETH")]
    currency: &'static str,
    /// In the smallest unit.
    amount: Amount,
    /// In the main unit.
    #[schema(example = "0.001")]
    decimal_amount: String,
}

impl CallPreparer {
    /// Reads `CHAINS`, `RPC_URLS`, `SECRET_TABLE` and `WALLET_READS_PER_CLIENT_MINUTELY`.
    pub async fn from_env(aws: &SdkConfig) -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let most = config::parsed(config::variables::WALLET_READS_PER_CLIENT_MINUTELY)?;
        let clients = ClientLimit::new(SecretTable::from_env(aws)?, "prepare", most, MINUTE);
        Ok(Self { chains: ServedChains::from_env(aws).await?, clients })
    }

    /// Counts a request of the client's network; 429 over its limit. One write.
    pub async fn admit(&self, request: &Request) -> Result<(), ApiError> {
        request.note_limits(&[self.clients.admit(request, clock::now()?).await?]);
        Ok(())
    }

    /// A wallet on a chain that the request names.
    pub fn sender(&self, chain: ChainId, account: Address) -> Result<Sender<'_>, ApiError> {
        let (chain, node) = self.chains.get(chain).map_err(ApiError::internal)?;
        Ok(Sender { chain, node, account: account.into() })
    }
}

impl AllowedChains for CallPreparer {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chains.check(chain)
    }
}

impl Sender<'_> {
    /// Tries calls that cost `cost`, and `fee` in another currency. An approval that the wallet gave before is left out.
    ///
    /// # Errors
    /// 402 where the wallet can't pay; what a write of these calls is refused with.
    pub async fn prepare(self, cost: Cost, fee: Option<Cost>, calls: Vec<Call>) -> Result<PreparedCalls, ApiError> {
        let calls = self.without_needless_approval(calls).await?;
        self.afford([Some(cost), fee].into_iter().flatten()).await?;
        simulate_with_gas(self.node, self.account, &calls).await.map_err(PlanError::from)?;
        Ok(PreparedCalls {
            chain_id: self.chain.id,
            calls: calls.iter().map(Into::into).collect(),
            cost: cost.into(),
            fee: fee.filter(|fee| !fee.amount.is_zero()).map(Into::into),
            simulated: true,
        })
    }

    /// The calls without an approval that the wallet has given already. At most one call to the chain.
    async fn without_needless_approval(self, calls: Vec<Call>) -> Result<Vec<Call>, NodeError> {
        let approved =
            calls.first().and_then(|call| Some((call.target, Erc20::approveCall::abi_decode(&call.data).ok()?)));
        let Some((currency, approve)) = approved else { return Ok(calls) };
        let question = Erc20::allowanceCall { owner: self.account, spender: approve.spender };
        let allowance = self.node.read(currency, &question).await?.unwrap_or_default();
        let needless = usize::from(allowance >= approve.amount);
        Ok(calls.into_iter().skip(needless).collect())
    }

    /// Requires the wallet to have what it costs, one currency per cost (402). One call to the chain each.
    async fn afford(self, costs: impl Iterator<Item = Cost>) -> Result<(), ApiError> {
        let costs: Vec<_> = costs.collect();
        let short = shortfalls(self.node, self.account, &costs).await?;
        match short.is_empty() {
            true => Ok(()),
            false => Err(cannot_pay(&format!("The wallet {}", Address::from(self.account)), &short)),
        }
    }
}

impl From<&Call> for PreparedCall {
    fn from(call: &Call) -> Self {
        Self { to: call.target.into(), data: call.data.to_string(), value: format!("{:#x}", call.value) }
    }
}

impl From<Cost> for PreparedCost {
    fn from(Cost { currency, amount }: Cost) -> Self {
        let decimal_amount = Amount(amount).decimal(currency.decimals.into());
        Self { currency: currency.symbol, amount: Amount(amount), decimal_amount }
    }
}
