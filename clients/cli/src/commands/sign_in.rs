//! `moments sign-in`: a mailed code becomes an API key, or a given key is checked; then it is stored.

use moments_client::types::{
    CreateApiKeyRequest, Email, KeyName, LogInRequest, OneTimeCode, ReadMeResponse, SendCodeRequest,
};

use super::account;
use crate::{
    address::ApiAddress,
    arguments::SignIn,
    credentials::{Credentials, CredentialsFile},
    failure::Failure,
    output::{self, Output},
    service::{Credential, Repeat, Service, ask},
    session,
};

/// Signs in, and prints who it is.
pub async fn run(arguments: SignIn, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let api = session::address(api)?;
    let file = CredentialsFile::of_user()?;
    let me = match (&arguments.key, &arguments.email) {
        (Some(key), _) => with_key(&api, key, &file).await?,
        (None, Some(email)) => with_code(&api, email, &arguments, &file).await?,
        (None, None) => return Err(Failure::Usage("a mail address or --key is needed".to_owned())),
    };
    output.answer(&me, |me| {
        let mut lines = vec![format!("Signed in to {api}.")];
        lines.extend(account::described(me));
        lines
    })
}

/// Checks and stores a key of the artist's.
async fn with_key(api: &ApiAddress, given: &str, file: &CredentialsFile) -> Result<ReadMeResponse, Failure> {
    let key = if given == "-" { output::question("The API key: ")? } else { given.to_owned() };
    let me = whose(api, &key).await?;
    file.write(&Credentials { api: api.clone(), key, token: None, key_id: None })?;
    Ok(me)
}

/// Makes and stores a key, with a code from the mail.
async fn with_code(
    api: &ApiAddress,
    email: &str,
    arguments: &SignIn,
    file: &CredentialsFile,
) -> Result<ReadMeResponse, Failure> {
    let email: Email = email.parse().map_err(|error| Failure::option("the mail address", error))?;
    let name: KeyName = arguments.name.parse().map_err(|error| Failure::option("--name", error))?;
    let anybody = Service::new(api, &Credential::Nobody)?;
    let code = match &arguments.code {
        Some(code) => code.clone(),
        None => ask_for_code(&anybody, &email).await?,
    };
    let code: OneTimeCode = code.parse().map_err(|_| Failure::Usage("the code has six digits".to_owned()))?;
    let login = LogInRequest::builder().email(email).code(code);
    let login = ask(Repeat::IfUndone, || anybody.client.log_in().body(login.clone()).send()).await?;
    let artist = Service::new(api, &Credential::Token(&login.token))?;
    let key = CreateApiKeyRequest::builder().name(name);
    let key = ask(Repeat::IfUndone, || artist.client.create_api_key().body(key.clone()).send()).await?.api_key;
    let me = whose(api, &key).await?;
    let former = file.read().ok().flatten();
    let key_id = me.key_id.as_ref().map(|id| id.to_string());
    let credentials = Credentials { api: api.clone(), key, token: Some(login.token), key_id };
    if let Err(failure) = file.write(&credentials) {
        // Nobody would know the key any more.
        let _ = revoke(&artist, &credentials).await;
        return Err(failure);
    }
    // The key of an earlier sign-in is of no use now, unless it is another artist's, whom this token can't speak for.
    if let Some(former) = former.filter(|former| former.api == *api) {
        let _ = revoke(&artist, &former).await;
    }
    Ok(me)
}

/// Has a code mailed, and asks for it.
async fn ask_for_code(service: &Service, email: &Email) -> Result<String, Failure> {
    let recipient = SendCodeRequest::builder().email(email.clone());
    ask(Repeat::IfUndone, || service.client.send_code().body(recipient.clone()).send()).await?;
    output::tell(&format!("A code was mailed to {}.", **email));
    let code = output::question("The code from the mail: ")?;
    if code.is_empty() {
        let again = format!("`moments sign-in {} --code` and the code from the mail", **email);
        return Err(Failure::Here(format!("No code was given: go on with {again}")));
    }
    Ok(code)
}

/// Whose a key is.
async fn whose(api: &ApiAddress, key: &str) -> Result<ReadMeResponse, Failure> {
    let service = Service::new(api, &Credential::Key(key))?;
    ask(Repeat::Safely, || service.client.read_me().send()).await
}

/// Revokes the key that a sign-in made, with the artist's token.
pub async fn revoke(artist: &Service, credentials: &Credentials) -> Result<(), Failure> {
    let Some(id) = &credentials.key_id else { return Ok(()) };
    ask(Repeat::Safely, || artist.client.revoke_api_key().key_id(id.as_str()).send()).await?;
    Ok(())
}
