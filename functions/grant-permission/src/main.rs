//! `POST /moment/permission`: makes an account an admin of a moment.

#[cfg(test)]
mod description;

use shared::{
    chain::{
        account::Call,
        permission::{Permission, Standing},
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef},
    telemetry,
    writing::{Begun, Wording, Writers, answer_node_error},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(GrantPermission { writers: Writers::from_env().await? }).await
}

struct GrantPermission {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct GrantPermissionRequest {
    /// Which moment.
    moment: MomentRef,
    /// Who becomes an admin.
    #[schema(rename = "adminAddress")]
    admin: CheckedAddress,
}

impl Endpoint for GrantPermission {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let GrantPermissionRequest { moment, admin } = GrantPermissionRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        writing.require(&moment, Permission::Admin).await?;
        let CheckedAddress(admin) = admin;
        let standing = Standing::of(writing.node(), admin.into(), &moment).await.map_err(answer_node_error)?;
        if standing.is_admin_of_token() {
            return Err(ApiError::conflict(format!("{admin} is an admin of this moment already")));
        }
        let grant = Permission::Admin.grant(moment.token.into(), admin.into());
        writing.send(vec![Call::new(moment.collection.into(), &grant)]).await
    }
}

impl GrantPermissionRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let admin = fields.required("adminAddress");
        fields.finish(|| Some(Self { moment: moment?, admin: admin? }))
    }
}
