//! Limits on what begins a sign-in, before it is known whose it is.

use std::time::Duration;

use super::client_limit::ClientLimit;
use crate::{
    http::{ApiError, RateLimit, Request},
    model::DeviceToken,
    store::secret::{Devices, SecretTable},
};

/// A limit for each client network, which others of it can't use up for a known device: that has its own.
pub struct DeviceLimit {
    clients: ClientLimit,
    devices: Devices,
}

impl DeviceLimit {
    /// At most `max` of `action` in each window, counted in the secret table.
    pub fn new(secrets: SecretTable, action: &'static str, max: u32, window: Duration) -> Self {
        let devices = Devices::new(secrets.clone());
        Self { clients: ClientLimit::new(secrets, action, max, window), devices }
    }

    /// Counts a request and returns the state of its limit; 429 over it. What [`ClientLimit`] writes; for a request with a
    /// device, a read besides.
    pub async fn admit(
        &self,
        request: &Request,
        device: Option<&DeviceToken>,
        now: Duration,
    ) -> Result<RateLimit, ApiError> {
        if let Some(device) = device.map(DeviceToken::id)
            && self.devices.is_known(&device, now.as_secs()).await?
        {
            return self.clients.admit_device(&device, now).await;
        }
        self.clients.admit(request, now).await
    }
}
