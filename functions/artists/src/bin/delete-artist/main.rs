//! `DELETE /artists/me`: the account is erased after a week, unless its artist signs in before.

use artists::delete_artist::{DeleteArtistRequest, DeleteArtistResponse};
use futures::future::try_join_all;
use shared::{
    api::{activity::ActivityLog, error::no_artist},
    auth::{session::SessionAuthenticator, token::LIFETIME},
    chain::{
        Chain, Chains,
        node::{Node, NodeError, NodeUrls},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, Address},
    store::{
        artist::{ArtistTable, Artists, Deletions},
        secret::{SecretTable, Sessions},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DeleteArtist>().await
}

struct DeleteArtist {
    authenticator: SessionAuthenticator,
    sessions: Sessions,
    artists: Artists,
    deletions: Deletions,
    activity: ActivityLog,
    chains: Vec<(Chain, Node)>,
}

impl DeleteArtist {
    /// What the account has on all chains, in words.
    async fn money(&self, account: Address) -> Result<Vec<String>, NodeError> {
        let currencies = self.chains.iter().flat_map(|(chain, node)| chain.currencies().map(|it| (chain.id, node, it)));
        let amounts = currencies.map(|(chain, node, currency)| async move {
            let amount = currency.balance(node, account.into()).await?;
            Ok::<_, NodeError>((!amount.is_zero()).then(|| format!("{} on chain {chain}", currency.format(amount))))
        });
        Ok(try_join_all(amounts).await?.into_iter().flatten().collect())
    }
}

impl Endpoint for DeleteArtist {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (artists, secrets) = (ArtistTable::from_env(&aws)?, SecretTable::from_env(&aws)?);
        let (urls, chains) = (NodeUrls::from_env(&aws).await?, Chains::from_env()?);
        let with_node = |chain: &Chain| Ok((chain.clone(), Node::for_requests(&urls, chain.id)?));
        let chains = chains.iter().filter(|chain| urls.names(chain.id)).map(with_node);
        Ok(Self {
            authenticator: SessionAuthenticator::from_env(secrets.clone())?,
            sessions: Sessions::new(secrets),
            artists: Artists::new(artists.clone()),
            deletions: Deletions::new(artists),
            activity: ActivityLog::from_env(&aws)?,
            chains: chains.collect::<Result<_, NodeError>>()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.authenticator.authenticate_freshly(request, now).await?.artist;
        let DeleteArtistRequest { abandon } = request.json_or_empty()?.read()?;
        let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
        let money = if abandon { Vec::new() } else { self.money(profile.artist.embedded_wallet).await? };
        if !money.is_empty() {
            return Err(ApiError::conflict(format!(
                "Your account has {}: withdraw it first, or send abandon: true to lose it",
                money.join(" and ")
            )));
        }
        let deletion = self.deletions.request(artist, now.as_secs()).await?;
        let erased_after = clock::iso_8601(deletion.due_at)?;
        self.activity.note(request, artist, ActivityKind::DeletionRequested, "").await;
        // Last: until here the request can be repeated with its token.
        self.sessions.end_all(artist, (now + LIFETIME).as_secs()).await?;
        Response::json(&DeleteArtistResponse { success: true, erased_after })
    }
}
