//! Who accounts are: artists, with usernames or without, or nobody; and whom artists accept. Asked for once in a batch.

use std::collections::{BTreeSet, HashMap};

use shared::{
    model::{Address, ArtistId},
    store::{StoreError, artist::Artists},
};

/// Artists and usernames of the accounts that were asked for.
pub struct Names<'a> {
    artists: &'a Artists,
    /// `None` for an account of no artist.
    known: HashMap<Address, Option<(ArtistId, String)>>,
    /// Whether an artist accepted an account.
    accepted: HashMap<(ArtistId, Address), bool>,
}

impl<'a> Names<'a> {
    /// No names yet.
    pub fn of(artists: &'a Artists) -> Self {
        Self { artists, known: HashMap::new(), accepted: HashMap::new() }
    }

    /// Asks for those that weren't asked for. One read per 100.
    pub async fn learn(&mut self, accounts: impl IntoIterator<Item = Address>) -> Result<(), StoreError> {
        let new = accounts.into_iter().filter(|account| !self.known.contains_key(account));
        let new = Vec::from_iter(BTreeSet::from_iter(new));
        if new.is_empty() {
            return Ok(());
        }
        let mut names = self.artists.named_owners(&new).await?;
        self.known.extend(new.into_iter().map(|account| (account, names.remove(&account))));
        Ok(())
    }

    /// Whether the account is an artist's wallet.
    pub fn is_artists(&self, account: Address) -> bool {
        self.artist(account).is_some()
    }

    /// The username; empty without one.
    pub fn name(&self, account: Address) -> &str {
        self.known.get(&account).and_then(Option::as_ref).map(|(_, name)| name.as_str()).unwrap_or_default()
    }

    /// Those of the admins that are wallets of the creator's artist, or of artists who accepted the creator: what a stranger
    /// makes somebody an admin of is in nobody's timelines. All must have been asked for. One read per 100 new pairs.
    pub async fn willing(&mut self, admins: &[Address], creator: Address) -> Result<Vec<Address>, StoreError> {
        let maker = self.artist(creator);
        let foreign = admins.iter().filter_map(|admin| self.artist(*admin)).filter(|artist| Some(*artist) != maker);
        let pairs = foreign.map(|artist| (artist, creator)).filter(|pair| !self.accepted.contains_key(pair));
        let pairs = BTreeSet::from_iter(pairs);
        if !pairs.is_empty() {
            let accepted = self.artists.accepting(&pairs).await?;
            self.accepted.extend(pairs.into_iter().map(|pair| (pair, accepted.contains(&pair))));
        }
        let is_willing = |admin: &Address| {
            let artist = self.artist(*admin);
            artist.is_some_and(|artist| Some(artist) == maker || self.accepted.get(&(artist, creator)) == Some(&true))
        };
        Ok(admins.iter().copied().filter(is_willing).collect())
    }

    fn artist(&self, account: Address) -> Option<ArtistId> {
        self.known.get(&account).and_then(Option::as_ref).map(|(artist, _)| *artist)
    }
}
