//! `DELETE /artists/devices?deviceId=`: forgets a device on which the signed-in artist signed in before.

use auth::forget_device::{ForgetDeviceQuery, ForgetDeviceResponse};
use shared::{
    api::activity::ActivityLog,
    auth::session::SessionAuthenticator,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::ActivityKind,
    store::{
        artist::{ArtistTable, Artists},
        secret::{Devices, SecretTable},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ForgetDevice>().await
}

struct ForgetDevice {
    sessions: SessionAuthenticator,
    artists: Artists,
    devices: Devices,
    activity: ActivityLog,
}

impl Endpoint for ForgetDevice {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            devices: Devices::new(secrets),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_person(request).await?.artist;
        let ForgetDeviceQuery { device } = request.query().read()?;
        let is_forgotten = match self.artists.contact(artist, clock::now()?.as_secs()).await?.email {
            Some(email) => self.devices.forget(&email, &device).await?,
            None => false,
        };
        if !is_forgotten {
            return Err(ApiError::not_found("You have no device with this id"));
        }
        self.activity.note(request, artist, ActivityKind::DeviceForgotten, &device.to_string()).await;
        Response::json(&ForgetDeviceResponse { success: true })
    }
}
