//! The document without its endpoints.

use serde_json::{Map, Value, json};
use shared::{
    api::transact::PendingTransaction,
    http::ErrorBody,
    model::{
        CaipContract, CaipNetwork, Cid, ClaimToken, ContentType, ExportCursor, PageLimit, PageNumber, Period,
        PreviewWidth, RankedBy, SortOrder, UnsubscribeToken, Until,
    },
};
use utoipa::{PartialSchema, ToSchema};

use crate::{
    errors::ERRORS,
    example,
    names::{header, reference},
    polish::polish,
    webhooks::webhooks,
};

/// The document without its endpoints.
pub fn frame() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Moments",
            "version": "1.0.0",
            "summary": "Create, share and collect moments onchain.",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/api", "description": "Where this document was read."}],
        "tags": TAGS.map(|(name, description)| json!({"name": name, "description": description})),
        "paths": {},
        "webhooks": webhooks(),
        "components": {
            "securitySchemes": security_schemes(),
            "parameters": {"IdempotencyKey": idempotency_key(), "ValidUntil": valid_until()},
            "headers": headers(),
            "responses": responses(),
            "schemas": schemas(),
        },
    })
}

const DESCRIPTION: &str = "\
A moment is a token inside a collection, an ERC-1155 contract on an EVM chain. Browse without a credential; sign in with \
an e-mailed code to get a token, and create and update with it, or with API keys that you make with it.

**Guides**: [quick start](docs/quickstart), [publish](docs/publish), [show](docs/show), \
[collect with a wallet](docs/collect), [agents](docs/agents), [errors](docs/errors), [paging](docs/paging), \
[events](docs/events), [idempotency and transactions](docs/transactions), [limits](docs/limits), \
[browsers](docs/browser), [test networks](docs/test-networks), [governance](docs/governance), \
[webhooks](docs/webhooks), [versions](docs/versions).

**Errors** always have the body `{status: \"error\", message, errors?}`; `errors` names every wrong field by its dotted \
path. Every answer carries `x-request-id`: quote it when you ask for help.

**Writes** are transactions of the artist's embedded wallet, with gas paid by the service. They are simulated before \
they are queued, and 200 means that the transaction is mined and did what was asked. What isn't mined within 20 seconds \
is 202: `GET /transactions/{id}` has the outcome, with the id that every answer carries as `Transaction-Id`. With an \
`Idempotency-Key`, retries don't repeat the write; they are answered with what is true then.

**Amounts** are text: whole numbers in a currency's smallest unit, such as wei, unless the field says that it is a decimal \
number of ether or USDC. **Numbers** of an answer fit a double; what may be larger is text, in which \
18446744073709551615 (2^64 - 1) means no end or no maximum. **Addresses** are answered in lower case. **Unknown \
parameters** are ignored, and `X-Ignored-Parameters` names them. **`artist`** names an artist by any of their wallets or their \
username, and means all of their wallets. **Lists** are over all chains unless one is named.

**Limits**

| what | most |
| --- | --- |
| body | 16 KiB; 640 KiB for metadata, what publishes moments, and `/governance` |
| rows of a page | 100, and 20 unless asked; 50 for `/artists/search`, and 20 for `/comments` |
| moments of a request | 50 |
| recipients of an airdrop | 200 |
| tokens of a purchase | 1000 |
| recipients of a split | 100 |
| comment | 1000 characters |
| answer | within 30 seconds |

Limits per client, artist and day are in the headers `RateLimit-Policy` and `RateLimit`.";

/// Groups of endpoints, in reading order.
const TAGS: [(&str, &str); 16] = [
    ("Sign-in", "A code by e-mail becomes a token, valid for an hour."),
    ("Passkeys", "Keys of a phone or computer that sign in. Who has one needs it for whatever takes a recent sign-in."),
    ("API keys", "Credentials to create and update. A key is shown once, at its creation."),
    ("Artists", "Profiles, wallets, search."),
    ("Collections", "Contracts that hold moments."),
    ("Moments", "Create, sell, collect and change moments."),
    ("Splits", "Contracts that divide proceeds among fixed recipients."),
    ("Media", "Files and metadata for moments, stored here under their CIDs."),
    ("Transactions", "What became of an artist's writes."),
    ("Webhooks", "Events that are sent to a URL of the artist as they happen."),
    ("Webhook events", "What is sent, by type."),
    ("Comments", "Comments of collectors and admins."),
    ("Activity", "Timelines, collectors, payments, notifications."),
    ("Moderation", "Reports, and what the operator did about them."),
    ("Agents", "The same as tools for agents."),
    ("Service", "The service's own pages and documents."),
];

fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A token from `POST /oauth/login`, valid for an hour.",
        },
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "A key from `POST /artists/api-keys`. `Authorization: Bearer` takes it, too.",
        },
    })
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Makes retries safe: nothing is done twice, and a retry is answered with what became of the first \
                        request. Kept for a week at least. Scoped to the artist. Where money moves, a request without a key is its own \
                        key for ten minutes, unless it failed.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    })
}

fn valid_until() -> Value {
    json!({
        "name": "Valid-Until",
        "in": "header",
        "required": false,
        "description": "Unix time in seconds, to come. What isn't sent by then ends as `failed`, and is never sent. At most, and \
                        by default, ten minutes from now for what pays, and a day for the rest.",
        "schema": {"type": "integer", "format": "int64", "minimum": 0},
    })
}

