//! Artists who change their names, wallets and moments, and leave.

use local::cloud::Endpoints;
use shared::{
    model::{ActivityId, ActivityKind, Address, ArtistId, ChainId, MomentRef, Wallet, WalletType},
    store::{
        across::{WalletConnections, WaysIn},
        artist::{Activity, Artist, ArtistTable, Artists, Deletions, ProfileChange},
        secret::{Challenges, SecretTable, StoredChallenge},
    },
};
use tests::{Error, history::Dice};

pub struct Decisions {
    artists: Artists,
    deletions: Deletions,
    challenges: Challenges,
    connections: WalletConnections,
    ways_in: WaysIn,
    /// Artists with their embedded wallets.
    known: Vec<Artist>,
    /// Unix time in seconds: each decision is later than the one before.
    now: u64,
}

impl Decisions {
    /// Of artists in the tables of this database.
    pub async fn of(dynamodb: &str) -> Result<Self, Error> {
        let aws = Endpoints { aws: dynamodb.to_owned(), dynamodb: dynamodb.to_owned() }.sdk_config(dynamodb).await;
        let (artists, secrets) = (ArtistTable::new(&aws, "ArtistTable"), SecretTable::new(&aws, "SecretTable"));
        Ok(Self {
            artists: Artists::new(artists.clone()),
            deletions: Deletions::new(artists.clone()),
            challenges: Challenges::new(secrets.clone()),
            connections: WalletConnections::new(artists.clone(), secrets.clone()),
            ways_in: WaysIn::new(artists, secrets),
            known: Vec::new(),
            now: 100,
        })
    }

    fn later(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// A new artist with this account.
    pub async fn sign_up(&mut self, account: Address) -> Result<ArtistId, Error> {
        let now = self.later();
        let artist = Artist { artist_id: ArtistId::random(), embedded_wallet: account };
        let is_new = self.artists.create(&format!("artist{now}@example.com").parse()?, &artist, now).await?;
        self.known.push(artist);
        if is_new { Ok(artist.artist_id) } else { Err("not signed up".into()) }
    }

    /// Gives an artist a name.
    pub async fn rename(&mut self, artist: ArtistId, name: &str) -> Result<(), Error> {
        let change = ProfileChange { username: Some(name.parse()?), ..ProfileChange::default() };
        let now = self.later();
        let renamed = self.artists.update_profile(artist, &change, now).await?;
        renamed.map(drop).map_err(|refused| format!("{refused:?}").into())
    }

    /// Connects a wallet, unless it is somebody's.
    pub async fn connect(&mut self, artist: ArtistId, address: Address) -> Result<(), Error> {
        let now = self.later();
        let challenge = StoredChallenge::new(&format!("message {now}"), Some(artist), address, ChainId(8453), now);
        self.challenges.put(&challenge).await?;
        let wallet = Wallet { address, r#type: WalletType::External };
        let _ = self.connections.connect(artist, wallet, &challenge, None, now).await?;
        Ok(())
    }

    /// Disconnects a wallet, if it is the artist's.
    pub async fn disconnect(&mut self, artist: ArtistId, address: Address) -> Result<(), Error> {
        let now = self.later();
        let _ = self.ways_in.disconnect_wallet(artist, address, None, now).await?;
        Ok(())
    }

    /// Hides a moment, or shows it again.
    pub async fn hide(&mut self, artist: ArtistId, moment: &MomentRef, is_hidden: bool) -> Result<(), Error> {
        let at = self.later();
        let kind = if is_hidden { ActivityKind::MomentHidden } else { ActivityKind::MomentShown };
        let (subject, expires_at) = (moment.to_string(), u64::MAX);
        let activity = Activity { id: ActivityId::next(), kind, at, network: String::new(), subject, expires_at };
        Ok(self.artists.hide(artist, moment, is_hidden, (artist, &activity)).await?)
    }

    /// Erases an account.
    pub async fn erase(&mut self, artist: ArtistId) -> Result<(), Error> {
        let now = self.later();
        self.deletions.request(artist, now).await?;
        self.known.retain(|known| known.artist_id != artist);
        if self.deletions.finish(artist).await? { Ok(()) } else { Err("not erased".into()) }
    }

    /// A random decision about these accounts and moments.
    pub async fn decide(&mut self, dice: &mut Dice, accounts: &[Address], moments: &[MomentRef]) -> Result<(), Error> {
        let account = accounts[usize::try_from(dice.roll(accounts.len() as u64))?];
        let strangers: Vec<Address> = accounts.iter().copied().filter(|it| !self.is_known(*it)).collect();
        let artist = usize::try_from(dice.roll(self.known.len().max(1) as u64))?;
        let Some(artist) = self.known.get(artist).map(|known| known.artist_id) else {
            return self.sign_up(account).await.map(drop);
        };
        match dice.roll(8) {
            0 => self.disconnect(artist, account).await,
            1 | 2 => self.connect(artist, account).await,
            3 => self.erase(artist).await,
            4 | 5 if !moments.is_empty() => {
                let moment = moments[usize::try_from(dice.roll(moments.len() as u64))?];
                let is_hidden = dice.roll(3) > 0;
                self.hide(artist, &moment, is_hidden).await
            }
            6 if !strangers.is_empty() => {
                let is_free = self.artists.usernames(&strangers[..1]).await?.is_empty();
                if is_free { self.sign_up(strangers[0]).await.map(drop) } else { Ok(()) }
            }
            _ => {
                let name = format!("name{}", self.now);
                self.rename(artist, &name).await
            }
        }
    }

    fn is_known(&self, account: Address) -> bool {
        self.known.iter().any(|known| known.embedded_wallet == account)
    }
}
