//! Moving a moment into another collection.

use alloy::primitives::{self, U256};

use super::{
    service::TransactionService,
    session::{WriteSession, too_new},
};
use crate::{
    api::{
        activity::ActivityLog,
        error::{no_collection, no_moment},
    },
    auth::api_key::Caller,
    chain::{
        contracts::native::Creator1155,
        protocol::{
            permission::{Permission, Permissions},
            sale::CurrentSale,
        },
    },
    http::{ApiError, Request, Response},
    model::{
        ActivityKind, Address, Creation, MAX_URI_KEPT, MetadataUri, MomentRef, MovingMoment, Royalty, TokenId,
        split_pointer,
    },
};

/// Where a moment goes.
pub struct Move {
    /// The moment.
    pub moment: MomentRef,
    /// The other collection, on the same chain.
    pub to: Address,
    /// Metadata of the copy; that of the moment if `None`.
    pub new_uri: Option<MetadataUri>,
}

/// The index doesn't have a moment that the chain has.
#[derive(Debug, thiserror::Error)]
#[error("moment {0} isn't indexed yet")]
struct NotIndexed(MomentRef);

impl TransactionService {
    /// Moves a moment in one transaction: all of it is done, or nothing. Tells the artist of admins that the copy has
    /// besides them.
    ///
    /// # Errors
    /// 400 for the same collection; 401 for a token of an old sign-in; 403 without the permission on either; 404 without the
    /// moment or the collection; 409 for one that was moved, is sold to a list, or has no tokens left.
    pub async fn move_moment(
        &self,
        request: &Request,
        caller: Caller,
        activity: &ActivityLog,
        order: Move,
    ) -> Result<Response, ApiError> {
        // It makes the admins of the one admins of the other.
        caller.require_fresh()?;
        let (place, to) = (order.moment, order.to);
        let mut appointed = 0;
        let answer = self
            .transact(request, caller, place.chain, Creation::Moment, async |session| {
                let moving = session.moving(order).await?;
                appointed = moving.admins.len();
                session.note(ActivityKind::MomentMoved, format_args!("{place}, to {to}"));
                Ok(moving)
            })
            .await?;
        if appointed > 0 {
            let admins = if appointed == 1 { "1 admin".to_owned() } else { format!("{appointed} admins") };
            let subject = format!("{admins} of moment {place} for its copy in {to}");
            activity.note(request, caller.artist, ActivityKind::AdminGranted, &subject).await;
        }
        Ok(answer)
    }
}

impl WriteSession<'_> {
    async fn moving(&self, Move { moment, to, new_uri }: Move) -> Result<MovingMoment, ApiError> {
        if to == moment.collection {
            return Err(ApiError::invalid_field("newCollectionAddress", "is the collection that the moment is in"));
        }
        let (collection, token): (primitives::Address, U256) = (moment.collection.into(), moment.token.into());
        let info = Creator1155::getTokenInfoCall { tokenId: token };
        let royalty = Creator1155::getRoyaltiesCall { tokenId: token };
        let referral = Creator1155::createReferralsCall { tokenId: token };
        let (own, there, found, admins) = tokio::join!(
            self.require(&moment, Permission::Admin),
            self.require_on_collection(to, Permission::Minter),
            async {
                tokio::try_join!(
                    self.node().read(collection, &info),
                    self.node().read(collection, &royalty),
                    self.node().read(collection, &referral),
                    self.node().read(to.into(), &Creator1155::nameCall {}),
                    CurrentSale::for_list(self.node(), &self.chain().addresses, &moment),
                )
            },
            self.other_admins(&moment),
        );
        own?;
        there?;
        let (info, royalty, referral, name, listed) = found?;
        let uri = info.ok_or_else(|| no_moment(&moment))?.uri;
        let (document, copy) = split_pointer(&uri);
        if let Some(copy) = copy {
            let words = format!("This moment was moved already: it is token {} of {}", copy.token, copy.collection);
            return Err(ApiError::conflict(words));
        }
        if listed.is_some_and(|sale| sale.terms.end > self.now) {
            return Err(ApiError::conflict("The moment is sold to a list: end that sale first, by an empty list"));
        }
        let admins = admins?;
        let royalty = royalty.ok_or_else(|| no_moment(&moment))?;
        let moving = MovingMoment {
            chain: moment.chain,
            collection: moment.collection,
            token: moment.token,
            copy_uri: new_uri.map_or_else(|| document.to_owned(), |uri| uri.to_string()),
            to,
            to_name: name.ok_or_else(|| no_collection(to))?,
            admins,
            royalty: Royalty { bps: royalty.royaltyBPS, recipient: royalty.royaltyRecipient.into() },
            create_referral: referral.unwrap_or_default().into(),
            // A sale's last second is part of it.
            ends: self.now.saturating_sub(1),
            uri,
        };
        if moving.pointing_to(TokenId::from(U256::MAX)).len() > MAX_URI_KEPT {
            return Err(ApiError::unprocessable("The moment's metadata URI is too long to point to another moment"));
        }
        Ok(moving)
    }

    /// Those of a token's indexed admins that still are some onchain, besides the artist's account; 503 while the
    /// moment isn't indexed. One read and one call.
    async fn other_admins(&self, moment: &MomentRef) -> Result<Vec<Address>, ApiError> {
        let indexed = self.stores.moments.moment(moment).await?;
        let indexed = indexed.ok_or_else(|| too_new("moment", NotIndexed(*moment)))?;
        let ignored = [self.account(), self.chain().addresses.factory.into()];
        let admins: Vec<_> = indexed.admins.into_iter().filter(|admin| !ignored.contains(admin)).collect();
        let still = Permissions::admins_among(self.node(), moment, &admins).await?;
        Ok(admins.into_iter().zip(still).filter_map(|(admin, still)| still.then_some(admin)).collect())
    }
}
