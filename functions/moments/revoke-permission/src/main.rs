//! `DELETE /moment/permission`: revokes an account's admin permission on a moment.

#[cfg(test)]
mod description;

use shared::{
    api::transact::{TransactionService, WriteSession},
    chain::{
        protocol::permission::{Permission, Standing},
        wallet::Call,
    },
    config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, CheckedAddress, Creation, MomentRef, Scope},
    store::{Moments, Table},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let moments = Moments::new(Table::chain(&config::aws().await)?);
    serve(RevokePermission { service: TransactionService::from_env().await?, moments }).await
}

struct RevokePermission {
    service: TransactionService,
    moments: Moments,
}

/// The moment and its admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct RevokePermissionRequest {
    /// The moment.
    moment: MomentRef,
    /// Account that loses the permission.
    admin_address: CheckedAddress,
}

impl Endpoint for RevokePermission {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let RevokePermissionRequest { moment, admin_address: CheckedAddress(admin) } =
            request.json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                let own = session.require(&moment, Permission::Admin).await?;
                let standing = Standing::of(session.node(), admin.into(), &moment).await?;
                if !standing.is_admin_of_token() {
                    return Err(no_admin(admin, standing));
                }
                // Artists who revoke another's permission stay admins themselves.
                let is_own = admin == session.account() && !own.is_admin_of_collection();
                if is_own && !self.has_others(session, &moment).await? {
                    let reason = "You are the last admin of this moment: make somebody else one first";
                    return Err(ApiError::conflict(reason));
                }
                let revoke = Permission::Admin.revoke(moment.token.into(), admin.into());
                Ok(vec![Call::new(moment.collection.into(), &revoke)])
            })
            .await
    }
}

impl RevokePermission {
    /// Whether another account is an admin: one of the indexed admins who still is one onchain. Two reads, and one call for
    /// each former admin.
    async fn has_others(&self, session: &WriteSession<'_>, place: &MomentRef) -> Result<bool, ApiError> {
        let (moment, collection) =
            tokio::try_join!(self.moments.moment(place), self.moments.collection(place.chain, place.collection))?;
        let admins = moment.map(|moment| moment.admins).into_iter().chain(collection.map(|found| found.admins));
        let ignored = [session.account(), session.chain().addresses.factory.into()];
        for admin in admins.flatten().filter(|admin| !ignored.contains(admin)) {
            if Standing::of(session.node(), admin.into(), place).await?.may(Permission::Admin) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn no_admin(account: Address, standing: Standing) -> ApiError {
    if standing.is_admin_of_collection() {
        ApiError::conflict(format!("{account} is an admin of the whole collection, not of this moment alone"))
    } else {
        ApiError::not_found(format!("{account} is no admin of this moment"))
    }
}
