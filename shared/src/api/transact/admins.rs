//! Admins of a moment or, as token 0, of a whole collection.

use super::{service::TransactionService, session::WriteSession};
use crate::{
    api::activity::ActivityLog,
    auth::api_key::Caller,
    chain::protocol::{
        admins::{has_other_admins, kind, last_admin},
        permission::{Permission, Permissions},
    },
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
        let (own, permissions) =
            tokio::join!(self.require_admin(place), Permissions::of(self.node(), admin.into(), place));
        own?;
        if permissions?.is_admin_of_token() {
            return Err(ApiError::conflict(format!("{admin} is an admin of this {} already", kind(place))));
        }
        Ok(place.update(MomentEdit::GrantAdmin(admin)))
    }

    async fn revoke_admin(&self, place: &MomentRef, admin: Address) -> Result<MomentUpdate, ApiError> {
        let (own, permissions) =
            tokio::join!(self.require_admin(place), Permissions::of(self.node(), admin.into(), place));
        own?;
        let permissions = permissions?;
        if !permissions.is_admin_of_token() {
            return Err(no_admin(place, admin, permissions));
        }
        // Artists who revoke another's permission stay admins themselves. The relay asks again.
        let sources = (&self.stores.moments, self.node(), self.chain());
        if admin == self.account() && has_other_admins::<ApiError>(sources, place, admin, None).await? != Some(true) {
            return Err(ApiError::conflict(last_admin(place)));
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
}

/// What an activity says of an admin.
fn subject(place: &MomentRef, admin: Address) -> String {
    format!("{admin} for {} {place}", kind(place))
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
