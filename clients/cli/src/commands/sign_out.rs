//! `moments sign-out`: the key that signing in made is revoked, and forgotten.

use moments_client::types::{LogOutRequest, RevokeApiKeyResponse};

use super::sign_in;
use crate::{
    address::ApiAddress,
    arguments::SignOut,
    credentials::{Credentials, CredentialsFile},
    failure::Failure,
    output::Output,
    service::{Credential, Repeat, Service, ask},
};

/// Signs out of the service that is signed in to.
pub async fn run(arguments: &SignOut, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let file = CredentialsFile::of_user()?;
    let meant = |stored: &Credentials| api.is_none_or(|api| *api == stored.api);
    let Some(stored) = file.read()?.filter(meant) else {
        let place = api.map(|api| format!(" to {api}")).unwrap_or_default();
        return Err(Failure::Here(format!("You aren't signed in{place}: there is nothing to forget")));
    };
    let is_revoked = !arguments.keep_key && end(&stored).await?;
    file.remove()?;
    let api = stored.api;
    output.answer(&RevokeApiKeyResponse { success: is_revoked }, |_| {
        vec![match is_revoked {
            true => format!("Signed out of {api}: its key is revoked."),
            false => format!("Forgot the key for {api}, which is still valid."),
        }]
    })
}

/// Revokes the key, if a sign-in made it, and ends that sign-in. Whether there was one.
async fn end(stored: &Credentials) -> Result<bool, Failure> {
    let (Some(token), Some(_)) = (&stored.token, &stored.key_id) else { return Ok(false) };
    let artist = Service::new(&stored.api, &Credential::Token(token))?;
    match sign_in::revoke(&artist, stored).await {
        Ok(()) => {}
        // It was revoked elsewhere.
        Err(Failure::Refused(refusal)) if refusal.status == 404 => {}
        Err(Failure::Refused(refusal)) if refusal.status == 401 => {
            return Err(Failure::Here(
                "The key isn't revoked, since the sign-in that made it has ended: run `moments sign-in` with your mail \
                 address again, which revokes it, and sign out then; or forget it with `moments sign-out --keep-key`"
                    .to_owned(),
            ));
        }
        Err(failure) => return Err(failure),
    }
    let this = LogOutRequest::builder();
    // The token ends by itself within the hour.
    let _ = ask(Repeat::Safely, || artist.client.log_out().body(this.clone()).send()).await;
    Ok(true)
}
