//! The published contract: it is served, has every route, and the service accepts all of its examples.

use std::collections::BTreeSet;

use alloy::signers::local::PrivateKeySigner;
use local::{paths::Paths, queue::queue_unserved};
use reqwest::Method;
use serde_json::{Value, json};
use shared::model::DeviceToken;
use tests::{Answer, Sandbox, Stack, Writer, ceremony_of, eventually, personal_sign, picture, unused_email};

/// Values in the examples that each run replaces by existing ones.
const EXAMPLE_ADDRESS: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";
/// A wallet with money on local chains.
const EXAMPLE_WALLET: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
/// A recipient in the examples: an unused address.
const EXAMPLE_OTHER_COLLECTION: &str = "0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0";
const EXAMPLE_PERSON: &str = "0x00000000000000000000000000000000000000a1";
const EXAMPLE_EMAIL: &str = "ada@example.com";
const EXAMPLE_CODE: &str = "123456";
const EXAMPLE_LINK: &str = "tzDP2OZ_BkGuSgOFBWbKQBTqpQmnJkGN0yYkD7bTAgqfh0wXqzM5FTBfcpYv0vA1";
/// What a mail's link stops mails of news with.
const EXAMPLE_UNSUBSCRIBE: &str = "019a2b3c-4d5e-7f60-8172-839405a6b7c8.6c1f2f6e-6f0e-4b7e-9d8a-3f1c2b4d5e6f";
const EXAMPLE_DEVICE: &str = "9b74c9897bac770ffc029102a200c5de1f2a3b4c5d6e7f8091a2b3c4d5e6f701";
const EXAMPLE_CLAIM_TOKEN: &str = "n4dMF6szORUwX3KWL9LwNQ";
/// Also the example of a claim link's id.
const EXAMPLE_KEY_ID: &str = "019a2b3c-4d5e-7f60-8172-839405a6b7c8";
const EXAMPLE_CID: &str = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
/// Also the example of an upload's id.
const EXAMPLE_TRANSACTION: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5c";
/// Also the example of a file's hash.
const EXAMPLE_PICTURE: &str = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
const EXAMPLE_WEBHOOK: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5d";
const EXAMPLE_DELIVERY: &str = "019a8b7c-5d4e-7f3a-9b2c-1d0e8f7a6b5e";

struct Operation<'a> {
    document: &'a Value,
    method: String,
    path: String,
    value: &'a Value,
}

fn document() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).expect("JSON")
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, item)| {
            item.as_object().into_iter().flatten().map(move |(method, value)| (path, method, value))
        })
        .map(|(path, method, value)| Operation { document, method: method.to_uppercase(), path: path.clone(), value })
        .collect()
}

impl Operation<'_> {
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(value)
    }

    fn header_parameters(&self) -> impl Iterator<Item = &Value> {
        let parameters = self.value["parameters"].as_array().into_iter().flatten().map(|value| self.resolve(value));
        parameters.filter(|parameter| parameter["in"] == "header")
    }

    /// Place, name and example of each parameter except headers.
    fn parameters(&self) -> Vec<(String, String, String)> {
        let parameters = self.value["parameters"].as_array().into_iter().flatten().map(|value| self.resolve(value));
        parameters
            // Where a page begins is one list's alone.
            .filter(|parameter| parameter["in"] != "header" && parameter["name"] != "until")
            .filter_map(|parameter| {
                let schema = self.resolve(&parameter["schema"]);
                let own = [&parameter["example"], &parameter["schema"]["default"], &schema["examples"][0]];
                let example = own.into_iter().find(|value| !value.is_null())?;
                let text = example.as_str().map_or_else(|| example.to_string(), ToOwned::to_owned);
                Some((parameter["in"].as_str()?.to_owned(), parameter["name"].as_str()?.to_owned(), text))
            })
            .collect()
    }
}

/// Routes of pages and their files, which no program calls.
fn is_page(path: &str) -> bool {
    ["/clients", "/docs", "/manage", "/pages"].iter().any(|page| path == *page || path.starts_with(&format!("{page}/")))
}

