//! Chooses the service and the credential of a command: options before the environment, both before what is stored.

use std::env;

use crate::{
    address::ApiAddress,
    credentials::CredentialsFile,
    failure::Failure,
    service::{Credential, Service},
};

/// The variable that has an API key.
pub const KEY_VARIABLE: &str = "MOMENTS_API_KEY";

/// The service that was named, or else the one that is signed in to.
pub fn address(named: Option<&ApiAddress>) -> Result<ApiAddress, Failure> {
    if let Some(address) = named {
        return Ok(address.clone());
    }
    let stored = CredentialsFile::of_user()?.read()?;
    stored.map(|stored| stored.api).ok_or_else(|| {
        Failure::Usage(
            "no service is known: name one with --api or MOMENTS_API, such as https://moments.example/api".into(),
        )
    })
}

/// The service, with the artist's key.
pub fn signed_in(named: Option<&ApiAddress>) -> Result<Service, Failure> {
    if let Some(key) = env::var(KEY_VARIABLE).ok().filter(|key| !key.trim().is_empty()) {
        return Service::new(&address(named)?, &Credential::Key(&key));
    }
    let address = address(named)?;
    match CredentialsFile::of_user()?.read()? {
        // A key is for one service: no other gets to see it.
        Some(stored) if stored.api == address => Service::new(&address, &Credential::Key(&stored.key)),
        _ => Err(Failure::Here(format!(
            "You aren't signed in to {address}: run `moments sign-in --api {address}` with your mail address, or set \
             {KEY_VARIABLE}"
        ))),
    }
}