const LIMIT_POLICY: &str = "The limit on such requests, if any: `\"name\";q=most;w=seconds`. The unit is requests unless `qu` \
    says otherwise: `gwei`, fees paid by the service for an artist on a chain and day (UTC), or `names`, held usernames that \
    the artist gave up.";

fn headers() -> Value {
    let header = |is_required: bool, description: &str, schema: Value| json!({"description": description, "required": is_required, "schema": schema});
    let text = || json!({"type": "string"});
    json!({
        "RequestId": header(true, "Id of the request in the logs.", text()),
        "RetryAfter": header(true, "Seconds until a retry makes sense.", json!({"type": "integer", "minimum": 0})),
        "RateLimitPolicy": header(false, LIMIT_POLICY, text()),
        "RateLimit": header(false, "The rest of it: `\"name\";r=left;t=seconds` until more is left.", text()),
        "IdempotentReplayed": header(
            false,
            "`true` when this is the answer to an earlier request with the same `Idempotency-Key`.",
            json!({"type": "string", "const": "true"}),
        ),
        "TransactionId": header(false, "Ids of the request's transactions, separated by commas.", text()),
        "Location": header(true, "Where the outcome is.", text()),
        "ETag": header(false, "The version of the answer, for `If-None-Match`.", text()),
        "WwwAuthenticate": header(true, "The required credential.", text()),
    })
}

fn responses() -> Map<String, Value> {
    let response = |(status, name, description, message): (u16, &str, &str, &str)| {
        let mut headers = json!({"x-request-id": header("RequestId")});
        let mut add = |name: &str, component: &str| headers[name] = header(component);
        match status {
            401 => add("www-authenticate", "WwwAuthenticate"),
            422 => add("transaction-id", "TransactionId"),
            429 | 502 | 503 => add("retry-after", "RetryAfter"),
            _ => {}
        }
        // These errors can follow rate limiting, so they carry its headers.
        if matches!(status, 402 | 403 | 404 | 409 | 422 | 429 | 500 | 502 | 503) {
            add("ratelimit", "RateLimit");
            add("ratelimit-policy", "RateLimitPolicy");
        }
        let mut example = json!({"status": "error", "message": message});
        if status == 400 {
            example["errors"] = json!([{"field": "moment.tokenId", "message": "is required"}]);
        }
        let content = json!({"application/json": {"schema": reference("Error"), "example": example}});
        (name.to_owned(), json!({"description": description, "headers": headers, "content": content}))
    };
    let mut responses: Map<_, _> = ERRORS.into_iter().map(response).collect();
    let headers = json!({"x-request-id": header("RequestId"), "etag": header("ETag")});
    let not_modified = "The answer hasn't changed since `If-None-Match`.";
    responses.insert("Accepted".to_owned(), accepted());
    responses.insert("NotModified".to_owned(), json!({"description": not_modified, "headers": headers}));
    responses
}

/// The answer of every write whose transaction isn't mined yet.
fn accepted() -> Value {
    json!({
        "description": "The transaction isn't mined yet.",
        "headers": {
            "x-request-id": header("RequestId"),
            "transaction-id": header("TransactionId"),
            "location": header("Location"),
            "retry-after": header("RetryAfter"),
            "idempotent-replayed": header("IdempotentReplayed"),
            "ratelimit": header("RateLimit"),
            "ratelimit-policy": header("RateLimitPolicy"),
        },
        "content": {"application/json": {
            "schema": reference("PendingTransaction"),
            "example": example::of(&schemas()["PendingTransaction"], schemas().as_object().unwrap_or(&Map::new())),
        }},
    })
}

/// The error's schema, and those that only parameters use: no endpoint's description contains them.
fn schemas() -> Value {
    let mut schemas = vec![
        ("Error".to_owned(), ErrorBody::schema()),
        ("CaipContract".to_owned(), CaipContract::schema()),
        ("CaipNetwork".to_owned(), CaipNetwork::schema()),
        ("Cid".to_owned(), Cid::schema()),
        ("ClaimToken".to_owned(), ClaimToken::schema()),
        ("ContentType".to_owned(), ContentType::schema()),
        ("ExportCursor".to_owned(), ExportCursor::schema()),
        ("PageLimit".to_owned(), PageLimit::schema()),
        ("PreviewWidth".to_owned(), PreviewWidth::schema()),
        ("UnsubscribeToken".to_owned(), UnsubscribeToken::schema()),
        ("PageNumber".to_owned(), PageNumber::schema()),
        ("Until".to_owned(), Until::schema()),
        ("PendingTransaction".to_owned(), PendingTransaction::schema()),
        ("Period".to_owned(), Period::schema()),
        ("RankedBy".to_owned(), RankedBy::schema()),
        ("SortOrder".to_owned(), SortOrder::schema()),
    ];
    ErrorBody::schemas(&mut schemas);
    PendingTransaction::schemas(&mut schemas);
    let schemas: Value = schemas.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let mut description = json!({"components": {"schemas": schemas}});
    polish(&mut description);
    description["components"]["schemas"].take()
}
