//! `DELETE /moment/permission`: takes the admin permission on a moment from an account.

#[cfg(test)]
mod description;

use alloy::primitives::Address;
use shared::{
    chain::{
        account::Call,
        permission::{Permission, Standing},
    },
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef},
    store::{Moments, Table},
    telemetry,
    writing::{Begun, Wording, Writers, Writing, answer_node_error},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let moments = Moments::new(Table::chain(&config::aws().await)?);
    serve(RevokePermission { writers: Writers::from_env().await?, moments }).await
}

struct RevokePermission {
    writers: Writers,
    moments: Moments,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct RevokePermissionRequest {
    /// Which moment.
    moment: MomentRef,
    /// Who is no admin from then on.
    #[schema(rename = "adminAddress")]
    admin: CheckedAddress,
}

impl Endpoint for RevokePermission {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let RevokePermissionRequest { moment, admin } = RevokePermissionRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let own = writing.require(&moment, Permission::Admin).await?;
        let CheckedAddress(admin) = admin;
        let standing = Standing::of(writing.node(), admin.into(), &moment).await.map_err(answer_node_error)?;
        if !standing.is_admin_of_token() {
            return Err(if standing.is_admin_of_collection() {
                ApiError::conflict(format!("{admin} is an admin of the whole collection, not of this moment alone"))
            } else {
                ApiError::not_found(format!("{admin} is no admin of this moment"))
            });
        }
        // Whoever takes it from another is an admin still.
        if admin == writing.account() && !own.is_admin_of_collection() && !self.has_others(&writing, &moment).await? {
            return Err(ApiError::conflict("You are the last admin of this moment: make somebody else one first"));
        }
        let revoke = Permission::Admin.revoke(moment.token.into(), admin.into());
        writing.send(vec![Call::new(moment.collection.into(), &revoke)]).await
    }
}

impl RevokePermission {
    /// Whether somebody besides the artist's account is an admin: of those who were when the chain was read last, one who
    /// is now. Two reads, and one call for each who isn't any more.
    async fn has_others(&self, writing: &Writing<'_>, place: &MomentRef) -> Result<bool, ApiError> {
        let (moment, collection) =
            tokio::try_join!(self.moments.moment(place), self.moments.collection(place.chain, place.collection))?;
        let admins = moment.map(|moment| moment.admins).into_iter().chain(collection.map(|found| found.admins));
        let passed_over = [writing.account(), writing.chain().addresses.factory.into()];
        for admin in admins.flatten().filter(|admin| !passed_over.contains(admin)) {
            let standing =
                Standing::of(writing.node(), Address::from(admin), place).await.map_err(answer_node_error)?;
            if standing.may(Permission::Admin) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl RevokePermissionRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let admin = fields.required("adminAddress");
        fields.finish(|| Some(Self { moment: moment?, admin: admin? }))
    }
}
