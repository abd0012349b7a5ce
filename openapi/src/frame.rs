//! The document without its endpoints.

use serde_json::{Map, Value, json};
use shared::{
    api::transact::PendingTransaction,
    http::ErrorBody,
    model::{CaipContract, CaipNetwork, ContentType, PageLimit, PageNumber},
};
use utoipa::{PartialSchema, ToSchema};

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
        "components": {
            "securitySchemes": security_schemes(),
            "parameters": {"IdempotencyKey": idempotency_key(false), "RequiredIdempotencyKey": idempotency_key(true)},
            "headers": headers(),
            "responses": responses(),
            "schemas": schemas(),
        },
    })
}

const DESCRIPTION: &str = "\
A moment is a token inside a collection, an ERC-1155 contract on an EVM chain. Browse without a credential; sign in with \
an e-mailed code to get a token, and with the token make the API keys that create and update.

**Errors** always have the body `{status: \"error\", message, errors?}`; `errors` names every wrong field by its dotted \
path. Every answer carries `x-request-id`: quote it when you ask for help.

**Writes** are transactions of the artist's embedded wallet, with gas paid by the service. They are simulated before \
they are queued, and 200 means that the transaction is mined and did what was asked. What isn't mined within 20 seconds \
is 202: `GET /transactions/{id}` has the outcome, with the id that every answer carries as `Transaction-Id`. With an \
`Idempotency-Key`, retries don't repeat the write; they are answered with what is true then.

**Amounts** are whole numbers in a currency's smallest unit, as decimal digits. **Addresses** are answered in lower case. \
**Unknown parameters** are ignored, and `X-Ignored-Parameters` names them.";

/// Groups of endpoints, in reading order.
const TAGS: [(&str, &str); 10] = [
    ("Sign-in", "A code by e-mail becomes a token, valid for an hour."),
    ("API keys", "Credentials to create and update. A key is shown once, at its creation."),
    ("Artists", "Profiles, wallets, search."),
    ("Collections", "Contracts that hold moments."),
    ("Moments", "Create, sell, collect and change moments."),
    ("Media", "Files and metadata for moments, stored here under their CIDs."),
    ("Transactions", "What became of an artist's writes."),
    ("Comments", "Comments of collectors and admins."),
    ("Activity", "Timelines, collectors, payments, notifications."),
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
            "description": "A key from `POST /artists/api-keys`.",
        },
    })
}

fn idempotency_key(is_required: bool) -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": is_required,
        "description": "Makes retries safe: nothing is done twice, and a retry is answered with what became of the first \
                        request. Kept for a week at least. Scoped to the artist.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
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

/// Common errors: status, name and meaning.
pub(crate) const ERRORS: [(u16, &str, &str); 15] = [
    (400, "InvalidInput", "The request is malformed; `errors` names the wrong fields."),
    (401, "Unauthorized", "No credential, or one that is wrong, expired or revoked."),
    (402, "PaymentRequired", "The artist's account can't pay for this."),
    (403, "Forbidden", "The artist's account may not do this; the message names the permission that it lacks."),
    (404, "NotFound", "It doesn't exist."),
    (405, "MethodNotAllowed", "The path answers to other methods, which `Allow` names."),
    (409, "Conflict", "The current state doesn't allow it, or the first request with this key still runs."),
    (413, "PayloadTooLarge", "The body is too long."),
    (415, "UnsupportedMediaType", "The body isn't sent as `application/json`."),
    (422, "Unprocessable", "It is valid and can't be carried out; the message has the contract's reason."),
    (429, "TooManyRequests", "A limit is used up."),
    (500, "InternalError", "A fault of the service. The logs have its cause under `x-request-id`."),
    (502, "BadGateway", "Another service failed."),
    (503, "Unavailable", "Out of capacity for now."),
    (504, "GatewayTimeout", "It took too long."),
];

/// Name of an error's response among the components.
pub(crate) fn error_name(status: u16) -> Option<&'static str> {
    ERRORS.iter().find(|error| error.0 == status).map(|error| error.1)
}

fn responses() -> Map<String, Value> {
    let response = |(status, name, description): (u16, &str, &str)| {
        let mut headers = json!({"x-request-id": header_ref("RequestId")});
        let mut add = |name: &str, component: &str| headers[name] = header_ref(component);
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
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        (name.to_owned(), json!({"description": description, "headers": headers, "content": content}))
    };
    let mut responses: Map<_, _> = ERRORS.into_iter().map(response).collect();
    let headers = json!({"x-request-id": header_ref("RequestId"), "etag": header_ref("ETag")});
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
            "x-request-id": header_ref("RequestId"),
            "transaction-id": header_ref("TransactionId"),
            "location": header_ref("Location"),
            "retry-after": header_ref("RetryAfter"),
            "idempotent-replayed": header_ref("IdempotentReplayed"),
            "ratelimit": header_ref("RateLimit"),
            "ratelimit-policy": header_ref("RateLimitPolicy"),
        },
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PendingTransaction"}}},
    })
}

pub(crate) fn header_ref(component: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{component}")})
}

/// The error's schema, and those that only parameters use: no endpoint's description contains them.
fn schemas() -> Value {
    let mut schemas = vec![
        ("Error".to_owned(), ErrorBody::schema()),
        ("CaipContract".to_owned(), CaipContract::schema()),
        ("CaipNetwork".to_owned(), CaipNetwork::schema()),
        ("ContentType".to_owned(), ContentType::schema()),
        ("PageLimit".to_owned(), PageLimit::schema()),
        ("PageNumber".to_owned(), PageNumber::schema()),
        ("PendingTransaction".to_owned(), PendingTransaction::schema()),
    ];
    ErrorBody::schemas(&mut schemas);
    PendingTransaction::schemas(&mut schemas);
    schemas.into_iter().map(|(name, schema)| (name, json!(schema))).collect()
}
