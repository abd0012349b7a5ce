//! `POST /moment/airdrop`: mints tokens of a moment to recipients, in one transaction.

use std::collections::{BTreeMap, HashSet};

use alloy::primitives::U256;
use futures::{StreamExt, TryStreamExt, stream};
use moments::airdrop_moment::AirdropMomentRequest;
use shared::{
    api::transact::{TransactionService, WriteSession},
    chain::protocol::{
        gift::{gift, mintable},
        permission::Permission,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, FieldError, Request, Response, serve},
    model::{ActivityKind, Address, ArtistId, DAY, Email, GiftRecipient, MomentRef, Recipient, Scope},
    store::{
        StoreError,
        artist::{Artist, ArtistTable, EmailOwner, Gift, Gifts},
        secret::{RequestCounts, SecretTable},
    },
};

/// Mail addresses that an artist gives to in a day: each gets a mail from the service.
const MAILBOXES_DAILY: u32 = 50;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AirdropMoment>().await
}

struct AirdropMoment {
    service: TransactionService,
    gifts: Gifts,
    given: RequestCounts,
}

/// An account that gets a token, and what it is told.
type Given = (Address, Option<Gift>);

impl Endpoint for AirdropMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: TransactionService::from_env().await?,
            gifts: Gifts::new(ArtistTable::from_env(&aws)?),
            given: RequestCounts::new(SecretTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let AirdropMomentRequest { moment, recipients } = request.json()?.read_for(&self.service)?;
        let giver = caller.artist;
        self.service
            .transact_once(request, caller, moment.chain, async |session| {
                let (permitted, left) = tokio::join!(
                    session.require(&moment, Permission::Minter),
                    check_supply(session, &moment, recipients.len())
                );
                permitted?;
                left?;
                self.count_mailboxes(giver, &recipients).await?;
                let given = self.given(session, &moment, &recipients).await?;
                let airdrop = gift(&moment, given.iter().map(|(account, _)| *account));
                let gifts: BTreeMap<Address, Gift> =
                    given.into_iter().filter_map(|(account, gift)| Some((account, gift?))).collect();
                // Before it is queued: the indexer may be faster than what follows.
                self.gifts.add(&Vec::from_iter(gifts.into_values())).await?;
                let to =
                    if recipients.len() == 1 { "1 recipient" } else { &format!("{} recipients", recipients.len()) };
                session.note(ActivityKind::Airdropped, format_args!("{moment}, to {to}"));
                Ok(vec![airdrop])
            })
            .await
    }
}

impl AirdropMoment {
    /// 429 over the limit of mail addresses. One write, if there are any.
    async fn count_mailboxes(&self, giver: ArtistId, recipients: &[GiftRecipient]) -> Result<(), ApiError> {
        let mailboxes: HashSet<_> = recipients.iter().filter_map(mailbox).collect();
        if mailboxes.is_empty() {
            return Ok(());
        }
        let (now, count) = (clock::now()?.as_secs(), u32::try_from(mailboxes.len()).unwrap_or(u32::MAX));
        let (day, subject) = (now / DAY, format!("gift#{giver}"));
        if self.given.count_all(count, &subject, day, (day + 2) * DAY).await? > MAILBOXES_DAILY {
            let words = format!(
                "You can give to {MAILBOXES_DAILY} mail addresses in a day (UTC): give to the others tomorrow, or by \
                 address or username"
            );
            return Err(ApiError::too_many(words, (day + 1) * DAY - now));
        }
        Ok(())
    }

    /// The recipients' accounts; 400 that names each who has none.
    async fn given(
        &self,
        session: &WriteSession<'_>,
        moment: &MomentRef,
        recipients: &[GiftRecipient],
    ) -> Result<Vec<Given>, ApiError> {
        const AT_ONCE: usize = 20;
        let now = clock::now()?.as_secs();
        let reads: Vec<_> = recipients
            .iter()
            .map(async |recipient| match recipient {
                GiftRecipient::Known(recipient) => Ok(self.account(recipient).await?.map(|account| (account, None))),
                GiftRecipient::Mailbox(email) => self.gift(session, moment, email, now).await,
            })
            .collect();
        let found: Vec<Result<Given, _>> = stream::iter(reads).buffered(AT_ONCE).try_collect::<Vec<_>>().await?;
        let refusals = found.iter().enumerate().filter_map(|(place, given)| Some((place, *given.as_ref().err()?)));
        let errors: Vec<_> = refusals
            .map(|(place, refusal)| FieldError { field: format!("recipients.{place}"), message: refusal.to_owned() })
            .collect();
        if errors.is_empty() {
            Ok(found.into_iter().flatten().collect())
        } else {
            Err(ApiError::invalid_fields(errors))
        }
    }

    /// A recipient's account, or why there is none.
    async fn account(&self, recipient: &Recipient) -> Result<Result<Address, &'static str>, StoreError> {
        if is_of_ens(recipient) {
            return Ok(Err("may be somebody else's name in ENS: give the address"));
        }
        Ok(self.service.artists().account_of(recipient).await?.ok_or("is not the username of an artist"))
    }

    /// The account of a mail address, which is kept for it if it has none. A read, and a write for a new one.
    async fn gift(
        &self,
        session: &WriteSession<'_>,
        moment: &MomentRef,
        email: &Email,
        now: u64,
    ) -> Result<Result<Given, &'static str>, StoreError> {
        let artists = self.service.artists();
        let (owner, unknown) = match artists.find_by_email(email, now).await? {
            EmailOwner::Artist(artist) => (artist, None),
            EmailOwner::From(_) => return Ok(Err("is about to be an artist's: give the account's address")),
            EmailOwner::Nobody => {
                let artist_id = ArtistId::random();
                let new = Artist { artist_id, embedded_wallet: session.wallet_of(artist_id) };
                (artists.reserve(email, new, now).await?, Some(email.clone()))
            }
        };
        let (artist, account) = (owner.artist_id, owner.embedded_wallet);
        let gift = Gift::new((artist, account), *moment, session.account(), unknown, now);
        Ok(Ok((account, Some(gift))))
    }
}

fn mailbox(recipient: &GiftRecipient) -> Option<&Email> {
    match recipient {
        GiftRecipient::Mailbox(email) => Some(email),
        GiftRecipient::Known(_) => None,
    }
}

/// Whether a username is written as a name in ENS, which may be somebody else's: a gift can't be taken back.
fn is_of_ens(recipient: &Recipient) -> bool {
    matches!(recipient, Recipient::Username(name) if name.as_str().to_lowercase().ends_with(".eth"))
}

/// Requires enough tokens for all recipients: the contract mints one at a time, and its error would count only the last.
async fn check_supply(session: &WriteSession<'_>, moment: &MomentRef, count: usize) -> Result<(), ApiError> {
    match mintable(session.node(), moment).await? {
        Some(left) if left < U256::from(count) => Err(ApiError::unprocessable(format!(
            "Only {left} more of this moment can be minted, and there are {count} recipients"
        ))),
        _ => Ok(()),
    }
}
