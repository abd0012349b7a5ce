//! `GET /smartwallet`: the balances of an artist's embedded wallet.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use shared::{
    api::read::Site,
    auth::client_limit::ClientLimit,
    chain::{
        Chain, ServedChains,
        node::{Node, NodeError},
        protocol::currency::Currency,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, Amount, ChainId},
    store::{
        artist::{ArtistTable, Artists},
        secret::SecretTable,
    },
};
use wallets::{
    on_ramp::OnRamp,
    read_smart_wallet::{Balance, ReadSmartWalletQuery, ReadSmartWalletResponse},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadSmartWallet>().await
}

struct ReadSmartWallet {
    artists: Artists,
    reads: ClientLimit,
    chains: ServedChains,
    site: Site,
    on_ramp: Option<OnRamp>,
    /// What this process read lately, so that repeated requests cost the nodes nothing.
    known: Mutex<HashMap<(ChainId, Address), Known>>,
}

/// Balances, and when they were read.
struct Known(Instant, Vec<Balance>);

/// How long balances are kept.
const FRESH: Duration = Duration::from_secs(2);

impl Endpoint for ReadSmartWallet {
    /// Reads `ON_RAMP` and `WALLET_READS_PER_CLIENT_MINUTELY` (120) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::WALLET_READS_PER_CLIENT_MINUTELY)?);
        Ok(Self {
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            reads: ClientLimit::new(SecretTable::from_env(&aws)?, "wallet", most, MINUTE),
            chains: ServedChains::from_env(&aws).await?,
            site: Site::from_env(),
            on_ramp: OnRamp::from_env()?,
            known: Mutex::default(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadSmartWalletQuery { address, chain_id } = request.query().read_for(&self.chains)?;
        self.reads.admit(request, clock::now()?).await?;
        let (chain, node) = self.chains.get(chain_id).map_err(ApiError::internal)?;
        let profile = self.artists.profile_of(address).await?;
        let profile = profile.ok_or_else(|| ApiError::not_found(format!("{address} is no artist's wallet")))?;
        let wallet = profile.artist.embedded_wallet;
        let balances = self.balances(chain, node, wallet).await?;
        let on_ramp = self.on_ramp.as_ref().map(|on_ramp| on_ramp.address(wallet, chain.id));
        Response::json(&ReadSmartWalletResponse { address: wallet, chain_id: chain.id, balances, on_ramp })
    }
}

impl ReadSmartWallet {
    /// Two calls of the node, at most once in [`FRESH`] and process.
    async fn balances(&self, chain: &Chain, node: &Node, wallet: Address) -> Result<Vec<Balance>, NodeError> {
        const MOST_KEPT: usize = 1_000;
        let key = (chain.id, wallet);
        if let Some(Known(read_at, balances)) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
            && read_at.elapsed() < FRESH
        {
            return Ok(balances.clone());
        }
        let balances = chain.currencies().map(|currency| self.balance(currency, chain.id, node, wallet));
        let balances = futures::future::try_join_all(balances).await?;
        let mut kept = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, Known(Instant::now(), balances.clone()));
        Ok(balances)
    }

    async fn balance(
        &self,
        currency: Currency,
        chain: ChainId,
        node: &Node,
        wallet: Address,
    ) -> Result<Balance, NodeError> {
        let Currency { symbol, decimals, contract } = currency;
        let amount = Amount(currency.balance(node, wallet.into()).await?);
        Ok(Balance {
            currency: contract.unwrap_or_default().into(),
            symbol,
            decimals,
            amount,
            decimal_amount: amount.decimal(decimals.into()),
            deposit_uri: currency.payment_uri(chain, wallet, None),
            deposit_code: self.site.payment_code(chain, wallet, symbol),
        })
    }
}