#[test]
fn contract_has_exactly_the_template_s_routes() {
    let routes = Paths::of_checkout().template().expect("a template").routes().expect("routes");
    let routes: BTreeSet<_> =
        routes.into_iter().map(|route| (route.path, route.method)).filter(|(path, _)| !is_page(path)).collect();
    let document = document();
    let described = operations(&document).into_iter().map(|operation| (operation.path, operation.method)).collect();
    assert_eq!(routes, described);
}

#[test]
fn schemas_are_used_and_references_resolve() {
    let document = document();
    let text = document.to_string();
    let used: BTreeSet<_> =
        text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).map(ToOwned::to_owned).collect();
    for pointer in &used {
        assert!(document.pointer(pointer).is_some(), "nothing at {pointer}");
    }
    for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
        assert!(used.contains(&format!("/components/schemas/{name}")), "{name} is never used: run `make openapi`");
    }
}

#[test]
fn every_operation_is_described() {
    let document = document();
    let tags: Vec<_> = document["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]).collect();
    for Operation { method, path, value, .. } in operations(&document) {
        assert!(!value["summary"].as_str().unwrap_or_default().is_empty(), "{method} {path} has no summary");
        assert!(tags.contains(&&value["tags"][0]), "{method} {path} is in no group");
        for parameter in value["parameters"].as_array().into_iter().flatten().filter(|value| value["$ref"].is_null()) {
            assert!(parameter["description"].is_string(), "{method} {path}: {} isn't described", parameter["name"]);
        }
        let body = &value["requestBody"]["content"]["application/json"];
        assert!(body.is_null() || body["example"].is_object(), "{method} {path} has no example");
        for (status, answer) in value["responses"].as_object().into_iter().flatten() {
            let answer = &answer["content"]["application/json"];
            assert!(answer.is_null() || answer["example"].is_object(), "{method} {path}: {status} has no example");
            assert!(answer.is_null() || answer["schema"]["$ref"].is_string(), "{method} {path}: {status} is inline");
        }
    }
}

#[tokio::test]
async fn document_is_served_as_checked_in() {
    let stack = Stack::connect();
    let answer = Answer::of(stack.get("/openapi.json")).await.expect_success();
    assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
    let chains = Answer::of(stack.get("/chains")).await.expect_success().body;
    let ids = chains["chains"].as_array().into_iter().flatten().map(|chain| chain["chainId"].to_string());
    let named = format!("EIP-155 id of a supported chain: {}.", Vec::from_iter(ids).join(", "));
    let mut served = document();
    served["components"]["schemas"]["ChainId"]["description"] = named.into();
    assert_eq!(answer.body, served, "the document names this stage's chains");
    let again = stack.get("/openapi.json").header("if-none-match", answer.header("etag"));
    assert_eq!(Answer::of(again).await.status, 304);
}

#[tokio::test]
async fn document_says_which_chain_is_meant_where_none_is_named() {
    let stack = Stack::connect();
    let sandbox = Sandbox::with_variables(&stack, "serve-api-docs", &[("DEFAULT_CHAIN", "84532")]).await;
    let mut event = sandbox.event();
    event["rawPath"] = "/api/openapi.json".into();
    event["requestContext"]["routeKey"] = "GET /openapi.json".into();
    let answer = sandbox.invoke(&event).await;
    let served: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
    let parameters = served["paths"]["/comments"]["get"]["parameters"].as_array().expect("parameters");
    let chain = parameters.iter().find(|parameter| parameter["name"] == "chainId").expect("a chain");
    assert_eq!(chain["schema"]["default"], 84_532);
    assert_eq!(served["components"]["schemas"]["MomentRef"]["properties"]["chainId"]["default"], 84_532);
}

/// What the schemas can't say.
#[test]
fn examples_of_answers_keep_the_rules() {
    let document = document();
    let example =
        |path: &str| &document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"];
    let reply = &example("/comments")["comments"][0];
    assert_eq!((&reply["replyCount"], &reply["replies"]), (&json!(0), &json!([])));
    assert!(reply["replyToId"].is_string() && reply["replyToId"] != reply["commentId"], "{reply}");
    assert!(reply["timestamp"].as_u64() > Some(1_500_000_000_000), "milliseconds: {reply}");
    let notification = &example("/notifications")["notifications"][0];
    assert_eq!(notification["created_at"], notification["payment"]["transferred_at"]);
    assert!(notification["created_at"].as_str().is_some_and(|time| time.ends_with("+00:00")), "{notification}");
    let proposal =
        &document["paths"]["/governance"]["post"]["responses"]["200"]["content"]["application/json"]["example"];
    let [targets, values, signatures, calldatas] =
        [0, 1, 2, 3].map(|at| proposal["args"][at][0].as_str().unwrap_or_default());
    assert!(
        targets.len() == 42 && values == "0" && signatures.ends_with(')') && calldatas.starts_with("0x"),
        "{proposal}"
    );
    assert!(proposal["args"][4].as_str().is_some_and(|text| text.starts_with("# ")), "{proposal}");
}

#[tokio::test]
async fn every_example_is_accepted() {
    let stack = Stack::connect();
    let document = document();
    let writer = stack.new_writer().await;
    let account = writer.artist.wallet.parse().expect("an address");
    stack.set_balance(account, 1_000_000_000_000_000_000).await;
    for operation in operations(&document) {
        let Operation { method, path, .. } = &operation;
        let (leaving, is_leaving);
        is_leaving = (method.as_str(), path.as_str()) == ("DELETE", "/artists/me");
        let writer = if is_leaving {
            leaving = stack.new_writer().await;
            &leaving
        } else {
            &writer
        };
        prepare(&stack, writer, &operation).await;
        // New content takes a moment to be indexed.
        let answer = eventually(format!("what the example of {method} {path} is about"), async || {
            let answer = send_example(&stack, writer, &operation).await;
            (method != "GET" || answer.status != 404).then_some(answer)
        })
        .await;
        let accepted = if method == "DELETE" { vec![200, 204] } else { vec![200, 201, 202] };
        assert!(accepted.contains(&answer.status), "the example of {method} {path}: {answer:?}");
    }
}

/// Sets up the state that an operation needs to succeed.
async fn prepare(stack: &Stack, writer: &Writer, operation: &Operation<'_>) {
    match (operation.method.as_str(), operation.path.as_str()) {
        ("DELETE", "/moment/permission") => {
            let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
            let grant = json!({"moment": moment, "adminAddress": EXAMPLE_PERSON});
            stack.write("/moment/permission", &writer.key, &grant, &[]).await.expect_success();
        }
        ("DELETE", "/collections/{network}/{contract}/admins") => {
            let admins = format!("/collections/eip155:8453/erc1155:{:#x}/admins", writer.collection);
            let admin = json!({"adminAddress": writer.collection});
            stack.write(&admins, &writer.key, &admin, &[]).await.expect_success();
        }
        ("POST", "/comments/{network}/{contract}/prepare") => {
            let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
            let gift = json!({"moment": moment, "recipients": [EXAMPLE_WALLET]});
            stack.write("/moment/airdrop", &writer.key, &gift, &[]).await.expect_success();
        }
        ("POST", "/smartwallet/withdraw") => {
            stack.add_old_payout_address(&writer.artist, EXAMPLE_PERSON.parse().expect("an address")).await;
        }
        ("DELETE", "/artists/payout-addresses") => {
            stack.add_payout_address(&writer.artist, writer.collection).await.expect_success();
        }
        ("POST", "/moment/migrate") => {
            stack.connect_wallet(&writer.artist, &PrivateKeySigner::random()).await.expect_success();
        }
        _ => {}
    }
}

/// A split in which money waits.
async fn filled_split(stack: &Stack, writer: &Writer) -> String {
    let shares = [(EXAMPLE_PERSON.parse().expect("an address"), 60), (writer.collection, 40)];
    let split = stack.new_split(&writer.key, shares).await;
    stack.give_usdc(split.parse().expect("an address"), 2_500_000).await;
    split
}

/// Sends an operation's example, with existing values in place of the example's.
async fn send_example(stack: &Stack, writer: &Writer, operation: &Operation<'_>) -> Answer {
    let mut parameters = operation.parameters();
    let mut body = operation.value["requestBody"]["content"]["application/json"]["example"].clone();
    let email = unused_email();
    let wallet = PrivateKeySigner::random();
    // Who has a passkey needs it for much else: another artist than all other examples have.
    let mut person = None;
    let address = match (operation.method.as_str(), operation.path.as_str()) {
        ("GET", "/artists/{address}" | "/smartwallet") => writer.artist.wallet.clone(),
        ("DELETE", "/artists/wallets") => {
            stack.connect_old_wallet(&writer.artist, &wallet).await;
            format!("{:#x}", wallet.address())
        }
        ("POST", "/splits/distribute") | ("GET", "/splits/{network}/{address}") => filled_split(stack, writer).await,
        _ => format!("{:#x}", writer.collection),
    };
    let mut real = vec![(EXAMPLE_ADDRESS, address), (EXAMPLE_EMAIL, email.clone())];
    if body.to_string().contains(EXAMPLE_CODE) {
        real.push((EXAMPLE_CODE, stack.code_for(&email).await));
    }
    if let Some(example) = body["link"].as_str() {
        stack.code_for(&email).await;
        real.push((EXAMPLE_LINK, stack.newest_link(&email).await));
        assert_eq!(example, EXAMPLE_LINK);
    }
    if parameters.iter().any(|(_, _, example)| example == EXAMPLE_UNSUBSCRIBE) {
        real.push((EXAMPLE_UNSUBSCRIBE, stack.unsubscribe_token(&writer.artist).await));
    }
    if parameters.iter().any(|(_, _, example)| example == EXAMPLE_DEVICE) {
        let device: DeviceToken = stack.remember_device(&writer.artist.email).await.parse().expect("a token");
        real.push((EXAMPLE_DEVICE, device.id().to_string()));
    }
    if parameters.iter().any(|(_, _, example)| example == EXAMPLE_KEY_ID) {
        stack.create_key(&writer.artist, &json!({})).await.expect_success();
        let newest = &stack.list_keys(&writer.artist).await[0]["id"];
        real.push((EXAMPLE_KEY_ID, newest.as_str().expect("an id").to_owned()));
    }
    if parameters.iter().any(|(_, _, example)| example == EXAMPLE_TRANSACTION) {
        if operation.method == "DELETE" && operation.path.starts_with("/transactions/") {
            let queued = queue_unserved(&stack.map, &writer.artist.wallet).await.expect("a transaction");
            real.insert(0, (EXAMPLE_TRANSACTION, queued));
        }
        let list = Answer::of(stack.get("/transactions").header("x-api-key", &writer.key)).await.expect_success();
        let newest = list.body["transactions"][0]["id"].as_str().expect("a transaction of an earlier example");
        real.push((EXAMPLE_TRANSACTION, newest.to_owned()));
    }
    match (operation.method.as_str(), operation.path.as_str()) {
        (_, path) if path.starts_with("/webhooks/") => {
            let [webhook, delivery] = stack.told_webhook(&writer.artist).await;
            real.extend([(EXAMPLE_WEBHOOK, webhook), (EXAMPLE_DELIVERY, delivery)]);
        }
        ("DELETE", "/moment/claims") | ("POST", "/claims/{token}") => {
            let link = stack.claim_link(&writer.key, format!("{:#x}", writer.collection), json!({"count": 1})).await;
            real.splice(..0, [(EXAMPLE_KEY_ID, link.id), (EXAMPLE_CLAIM_TOKEN, link.token)]);
        }
        ("GET", "/moment/allow-list") => {
            let (.., listed) = parameters.iter().find(|(_, name, _)| name == "account").expect("an account");
            let listed = real.iter().fold(listed.clone(), |account, (example, real)| account.replace(example, real));
            stack
                .set_list(&writer.key, writer.collection, json!([{"account": listed}]), json!({}))
                .await
                .expect_success();
        }
        ("PATCH", "/moment") => {
            let leaves = stack.release(&writer.key, "Left", &["ar://moved".to_owned()]).await;
            stack.wait_until(&format!("/moment?collectionAddress={leaves}&tokenId=1"), |_| true).await;
            let there = format!("{:#x}", writer.collection);
            real.splice(..0, [(EXAMPLE_ADDRESS, leaves), (EXAMPLE_OTHER_COLLECTION, there)]);
        }
        ("GET", "/ipfs/{cid}") => real.push((EXAMPLE_CID, stack.stored_document(&writer.artist).await)),
        ("GET", "/previews/{picture}/{width}") => real.push((EXAMPLE_PICTURE, stack.previewed_picture(writer).await)),
        ("POST", "/uploads/{id}/complete") => {
            let upload = stack.finished_upload(&writer.artist, picture(1_000)).await;
            real.insert(0, (EXAMPLE_TRANSACTION, upload));
        }
        ("DELETE", "/uploads/{id}") => {
            let upload = stack.finished_upload(&writer.artist, picture(1_000)).await;
            stack.complete_upload(&writer.artist, &upload).await.expect_success();
            real.insert(0, (EXAMPLE_TRANSACTION, upload));
        }
        _ => {}
    }
    let replace = |text: &str| real.iter().fold(text.to_owned(), |text, (example, real)| text.replace(example, real));
    for (_, _, example) in &mut parameters {
        *example = replace(example);
    }
    if body.is_object() {
        body = serde_json::from_str(&replace(&body.to_string())).expect("JSON");
    }
    if body["signature"].is_string() {
        let message = match operation.path.as_str() {
            "/oauth/wallet" => stack.sign_in_message(wallet.address(), 8453).await,
            _ => stack.message_for(&writer.artist, wallet.address()).await,
        };
        body["signature"] = json!(personal_sign(&wallet, &message));
        body["message"] = json!(message);
    }
    match (operation.method.as_str(), operation.path.as_str()) {
        ("POST", "/artists/wallets") => {
            let (old, address) = (PrivateKeySigner::random(), format!("{:#x}", wallet.address()));
            stack.connect_old_wallet(&writer.artist, &old).await;
            body["proof"] = stack.proof_by_wallet(&writer.artist, &old, "connectWallet", &address).await;
        }
        ("DELETE", "/artists/wallets") => {
            let address = format!("{:#x}", wallet.address());
            body["proof"] = stack.proof_by_wallet(&writer.artist, &wallet, "disconnectWallet", &address).await;
        }
        ("POST", "/artists/email") => {
            let artist = stack.new_artist().await;
            body = stack.proved_email(&artist, &email).await;
            person = Some(artist);
        }
        ("DELETE", "/artists/email") => {
            let artist = stack.new_artist().await;
            let proved = stack.proved_email(&artist, &email).await;
            let change = stack.post("/artists/email").bearer_auth(&artist.token).json(&proved);
            Answer::of(change).await.expect_success();
            person = Some(artist);
        }
        ("POST", "/artists/passkeys") => {
            let artist = stack.new_artist().await;
            body = stack.made_passkey(&artist.token).await.1;
            body["proof"] = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
            person = Some(artist);
        }
        ("PUT", "/artists/proofs") => {
            let artist = stack.new_artist().await;
            let seen = stack.mails_to(&artist.email).await.len();
            let asked = json!({"act": "changeEmail", "subject": email});
            let asked = stack.ask_proof(&artist, &asked).await.expect_success().body;
            let code = local::mail::newest_code(&stack.map.mail, &artist.email, seen).await.expect("a code");
            body = json!({"proof": asked["proof"], "code": code});
            person = Some(artist);
        }
        ("POST", "/oauth/passkey") => {
            let mut passkey = stack.added_passkey(&stack.new_artist().await).await;
            body = stack.passkey_answer(&mut passkey).await;
        }
        (method @ ("DELETE" | "PATCH"), "/artists/passkeys") => {
            let artist = stack.new_artist().await;
            let mut passkey = stack.added_passkey(&artist).await;
            let id = stack.only_passkey(&artist).await.as_str().expect("an id").to_owned();
            body = if method == "DELETE" {
                json!({"proof": stack.proof_by_mail(&artist, "removePasskey", &id).await})
            } else {
                stack.remove_passkey_by_mail(&artist, &json!(id)).await.expect_success();
                let own = stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", &id).await;
                json!({"proofs": [own, stack.proof_by_mail(&artist, "keepPasskey", &id).await]})
            };
            for (_, name, example) in &mut parameters {
                if name == "passkeyId" {
                    example.clone_from(&id);
                }
            }
            person = Some(artist);
        }
        _ => {}
    }
    let place = |wanted: &'static str| parameters.iter().filter(move |(place, _, _)| place == wanted);
    let path = place("path")
        .fold(operation.path.clone(), |path, (_, name, example)| path.replace(&format!("{{{name}}}"), example));
    let query: Vec<_> = place("query").map(|(_, name, example)| (name, example)).collect();
    let mut url: reqwest::Url = format!("{}{path}", stack.map.api).parse().expect("a URL");
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    let method: Method = operation.method.parse().expect("a method");
    let mut request = stack.http.request(method, url);
    let is_write = operation.header_parameters().any(|parameter| parameter["name"] == "Idempotency-Key");
    if is_write {
        request = request.header("idempotency-key", &email);
    }
    for scheme in operation.value["security"].as_array().into_iter().flatten().take(1) {
        request = if scheme.get("token").is_some() {
            let is_ended = operation.path == "/oauth/logout";
            let token = match &person {
                Some(artist) => artist.token.clone(),
                None if is_ended => stack.new_artist().await.token,
                None => writer.artist.token.clone(),
            };
            request.bearer_auth(token)
        } else {
            request.header("x-api-key", &writer.key)
        };
    }
    let request = if body.is_object() { request.json(&body) } else { request };
    if is_write { Answer::of_write(request).await } else { Answer::of(request).await }
}

#[tokio::test]
async fn llms_full_txt_describes_every_endpoint() {
    let stack = Stack::connect();
    let answer = Answer::of(stack.get("/llms-full.txt")).await.expect_success();
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    let text = answer.body.as_str().expect("a text");
    for Operation { method, path, value, .. } in operations(&document()) {
        assert!(text.contains(&format!("### {method} {path}\n")), "{method} {path} is missing");
        assert!(text.contains(value["summary"].as_str().expect("a summary")));
    }
    assert!(text.contains("202: "), "what isn't mined yet has fields");
}

#[tokio::test]
async fn text_of_an_operation_has_each_field_of_its_body() {
    let (stack, document) = (Stack::connect(), document());
    let mut fields = 0;
    for Operation { path, value, .. } in operations(&document) {
        let schema = &value["requestBody"]["content"]["application/json"]["schema"];
        let mut names = BTreeSet::new();
        add_names(&document, schema, 6, &mut names);
        if names.is_empty() {
            continue;
        }
        let id = value["operationId"].as_str().expect("an id");
        let text = stack.get(&format!("/docs/{id}.md")).send().await.expect("an answer").text().await.expect("a text");
        for name in &names {
            assert!(text.contains(&format!("- `{name}` (")), "{path}: {name} is missing in {text}");
        }
        fields += names.len();
    }
    assert!(fields > 150, "{fields} fields");
}

/// Adds the names of an object's fields, of all alternatives and of what it contains.
fn add_names(document: &Value, schema: &Value, depth: u8, names: &mut BTreeSet<String>) {
    let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    let schema = pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(schema);
    if depth == 0 {
        return;
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        add_names(document, field, depth - 1, names);
    }
    let parts = ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|key| schema[key].as_array()).flatten();
    for part in parts.chain([&schema["items"]]) {
        add_names(document, part, depth - 1, names);
    }
}
