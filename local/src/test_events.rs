//! Test events for a running stack: their files name artists, keys and moments that exist nowhere, and here get those of an
//! artist who signs in for it, so that each request reaches its endpoint's code and succeeds.

use std::fs;

use alloy::signers::{SignerSync, local::PrivateKeySigner};
use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    Error,
    artists::{DemoArtist, SignedIn, mint_usdc, prove_by_mail, prove_email},
    authenticator::{Authenticator, origin},
    functions::Invocation,
    gallery::{Session, WorkFile},
    mail,
    paths::Paths,
    patience::eventually,
    queue::queue_unserved,
    receiver,
    stack_map::StackMap,
};

/// Example values of the files. One address stands for whatever an event is about: a collection, an artist, a split.
mod example {
    pub(super) const ADDRESS: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";
    pub(super) const ARTIST: &str = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
    pub(super) const ACCOUNT: &str = "0x2c36d01b9a4bcb4e2ebb5a3a56e9a3b9a8c6b6e1";
    pub(super) const CID: &str = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
    pub(super) const CLAIM: &str = "019a2b3c-4d5e-7f60-8172-839405a6b7c8";
    pub(super) const CLAIM_TOKEN: &str = "n4dMF6szORUwX3KWL9LwNQ";
    pub(super) const CODE: &str = "123456";
    pub(super) const DELIVERY: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5e";
    pub(super) const DEVICE: &str = "9b74c9897bac770ffc029102a200c5de1f2a3b4c5d6e7f8091a2b3c4d5e6f701";
    pub(super) const EMAIL: &str = "event@example.com";
    pub(super) const KEY: &str = "01934b2e-7c1a-7f3e-9d2b-5a6c7d8e9f10";
    pub(super) const LINK: &str = "tzDP2OZ_BkGuSgOFBWbKQBTqpQmnJkGN0yYkD7bTAgqfh0wXqzM5FTBfcpYv0vA1";
    pub(super) const OTHER: &str = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    pub(super) const PAYOUT: &str = "0x00000000000000000000000000000000000000a1";
    pub(super) const PICTURE: &str = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
    pub(super) const TRANSACTION: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c";
    pub(super) const USERNAME: &str = "ada.lovelace";
    pub(super) const WEBHOOK: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d";
}

const CHAIN: u64 = 8453;

/// What an event's example values become.
type Values = Vec<(&'static str, String)>;

/// Who sends test events to a stack, and what they are about.
pub struct TestEvents<'a> {
    paths: &'a Paths,
    stack: &'a StackMap,
    http: Client,
    artist: DemoArtist,
    /// The artist's, with the free moments 1 and 2, which are pictures.
    collection: String,
    cid: String,
}

impl<'a> TestEvents<'a> {
    /// Signs an artist in, with money and a key, and publishes a moment.
    pub async fn prepare(paths: &'a Paths, stack: &'a StackMap) -> Result<Self, Error> {
        let artist = new_artist(stack).await?.equip(stack, "event").await?;
        let mut this =
            Self { paths, stack, http: Client::new(), artist, collection: String::new(), cid: String::new() };
        let uri = this.session().upload(this.picture()?).await?;
        let token = json!({
            "metadata": {"name": "First Light", "image": uri, "content": {"mime": "image/png", "uri": uri}},
            "salesConfig": {"type": "fixedPrice", "pricePerToken": "0", "saleStart": "0"},
        });
        let body = json!({"contract": {"name": "First Light", "uri": uri}, "tokens": [token, token]});
        let made = this.send(Method::POST, "/moment/create-batch", &body).await?;
        this.cid = uri.trim_start_matches("ipfs://").to_owned();
        this.collection = text(&made, "contractAddress")?;
        this.indexed("2", |_| true).await?;
        Ok(this)
    }

