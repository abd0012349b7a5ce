//! Contract of `DELETE /artists/devices?deviceId=`.

use serde::Serialize;
use shared::{http::FromFields, model::DeviceId};
use utoipa::{IntoParams, ToSchema};

/// The device.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForgetDeviceQuery {
    /// Its id, from the list at `GET /artists/activity`.
    #[param(rename = "deviceId")]
    pub device: DeviceId,
}

/// The device is unknown from now on.
#[derive(Serialize, ToSchema)]
pub struct ForgetDeviceResponse {
    /// The device is forgotten.
    pub success: bool,
}

/// Forget a device
///
/// Its `deviceToken` no longer counts. Tokens that were issued on it go on working: sign out everywhere to end them.
#[utoipa::path(
    delete,
    path = "/artists/devices",
    tag = "Sign-in",
    security(("token" = [])),
    params(ForgetDeviceQuery),
    responses((status = 200, description = "The device is forgotten.", body = ForgetDeviceResponse)),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn forget_device() {}
