//! Demo artists: signed in by a mailed code, then with money and a key.

use alloy::{
    primitives::{Address, U256, keccak256},
    providers::{RootProvider, ext::AnvilApi},
    sol,
    sol_types::SolCall,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use reqwest::Method;
use serde_json::{Value, json};
use shared::model::ArtistId;
use uuid::Uuid;

use crate::{Error, http, mail, node::transact, stack_map::StackMap};

/// Balance of each artist on every chain: 10 ETH.
const ETHER: &str = "0x8ac7230489e80000";

/// And 1,000 USDC, in its 6 decimals.
const USDC: u64 = 1_000_000_000;

/// What whoever mints them has for gas: 1 ETH.
const GAS: u64 = 1_000_000_000_000_000_000;

sol! {
    interface Currency {
        function mint(address account, uint256 amount) external;
    }
}

/// A signed-in artist.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Mail address.
    pub email: String,
    /// Account.
    pub account: String,
    /// Token.
    pub token: String,
}

/// An artist with money and a key.
#[derive(Clone, Debug)]
pub struct DemoArtist {
    /// Public name, for people.
    pub username: String,
    /// Mail address.
    pub email: String,
    /// Account.
    pub account: String,
    /// Token.
    pub token: String,
    /// A key that may do all that keys can.
    pub key: String,
}

/// A new mail address with the proofs by it and by the artist's present one: the body of `POST /artists/email`.
pub async fn prove_email(stack: &StackMap, token: &str, present: &str, email: &str) -> Result<Value, Error> {
    let new = prove_by_mail(stack, token, email, "newEmail", email).await?;
    let own = prove_by_mail(stack, token, present, "changeEmail", email).await?;
    Ok(json!({"email": email, "newProof": new, "proof": own}))
}

/// A proof of an act by the code that a mailbox got.
pub async fn prove_by_mail(
    stack: &StackMap,
    token: &str,
    mailbox: &str,
    act: &str,
    subject: &str,
) -> Result<String, Error> {
    let url = format!("{}/artists/proofs", stack.api);
    let seen = mail::mails_to(&stack.mail, mailbox).await?.len();
    let asked = post(&url, Some(token), &json!({"act": act, "subject": subject})).await?;
    let proof = asked["proof"].as_str().ok_or("no proof was asked for")?.to_owned();
    let code = mail::newest_code(&stack.mail, mailbox, seen).await?;
    send(Method::PUT, &url, Some(token), &json!({"proof": proof, "code": code})).await?;
    Ok(proof)
}

impl SignedIn {
    /// Signs an artist in with a mailed code.
    pub async fn by_mail(api: &str, mail: &str, email: &str) -> Result<Self, Error> {
        post(&format!("{api}/oauth/code"), None, &json!({"email": email})).await?;
        let code = mail::newest_code(mail, email, 0).await?;
        let answer = post(&format!("{api}/oauth/login"), None, &json!({"email": email, "code": code})).await?;
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        let token = text("token").ok_or("sign-in gave no token")?;
        let account = text("social_wallet").ok_or("sign-in gave no wallet")?;
        Ok(Self { email: email.to_owned(), account, token })
    }

    /// Id of the artist, from the token.
    pub fn id(&self) -> Result<ArtistId, Error> {
        let claims = self.token.split('.').nth(1).unwrap_or_default();
        let claims: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims)?)?;
        Ok(claims["sub"].as_str().unwrap_or_default().parse()?)
    }

    /// Gives the artist money on every chain, and a key.
    pub async fn equip(self, map: &StackMap, username: &str) -> Result<DemoArtist, Error> {
        let Self { email, account, token } = self;
        for (chain, url) in &map.rpc {
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": [account, ETHER]});
            post(url, None, &call).await?;
            mint_usdc(map, chain, &account).await?;
        }
        let scopes = ["publish", "collect", "admin"];
        let wanted = json!({"name": "Demo", "scopes": scopes, "dailySpend": {"eth": "1000000000000000000"}});
        let made = post(&format!("{}/artists/api-keys", map.api), Some(&token), &wanted).await?;
        let key = made["apiKey"].as_str().ok_or_else(|| format!("{email} got no key"))?.to_owned();
        Ok(DemoArtist { username: username.to_owned(), email, account, token, key })
    }
}

/// Gives an account 1,000 USDC on a chain, where there are any.
pub(crate) async fn mint_usdc(map: &StackMap, chain: &str, account: &str) -> Result<(), Error> {
    let usdc = map.contracts.get(chain).and_then(|contracts| contracts.get("usdc"));
    let (Some(usdc), Some(url)) = (usdc, map.rpc.get(chain)) else { return Ok(()) };
    let node: RootProvider = RootProvider::connect(url).await?;
    // A sender per call, so that concurrent calls don't compete for nonces.
    let payer = Address::from_word(keccak256(Uuid::new_v4()));
    node.anvil_impersonate_account(payer).await?;
    node.anvil_set_balance(payer, U256::from(GAS)).await?;
    let mint = Currency::mintCall { account: account.parse()?, amount: U256::from(USDC) }.abi_encode();
    transact(&node, "USDC", payer, usdc.parse()?, U256::ZERO, mint).await?;
    Ok(())
}

pub(crate) async fn post(url: &str, token: Option<&str>, body: &Value) -> Result<Value, Error> {
    send(Method::POST, url, token, body).await
}

async fn send(method: Method, url: &str, token: Option<&str>, body: &Value) -> Result<Value, Error> {
    let request = http::client().request(method.clone(), url).json(body);
    let request = token.iter().fold(request, |request, token| request.bearer_auth(token));
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        return Err(format!("{method} {url} answered {status}: {text}").into());
    }
    Ok(serde_json::from_str(&text)?)
}