    /// The function's event file with values of the stack. What a request uses up, such as a code, is made for it.
    pub async fn event(&self, function: &str) -> Result<Value, Error> {
        let file = self.paths.root().join(format!("events/{function}.json"));
        let mut event =
            fs::read_to_string(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        if !event.contains("\"requestContext\"") {
            return Ok(serde_json::from_str(&event)?);
        }
        // Whoever is deleted or signed out everywhere sends nothing any more.
        let stranger = match function {
            "delete-artist" | "log-out" => Some(new_artist(self.stack).await?),
            // Who has a passkey needs it for much else, and mailboxes get few codes.
            "challenge-passkey" | "add-passkey" | "list-passkeys" | "remove-passkey" | "ask-proof" | "give-proof"
            | "change-email" | "keep-email" => Some(new_artist(self.stack).await?),
            _ => None,
        };
        for (example, value) in self.values(function).await?.into_iter().chain(self.common_values()) {
            event = event.replace(example, &value);
        }
        let mut event: Value = serde_json::from_str(&event)?;
        match function {
            "connect-wallet" => event["body"] = self.proof(&PrivateKeySigner::random()).await?.to_string().into(),
            "use-wallet" => event["body"] = self.sign_in_proof().await?.to_string().into(),
            "add-passkey" => {
                let (_, body) = self.made_passkey(signed_in(&stranger)?).await?;
                event["body"] = body.to_string().into();
            }
            "remove-passkey" => {
                let artist = signed_in(&stranger)?;
                let listed = self.added_passkey(artist).await?.1;
                let id = text(&listed["passkeys"][0], "id")?;
                let proof = self.proved(artist, "removePasskey", &id).await?;
                event["body"] = json!({"proof": proof}).to_string().into();
                event["rawQueryString"] = format!("passkeyId={id}").into();
                event["queryStringParameters"]["passkeyId"] = id.into();
            }
            "give-proof" => {
                let artist = signed_in(&stranger)?;
                let seen = mail::mails_to(&self.stack.mail, &artist.email).await?.len();
                let asked = json!({"act": "changeEmail", "subject": unused_email()});
                let asked = self.post("/artists/proofs", Some(&artist.token), &asked).await?;
                let code = mail::newest_code(&self.stack.mail, &artist.email, seen).await?;
                event["body"] = json!({"proof": asked["proof"], "code": code}).to_string().into();
            }
            "change-email" => event["body"] = self.proved_email(signed_in(&stranger)?).await?.to_string().into(),
            "keep-email" => {
                let artist = signed_in(&stranger)?;
                let body = self.proved_email(artist).await?;
                self.post("/artists/email", Some(&artist.token), &body).await?;
            }
            "use-passkey" => {
                let (mut passkey, _) = self.added_passkey(&new_artist(self.stack).await?).await?;
                let begun = self.post("/oauth/passkey/challenge", None, &json!({})).await?;
                let credential = passkey.sign(&begun["publicKey"])?;
                event["body"] = json!({"ceremony": begun["ceremony"], "credential": credential}).to_string().into();
            }
            _ => {}
        }
        for (header, value) in [
            (
                "authorization",
                format!("Bearer {}", stranger.as_ref().map_or(&self.artist.token, |artist| &artist.token)),
            ),
            ("x-api-key", self.artist.key.clone()),
            ("idempotency-key", unique()),
        ] {
            if let Some(given) = event["headers"].get_mut(header) {
                *given = value.into();
            }
        }
        Ok(event)
    }

    /// Sends the function its event and returns what it answers.
    pub async fn send_to(&self, function: &str) -> Result<Value, Error> {
        let event = self.event(function).await?;
        Invocation::of(&self.stack.lambda, function).send(&event).await
    }

    /// A new claim link's id and token.
    async fn claim_link(&self) -> Result<(String, String), Error> {
        let moment = json!({"collectionAddress": self.collection, "tokenId": "1", "chainId": CHAIN});
        let link = self.send(Method::POST, "/moment/claims", &json!({"moment": moment, "count": 1})).await?;
        let (id, url) = (text(&link, "claimId")?, text(&link, "url")?);
        Ok((id, url.rsplit('/').next().unwrap_or_default().to_owned()))
    }

    /// Another collection, and a moment that nobody else needs where it is.
    async fn movable(&self) -> Result<(String, String), Error> {
        let made = json!({"name": "Elsewhere", "uri": "ar://elsewhere"});
        let there = text(&self.send(Method::POST, "/collections", &made).await?, "contractAddress")?;
        let token = json!({"tokenMetadataURI": "ar://moved", "salesConfig": {}});
        let moment = json!({"contract": {"address": self.collection}, "token": token});
        let id = text(&self.send(Method::POST, "/moment/create", &moment).await?, "tokenId")?;
        self.indexed(&id, |_| true).await?;
        Ok((there, id))
    }

    async fn proved_email(&self, artist: &SignedIn) -> Result<Value, Error> {
        prove_email(self.stack, &artist.token, &artist.email, &unused_email()).await
    }

    fn common_values(&self) -> Values {
        vec![
            (example::ADDRESS, self.collection.clone()),
            (example::ARTIST, self.artist.account.clone()),
            (example::ACCOUNT, self.artist.account.clone()),
            (example::CID, self.cid.clone()),
            (example::USERNAME, format!("event{}", unique().get(..8).unwrap_or_default())),
        ]
    }

    /// Values for one function alone.
    async fn values(&self, function: &str) -> Result<Values, Error> {
        Ok(match function {
            "challenge-sign-in" | "challenge-wallet" => vec![(example::ADDRESS, lower(&PrivateKeySigner::random()))],
            "disconnect-wallet" => {
                let wallet = PrivateKeySigner::random();
                self.as_artist("/artists/wallets", &self.proof(&wallet).await?).await?;
                vec![(example::ADDRESS, lower(&wallet))]
            }
            "read-artist" | "serve-artist-page" => vec![(example::ADDRESS, self.artist.account.clone())],
            "complete-upload" => vec![(example::TRANSACTION, self.upload().await?)],
            "delete-upload" => {
                let id = self.upload().await?;
                self.send(Method::POST, &format!("/uploads/{id}/complete"), &json!({})).await?;
                vec![(example::TRANSACTION, id)]
            }
            "read-transaction" => {
                let listed = self.read("/transactions?limit=1").await?;
                vec![(example::TRANSACTION, text(&listed["transactions"][0], "id")?)]
            }
            "cancel-transaction" => {
                vec![(example::TRANSACTION, queue_unserved(self.stack, &self.artist.account).await?)]
            }
            "read-preview" => {
                let moment = self.indexed("1", |it| it["metadata"]["previews"][0]["url"].is_string()).await?;
                let address = text(&moment["metadata"]["previews"][0], "url")?;
                vec![(example::PICTURE, address.rsplit('/').nth(1).unwrap_or_default().to_owned())]
            }
            "create-split" | "read-split" | "distribute-split" => self.split(function).await?,
            "delete-webhook" | "list-deliveries" | "read-webhook" | "redeliver-webhook" | "rotate-webhook"
            | "test-webhook" | "update-webhook" => self.webhook(function).await?,
            "send-code" | "ask-proof" => vec![(example::EMAIL, unused_email())],
            "log-in" => {
                let email = unused_email();
                self.post("/oauth/code", None, &json!({"email": email})).await?;
                let code = mail::newest_code(&self.stack.mail, &email, 0).await?;
                vec![(example::EMAIL, email), (example::CODE, code)]
            }
            "use-link" => {
                let email = unused_email();
                self.post("/oauth/code", None, &json!({"email": email})).await?;
                mail::newest_code(&self.stack.mail, &email, 0).await?;
                let mails = mail::mails_to(&self.stack.mail, &email).await?;
                vec![(example::LINK, mails.last().and_then(mail::link_in).ok_or("the mail has no link")?.to_owned())]
            }
            "forget-device" => {
                let email = &self.artist.email;
                let seen = mail::mails_to(&self.stack.mail, email).await?.len();
                self.post("/oauth/code", None, &json!({"email": email})).await?;
                let code = mail::newest_code(&self.stack.mail, email, seen).await?;
                self.post("/oauth/login", None, &json!({"email": email, "code": code, "remember": true})).await?;
                let activity = self.read("/artists/activity").await?;
                vec![(example::DEVICE, text(&activity["devices"][0], "id")?)]
            }
            "revoke-api-key" => {
                self.as_artist("/artists/api-keys", &json!({"name": "Spare"})).await?;
                let listed = self.read("/artists/api-keys").await?;
                let keys = listed["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
                let spare = keys.iter().find(|key| key["name"] == "Spare").ok_or("the key isn't listed")?;
                vec![(example::KEY, text(spare, "id")?)]
            }
            "remove-payout-address" => {
                self.as_artist("/artists/payout-addresses", &json!({"address": example::PAYOUT})).await?;
                Vec::new()
            }
            "add-collection-admin" | "grant-permission" => vec![(example::OTHER, lower(&PrivateKeySigner::random()))],
            "remove-collection-admin" => {
                let admin = lower(&PrivateKeySigner::random());
                let path = format!("/collections/eip155:{CHAIN}/erc1155:{}/admins", self.collection);
                self.send(Method::POST, &path, &json!({"adminAddress": admin})).await?;
                vec![(example::OTHER, admin)]
            }
            "revoke-permission" => {
                let admin = lower(&PrivateKeySigner::random());
                let moment = json!({"collectionAddress": self.collection, "tokenId": "1", "chainId": CHAIN});
                let granted = json!({"moment": moment, "adminAddress": admin});
                self.send(Method::POST, "/moment/permission", &granted).await?;
                vec![(example::OTHER, admin)]
            }
            "move-moment" => {
                let (there, token) = self.movable().await?;
                vec![(example::OTHER, there), (r#"\"tokenId\": \"1\""#, format!(r#"\"tokenId\": \"{token}\""#))]
            }
            "claim-moment" => vec![(example::CLAIM_TOKEN, self.claim_link().await?.1)],
            "delete-claim-link" => vec![(example::CLAIM, self.claim_link().await?.0)],
            "read-allow-list" => {
                let moment = json!({"collectionAddress": self.collection, "tokenId": "1", "chainId": CHAIN});
                let list = json!({"moment": moment, "entries": [{"account": example::PAYOUT}]});
                self.send(Method::POST, "/moment/allow-list", &list).await?;
                self.indexed("1", |moment| moment["allowList"].is_object()).await?;
                Vec::new()
            }
            // Others show the first.
            "hide-moment" => vec![(r#"\"tokenId\": \"1\""#, r#"\"tokenId\": \"2\""#.to_owned())],
            "withdraw-funds" => vec![(example::ACCOUNT, self.old_wallet().await?)],
            _ => Vec::new(),
        })
    }

    /// A split, where the event is about one, with something to distribute.
    async fn split(&self, function: &str) -> Result<Values, Error> {
        let recipients = [self.artist.account.as_str(), example::OTHER];
        if function == "create-split" {
            return Ok(vec![(example::PAYOUT, lower(&PrivateKeySigner::random()))]);
        }
        let shares = recipients.map(|address| json!({"address": address, "percentAllocation": 50}));
        let split = text(&self.send(Method::POST, "/splits", &json!({"splits": shares})).await?, "splitAddress")?;
        mint_usdc(self.stack, &CHAIN.to_string(), &split).await?;
        self.wait_for(&format!("/splits/eip155:{CHAIN}/{split}"), |_| true).await?;
        Ok(vec![(example::ADDRESS, split)])
    }

    /// A webhook. One that is to be delivered to again has a delivery that came.
    async fn webhook(&self, function: &str) -> Result<Values, Error> {
        if function != "redeliver-webhook" {
            return Ok(vec![(example::WEBHOOK, self.new_webhook("https://example.com/moments").await?)]);
        }
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let id = self.new_webhook(&format!("http://{}/", listener.local_addr()?)).await?;
        let receiver = axum::Router::new().fallback(receiver::take);
        let receiver = tokio::spawn(axum::serve(listener, receiver).into_future());
        let delivery = text(&self.as_artist(&format!("/webhooks/{id}/test"), &json!({})).await?, "id")?;
        eventually(format!("{delivery} is delivered"), async || {
            let deliveries = self.read(&format!("/webhooks/{id}/deliveries")).await?;
            Ok((deliveries["deliveries"][0]["status"] == "delivered").then_some(()))
        })
        .await?;
        receiver.abort();
        Ok(vec![(example::WEBHOOK, id), (example::DELIVERY, delivery)])
    }

    async fn new_webhook(&self, url: &str) -> Result<String, Error> {
        let made = self.as_artist("/webhooks", &json!({"url": url, "types": ["moment.collected"]})).await?;
        text(&made["webhook"], "id")
    }

    /// A wallet of the artist that is connected for long enough to be paid.
    async fn old_wallet(&self) -> Result<String, Error> {
        let wallet = PrivateKeySigner::random();
        self.as_artist("/artists/wallets", &self.proof(&wallet).await?).await?;
        let endpoints = self.stack.endpoints();
        let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&self.stack.dynamodb).await);
        let table = self.stack.names.get("ArtistTable").ok_or("the stack has no ArtistTable")?;
        let call = client.update_item().table_name(table).update_expression("SET connected_at = :then");
        let call = call.key("pk", AttributeValue::S(format!("WALLET#{}", lower(&wallet))));
        let call = call.key("sk", AttributeValue::S("ARTIST".to_owned()));
        call.expression_attribute_values(":then", AttributeValue::N("1700000000".to_owned())).send().await?;
        Ok(lower(&wallet))
    }

    /// A body that proves to own the wallet.
    async fn proof(&self, wallet: &PrivateKeySigner) -> Result<Value, Error> {
        signed(wallet, &self.as_artist("/artists/wallets/challenge", &json!({"address": lower(wallet)})).await?)
    }

    /// A new passkey, and the body that adds it.
    async fn made_passkey(&self, artist: &SignedIn) -> Result<(Authenticator, Value), Error> {
        let begun = self.post("/artists/passkeys/challenge", Some(&artist.token), &Value::Null).await?;
        let (passkey, credential) = Authenticator::create(&begun["publicKey"], &origin(&self.stack.api)?)?;
        let ceremony = text(&begun, "ceremony")?;
        let proof = self.proved(artist, "addPasskey", &ceremony).await?;
        Ok((passkey, json!({"ceremony": ceremony, "credential": credential, "proof": proof})))
    }

    /// An added passkey, and the list with it.
    async fn added_passkey(&self, artist: &SignedIn) -> Result<(Authenticator, Value), Error> {
        let (passkey, body) = self.made_passkey(artist).await?;
        Ok((passkey, self.post("/artists/passkeys", Some(&artist.token), &body).await?))
    }

    /// A proof by the artist's mailbox.
    async fn proved(&self, artist: &SignedIn, act: &str, subject: &str) -> Result<String, Error> {
        prove_by_mail(self.stack, &artist.token, &artist.email, act, subject).await
    }

    async fn sign_in_proof(&self) -> Result<Value, Error> {
        let wallet = PrivateKeySigner::random();
        signed(&wallet, &self.post("/oauth/wallet/challenge", None, &json!({"address": lower(&wallet)})).await?)
    }

    fn session(&self) -> Session<'_> {
        Session::new(&self.artist, &self.stack.api, &self.http)
    }

    /// The id of an upload whose bytes are there, and are no other file's.
    async fn upload(&self) -> Result<String, Error> {
        let picture = self.picture()?;
        let bytes = [&picture.bytes[..], unused_email().as_bytes()].concat();
        let announced = json!({"contentType": picture.mime, "size": bytes.len()});
        let begun = self.send(Method::POST, "/uploads", &announced).await?;
        let url = begun["parts"][0]["url"].as_str().unwrap_or_default();
        self.http.put(url).body(bytes).send().await?.error_for_status()?;
        text(&begun, "uploadId")
    }

    fn picture(&self) -> Result<WorkFile, Error> {
        WorkFile::read(self.paths, "first-light.png")
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        self.session().send(method, path, body).await
    }

    async fn as_artist(&self, path: &str, body: &Value) -> Result<Value, Error> {
        self.post(path, Some(&self.artist.token), body).await
    }

    async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Result<Value, Error> {
        crate::artists::post(&format!("{}{path}", self.stack.api), token, body).await
    }

    /// Reads what only the artist may.
    async fn read(&self, path: &str) -> Result<Value, Error> {
        let request = self.http.get(format!("{}{path}", self.stack.api)).bearer_auth(&self.artist.token);
        Ok(request.send().await?.error_for_status()?.json().await?)
    }

    /// The moment with this number, once it is as wanted.
    async fn indexed(&self, token: &str, is_ready: impl Fn(&Value) -> bool) -> Result<Value, Error> {
        self.wait_for(&format!("/moment?collectionAddress={}&tokenId={token}", self.collection), is_ready).await
    }

    /// Reads until the answer is there and as wanted.
    async fn wait_for(&self, path: &str, is_ready: impl Fn(&Value) -> bool) -> Result<Value, Error> {
        eventually(format!("{path} is ready"), async || {
            let answer = self.http.get(format!("{}{path}", self.stack.api)).send().await?;
            if !answer.status().is_success() {
                return Ok(None);
            }
            let body: Value = answer.json().await?;
            Ok(is_ready(&body).then_some(body))
        })
        .await
    }
}

async fn new_artist(stack: &StackMap) -> Result<SignedIn, Error> {
    SignedIn::by_mail(&stack.api, &stack.mail, &unused_email()).await
}

fn unused_email() -> String {
    format!("event-{}@example.com", unique())
}

/// 40 hexadecimal digits that nobody had before.
fn unique() -> String {
    alloy::hex::encode(PrivateKeySigner::random().address())
}

fn signed_in(artist: &Option<SignedIn>) -> Result<&SignedIn, Error> {
    artist.as_ref().ok_or_else(|| "nobody is signed in".into())
}

fn signed(wallet: &PrivateKeySigner, challenge: &Value) -> Result<Value, Error> {
    let message = text(challenge, "message")?;
    let signature = wallet.sign_message_sync(message.as_bytes())?.to_string();
    Ok(json!({"message": message, "signature": signature}))
}

fn lower(wallet: &PrivateKeySigner) -> String {
    wallet.address().to_string().to_lowercase()
}

fn text(answer: &Value, field: &str) -> Result<String, Error> {
    Ok(answer[field].as_str().ok_or_else(|| format!("no {field} in {answer}"))?.to_owned())
}
