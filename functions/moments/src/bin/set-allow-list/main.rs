//! `POST /moment/allow-list`: sells a moment to the accounts of a list, whose root the chain keeps.

use futures::{StreamExt, TryStreamExt, stream};
use moments::set_allow_list::SetAllowListRequest;
use shared::{
    api::transact::{TransactionService, WriteSession},
    chain::{
        protocol::{
            allow_list::{end_list_sale, sell_to_list},
            permission::{Permission, Permissions},
            sale::{CurrentSale, Strategy},
        },
        wallet::Call,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, FieldError, Request, Response, serve},
    model::{Address, ArtistId, CheckedAddress, Creation, DAY, MAX_LISTED, Recipient, Scope},
    store::{
        artist::{AllowLists, ArtistTable},
        secret::{RequestCounts, SecretTable},
    },
};

/// Entries of an artist's lists in a day: all are stored.
const LISTED_DAILY: u32 = 50_000;
/// Entries that are given by username: each is a read.
const MAX_USERNAMES: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SetAllowList>().await
}

struct SetAllowList {
    service: TransactionService,
    lists: AllowLists,
    listed: RequestCounts,
}

impl Endpoint for SetAllowList {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: TransactionService::from_env().await?,
            lists: AllowLists::new(ArtistTable::from_env(&aws)?),
            listed: RequestCounts::new(SecretTable::from_env(&aws)?),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let wanted: SetAllowListRequest = request.large_json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, wanted.moment.chain, Creation::Nothing, async |session| {
                Ok(vec![self.call(session, caller.artist, &wanted).await?])
            })
            .await
    }
}

impl SetAllowList {
    /// The call, once the list is stored that it makes known to the chain.
    async fn call(
        &self,
        session: &WriteSession<'_>,
        artist: ArtistId,
        wanted: &SetAllowListRequest,
    ) -> Result<Call, ApiError> {
        let (moment, node, addresses) = (&wanted.moment, session.node(), &session.chain().addresses);
        let minter = addresses.merkle_minter.ok_or_else(unsupported)?;
        let (own, of_strategy) =
            tokio::join!(session.require(moment, Permission::Sales), Permissions::of(node, minter, moment));
        let (own, may_mint) = (own?, of_strategy?.may(Permission::Minter));
        if !may_mint && !own.may(Permission::Admin) {
            return Err(ApiError::forbidden(
                "The strategy for lists may not mint this moment: ask who has the ADMIN permission to set its first list",
            ));
        }
        session.note_sale(moment, wanted.funds_recipient.map(|CheckedAddress(recipient)| recipient));
        if wanted.entries.is_empty() {
            return Ok(end_list_sale(moment, minter, may_mint));
        }
        let now = clock::now()?.as_secs();
        let (start, end) = wanted.times(now)?;
        let list = wanted.list(&self.accounts(wanted).await?)?;
        self.count(artist, wanted.entries.len(), now).await?;
        let place = (moment.collection.into(), moment.token.into());
        let (sale, open) = tokio::try_join!(
            CurrentSale::for_list(node, addresses, moment),
            CurrentSale::changeable(node, addresses, place, None)
        )?;
        let in_force = sale.and_then(|sale| sale.root());
        // Before the chain knows its root: who is on the list can collect as soon as it does.
        self.lists.keep(moment, &list, in_force, end, now).await?;
        let recipient = match wanted.funds_recipient {
            Some(CheckedAddress(recipient)) => recipient.into(),
            None => {
                let of_open = open.map(|sale| sale.funds_recipient).filter(|recipient| !recipient.is_zero());
                of_open.unwrap_or_else(|| session.account().into())
            }
        };
        let strategy = Strategy::AllowList { minter, root: list.root() };
        sell_to_list(moment, strategy, (start, end), recipient, may_mint).ok_or_else(unsupported)
    }

    /// The entries' accounts in their order; 400 that names those of nobody.
    async fn accounts(&self, wanted: &SetAllowListRequest) -> Result<Vec<Address>, ApiError> {
        const AT_ONCE: usize = 20;
        let entries = &wanted.entries;
        if entries.len() > MAX_LISTED {
            return Err(ApiError::invalid_field("entries", "has too many entries: give at most 10000"));
        }
        let by_name = entries.iter().filter(|entry| matches!(entry.account, Recipient::Username(_))).count();
        if by_name > MAX_USERNAMES {
            let words = format!("has {by_name} usernames: give at most {MAX_USERNAMES}, and the others by address");
            return Err(ApiError::invalid_field("entries", words));
        }
        let reads = entries.iter().map(async |entry| match &entry.account {
            Recipient::Account(CheckedAddress(account)) => Ok(Some(*account)),
            named => self.service.artists().account_of(named).await,
        });
        let found: Vec<Option<Address>> =
            stream::iter(reads.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await?;
        let unknown = found.iter().enumerate().filter(|(_, account)| account.is_none());
        let errors: Vec<_> = unknown
            .map(|(place, _)| FieldError {
                field: format!("entries.{place}.account"),
                message: "is not the username of an artist".to_owned(),
            })
            .collect();
        if errors.is_empty() {
            Ok(found.into_iter().flatten().collect())
        } else {
            Err(ApiError::invalid_fields(errors))
        }
    }

    /// 429 over the limit of entries. One write.
    async fn count(&self, artist: ArtistId, entries: usize, now: u64) -> Result<(), ApiError> {
        let (day, more) = (now / DAY, u32::try_from(entries).unwrap_or(u32::MAX));
        if self.listed.count_all(more, &format!("list#{artist}"), day, (day + 2) * DAY).await? > LISTED_DAILY {
            let words = format!("You can list {LISTED_DAILY} accounts in a day (UTC): set this list tomorrow");
            return Err(ApiError::too_many(words, (day + 1) * DAY - now));
        }
        Ok(())
    }
}

fn unsupported() -> ApiError {
    ApiError::unprocessable("This chain has no strategy that sells to lists")
}
