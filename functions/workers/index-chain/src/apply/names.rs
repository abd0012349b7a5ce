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
        let pairs: Vec<_> = foreign.map(|artist| (artist, creator)).collect();
        self.learn_accepted(pairs).await?;
        let is_willing = |admin: &Address| {
            let artist = self.artist(*admin);
            artist.is_some_and(|artist| Some(artist) == maker || self.accepted.get(&(artist, creator)) == Some(&true))
        };
        Ok(admins.iter().copied().filter(is_willing).collect())
    }

    /// Asks what [`Self::may_create`] needs of accounts and those whom they name. Two reads per 100.
    pub async fn learn_senders(&mut self, pairs: &[(Address, Address)]) -> Result<(), StoreError> {
        let accounts: Vec<_> = pairs.iter().flat_map(|(sender, named)| [*sender, *named]).collect();
        self.learn(accounts).await?;
        let foreign = pairs.iter().filter_map(|(sender, named)| Some((self.foreign(*sender, *named)?, *sender)));
        let foreign: Vec<_> = foreign.collect();
        self.learn_accepted(foreign).await
    }

    /// Whether a sender may create in an account's name: the account is no artist's, or the sender is the same artist's, or
    /// accepted. All must have been asked for.
    pub fn may_create(&self, sender: Address, named: Address) -> bool {
        let foreign = self.foreign(sender, named);
        foreign.is_none_or(|artist| self.accepted.get(&(artist, sender)) == Some(&true))
    }

    /// The artist of an account, unless the sender is theirs, too.
    fn foreign(&self, sender: Address, named: Address) -> Option<ArtistId> {
        self.artist(named).filter(|artist| self.artist(sender) != Some(*artist))
    }

    /// Asks which artists accepted accounts, where that wasn't asked for. One read per 100.
    async fn learn_accepted(&mut self, pairs: Vec<(ArtistId, Address)>) -> Result<(), StoreError> {
        let new = BTreeSet::from_iter(pairs.into_iter().filter(|pair| !self.accepted.contains_key(pair)));
        if !new.is_empty() {
            let accepted = self.artists.accepting(&new).await?;
            self.accepted.extend(new.into_iter().map(|pair| (pair, accepted.contains(&pair))));
        }
        Ok(())
    }

    fn artist(&self, account: Address) -> Option<ArtistId> {
        self.known.get(&account).and_then(Option::as_ref).map(|(artist, _)| *artist)
    }
}
