//! Signs an artist out whose account somebody else holds.

use shared::{
    clock,
    model::{ActivityId, ActivityKind, Subject},
    store::artist::Activity,
};

use super::Desk;
use crate::Error;

/// How long the artist sees it, in seconds: as long as other activities by default.
const SHOWN_FOR: u64 = 90 * 24 * 60 * 60;

impl Desk {
    /// Ends an artist's API keys, devices and tokens. The mailbox, wallets and passkeys sign in again.
    pub(super) async fn sign_out(&self, subject: Subject) -> Result<String, Error> {
        let nobody = || format!("{subject} is no artist of this service");
        let Subject::Artist(account) = subject else { return Err(nobody().into()) };
        let artist = self.artists.profile_of(account).await?.ok_or_else(nobody)?.artist.artist_id;
        let now = clock::now()?;
        self.credentials.end_all(artist, true, true, now).await?;
        let activity = Activity {
            id: ActivityId::next(),
            kind: ActivityKind::SignedOutEverywhere,
            at: now.as_secs(),
            network: String::new(),
            subject: "API keys, devices, by the operator".to_owned(),
            expires_at: now.as_secs() + SHOWN_FOR,
        };
        self.activities.record(artist, &activity).await?;
        Ok(format!("{subject} is signed out everywhere, without API keys and known devices"))
    }
}
