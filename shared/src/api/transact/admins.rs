//! Admins of a moment or, as token 0, of a whole collection.

use super::{service::TransactionService, session::WriteSession};
use crate::{
    api::activity::ActivityLog,
    auth::api_key::Caller,
    chain::protocol::permission::{Permission, Permissions},
    http::{ApiError, Request, Response},
    model::{ActivityKind, Address, Creation, MomentEdit, MomentRef, MomentUpdate},
};

impl TransactionService {
    /// Makes an account an admin, and tells the artist; 409 if it is one, 401 for a token of an old sign-in.
    pub async fn grant_admin(
        &self,
        request: &Request,
        caller: Caller,
        activity: &ActivityLog,
        place: &MomentRef,
        admin: Address,
    ) -> Result<Response, ApiError> {
        caller.require_fresh()?;
        let mut is_granted = false;
        let answer = self
            .transact(request, caller, place.chain, Creation::Nothing, async |session| {
                let update = session.grant_admin(place, admin).await?;
                is_granted = true;
                Ok(update)
            })
            .await?;
        if is_granted {
            activity.note(request, caller.artist, ActivityKind::AdminGranted, &subject(place, admin)).await;
        }
        Ok(answer)
    }

    /// Makes an account no admin, and tells the artist; 404 if it is none, 409 if the artist were the last one. A suspended
    /// artist may, with a token of any sign-in.
    pub async fn revoke_admin(
        &self,
        request: &Request,
        caller: Caller,
        activity: &ActivityLog,
        place: &MomentRef,
        admin: Address,
    ) -> Result<Response, ApiError> {
        let mut is_revoked = false;
        let answer = self
            .transact(request, caller.even_suspended(), place.chain, Creation::Nothing, async |session| {
                let update = session.revoke_admin(place, admin).await?;
                is_revoked = true;
                Ok(update)
            })
            .await?;
        if is_revoked {
            activity.note(request, caller.artist, ActivityKind::AdminRevoked, &subject(place, admin)).await;
        }
        Ok(answer)
    }
}

impl WriteSession<'_> {
    async fn grant_admin(&self, place: &MomentRef, admin: Address) -> Result<MomentUpdate, ApiError> {
        self.require_admin(place).await?;
        if Permissions::of(self.node(), admin.into(), place).await?.is_admin_of_token() {
            return Err(ApiError::conflict(format!("{admin} is an admin of this {} already", kind(place))));
        }
        Ok(place.update(MomentEdit::GrantAdmin(admin)))
    }

    async fn revoke_admin(&self, place: &MomentRef, admin: Address) -> Result<MomentUpdate, ApiError> {
        let own = self.require_admin(place).await?;
        let permissions = Permissions::of(self.node(), admin.into(), place).await?;
        if !permissions.is_admin_of_token() {
            return Err(no_admin(place, admin, permissions));
        }
        // Artists who revoke another's permission stay admins themselves.
        let stays = admin != self.account() || (!place.is_whole_collection() && own.is_admin_of_collection());
        if !stays && !self.has_other_admins(place).await? {
            let reason = format!("You are the last admin of this {}: make somebody else one first", kind(place));
            return Err(ApiError::conflict(reason));
        }
        Ok(place.update(MomentEdit::RevokeAdmin(admin)))
    }

    async fn require_admin(&self, place: &MomentRef) -> Result<Permissions, ApiError> {
        if place.is_whole_collection() {
            self.require_on_collection(place.collection, Permission::Admin).await
        } else {
            self.require(place, Permission::Admin).await
        }
    }

    /// Whether an indexed admin other than the artist still is one onchain. Two reads, and one call for each former admin.
    async fn has_other_admins(&self, place: &MomentRef) -> Result<bool, ApiError> {
        let moments = &self.stores.moments;
        let (moment, collection) =
            tokio::try_join!(moments.moment(place), moments.collection(place.chain, place.collection))?;
        let admins = moment.map(|moment| moment.admins).into_iter().chain(collection.map(|found| found.admins));
        let ignored = [self.account(), self.chain().addresses.factory.into()];
        for admin in admins.flatten().filter(|admin| !ignored.contains(admin)) {
            if Permissions::of(self.node(), admin.into(), place).await?.may(Permission::Admin) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What an activity says of an admin.
fn subject(place: &MomentRef, admin: Address) -> String {
    format!("{admin} for {} {place}", kind(place))
}

fn kind(place: &MomentRef) -> &'static str {
    if place.is_whole_collection() { "collection" } else { "moment" }
}

fn no_admin(place: &MomentRef, account: Address, permissions: Permissions) -> ApiError {
    if permissions.is_admin_of_collection() {
        ApiError::conflict(format!(
            "{account} is an admin of the whole collection, not of this moment alone: name token \"0\""
        ))
    } else {
        ApiError::not_found(format!("{account} is no admin of this {}", kind(place)))
    }
}
