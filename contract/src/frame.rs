//! What the document says apart from its endpoints.

use serde_json::{Map, Value, json};
use shared::{
    http::ErrorBody,
    model::{CaipContract, CaipNetwork, ContentType, PageLimit, PageNumber},
};
use utoipa::{PartialSchema, ToSchema};

/// The document without endpoints.
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
            "parameters": {"IdempotencyKey": idempotency_key()},
            "headers": headers(),
            "responses": responses(),
            "schemas": schemas(),
        },
    })
}

const DESCRIPTION: &str = "\
A moment is a token inside a collection, an ERC-1155 contract on an EVM chain. Browse without a credential; sign in with \
an e-mailed code to get a token, and with the token make the API keys that create and update.

**Errors** always have the body `{status: \"error\", message, errors?}`; `errors` names every field that is wrong by its \
dotted path. Every answer carries `x-request-id`: name it when you ask for help.

**Writes** are done by the artist's own account on the chain and paid for by the service. They are tried on the chain \
before anything is sent. With an `Idempotency-Key` a request can be repeated for 24 hours without being done twice.

**Amounts** are whole numbers in a currency's smallest unit, as decimal digits. **Addresses** are answered in lower case. \
**Parameters** that an endpoint doesn't know are passed over.";

/// The groups of endpoints, in the order in which a reader needs them.
const TAGS: [(&str, &str); 8] = [
    ("Sign-in", "A code by e-mail becomes a token, which is valid for an hour."),
    ("API keys", "What creates and updates. A key is shown once, when it is made."),
    ("Artists", "Who creates: profiles, wallets, search."),
    ("Collections", "Contracts that moments live in."),
    ("Moments", "Create, sell, collect and change moments."),
    ("Comments", "What collectors say."),
    ("Activity", "What happened: timelines, collectors, payments, notifications."),
    ("Service", "What the service says of itself."),
];

fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "The token that `POST /oauth/login` answers, valid for an hour.",
        },
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "A key that `POST /artists/api-keys` makes.",
        },
    })
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Makes it safe to send the request again: within 24 hours the first answer comes again, and nothing \
                        is done twice. Means something for its artist alone.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    })
}

const LIMIT_POLICY: &str = "The limit on such requests, where there is one: `\"name\";q=most;w=seconds`. What is counted is \
    requests, unless `qu` says otherwise: `gas`, which the service pays for an artist on a chain, by the day (UTC); \
    `names`, usernames that were given up and are kept.";

fn headers() -> Value {
    let header = |is_required: bool, description: &str, schema: Value| json!({"description": description, "required": is_required, "schema": schema});
    let text = || json!({"type": "string"});
    json!({
        "RequestId": header(true, "The id under which the logs have this request.", text()),
        "RetryAfter": header(true, "Seconds until it is worth asking again.", json!({"type": "integer", "minimum": 0})),
        "RateLimitPolicy": header(false, LIMIT_POLICY, text()),
        "RateLimit": header(false, "What is left of it: `\"name\";r=left;t=seconds`, the seconds being those until there is more.", text()),
        "IdempotentReplayed": header(
            false,
            "`true` when an earlier request with the same `Idempotency-Key` was answered this.",
            json!({"type": "string", "const": "true"}),
        ),
        "ETag": header(false, "The version of the answer, for `If-None-Match`.", text()),
        "WwwAuthenticate": header(true, "Which credential is asked for.", text()),
    })
}

/// The errors that endpoints have in common: status, name and meaning.
pub(crate) const ERRORS: [(u16, &str, &str); 15] = [
    (400, "InvalidInput", "Something in the request is missing or wrong; `errors` says what."),
    (401, "Unauthorized", "No credential, or one that is wrong, expired or revoked."),
    (402, "PaymentRequired", "The artist's account can't pay for this."),
    (403, "Forbidden", "The artist's account may not do this; the message names the permission that it lacks."),
    (404, "NotFound", "There is no such thing."),
    (405, "MethodNotAllowed", "The path answers to other methods, which `Allow` names."),
    (409, "Conflict", "Not in the state that things are in, or the same request is still being answered."),
    (413, "PayloadTooLarge", "The body is too long."),
    (415, "UnsupportedMediaType", "The body isn't sent as `application/json`."),
    (422, "Unprocessable", "It can be read and can't be done; the message has what the contract answers."),
    (429, "TooManyRequests", "A limit is used up."),
    (500, "InternalError", "A fault of the service's. The logs have its cause under `x-request-id`."),
    (502, "BadGateway", "A service that this one stands on failed."),
    (503, "Unavailable", "No more can be done just now."),
    (504, "GatewayTimeout", "It took too long."),
];

/// Under which name the components have the response of an error.
pub(crate) fn error_name(status: u16) -> Option<&'static str> {
    ERRORS.iter().find(|error| error.0 == status).map(|error| error.1)
}

fn responses() -> Map<String, Value> {
    let response = |(status, name, description): (u16, &str, &str)| {
        let mut headers = json!({"x-request-id": header_ref("RequestId")});
        let mut add = |name: &str, component: &str| headers[name] = header_ref(component);
        match status {
            401 => add("www-authenticate", "WwwAuthenticate"),
            429 | 502 | 503 => add("retry-after", "RetryAfter"),
            _ => {}
        }
        // What such an answer is given for can come after the request was counted.
        if matches!(status, 402 | 403 | 404 | 409 | 422 | 429 | 500 | 502 | 503) {
            add("ratelimit", "RateLimit");
            add("ratelimit-policy", "RateLimitPolicy");
        }
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        (name.to_owned(), json!({"description": description, "headers": headers, "content": content}))
    };
    let mut responses: Map<_, _> = ERRORS.into_iter().map(response).collect();
    let headers = json!({"x-request-id": header_ref("RequestId"), "etag": header_ref("ETag")});
    let not_modified = "The answer is still the one that `If-None-Match` names.";
    responses.insert("NotModified".to_owned(), json!({"description": not_modified, "headers": headers}));
    responses
}

pub(crate) fn header_ref(component: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{component}")})
}

/// The error, and the words that are found in parameters alone, whose schemas nothing else brings along.
fn schemas() -> Value {
    let mut schemas = vec![
        ("Error".to_owned(), ErrorBody::schema()),
        ("CaipContract".to_owned(), CaipContract::schema()),
        ("CaipNetwork".to_owned(), CaipNetwork::schema()),
        ("ContentType".to_owned(), ContentType::schema()),
        ("PageLimit".to_owned(), PageLimit::schema()),
        ("PageNumber".to_owned(), PageNumber::schema()),
    ];
    ErrorBody::schemas(&mut schemas);
    schemas.into_iter().map(|(name, schema)| (name, json!(schema))).collect()
}
