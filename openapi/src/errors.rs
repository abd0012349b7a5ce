//! Errors that endpoints have in common.

/// Common errors: status, name, meaning, and a message as an example.
pub const ERRORS: [(u16, &str, &str, &str); 15] = [
    (
        400,
        "InvalidInput",
        "The request is malformed; `errors` names the wrong fields.",
        "moment.collectionAddress is required",
    ),
    (
        401,
        "Unauthorized",
        "No credential, or one that is wrong, expired or revoked.",
        "The API key is wrong or revoked",
    ),
    (
        402,
        "PaymentRequired",
        "The artist's account can't pay for this; `missing` lists what it lacks, if that is known.",
        "The account has too little money for this",
    ),
    (
        403,
        "Forbidden",
        "The artist's account may not do this; the message names the permission that it lacks.",
        "The account lacks the permission SALES on this moment",
    ),
    (404, "NotFound", "It doesn't exist.", "There is no moment at this place"),
    (
        409,
        "Conflict",
        "The current state doesn't allow it, or the first request with this key still runs.",
        "The first request with this key still runs: wait and send it again",
    ),
    (
        410,
        "Gone",
        "It was there, and isn't any more.",
        "The cursor belongs to a log that was made anew: begin without after, ids are the same",
    ),
    (413, "PayloadTooLarge", "The body is too long.", "The body must be at most 16384 bytes long"),
    (
        415,
        "UnsupportedMediaType",
        "The body isn't sent as `application/json`.",
        "The body must be sent as application/json",
    ),
    (
        422,
        "Unprocessable",
        "It is valid and can't be carried out; the message has the contract's reason.",
        "The chain refuses it: the sale has ended",
    ),
    (
        451,
        "Removed",
        "The operator removed it; `Link: rel=blocked-by` leads to what the operator decides.",
        "The operator of this service removed it (copyright)",
    ),
    (
        429,
        "TooManyRequests",
        "A limit is used up. The gateway's own limit answers without `status` and `Retry-After`.",
        "Too many requests: wait",
    ),
    (
        500,
        "InternalError",
        "A fault of the service. The logs have its cause under `x-request-id`.",
        "Something went wrong at the service",
    ),
    (502, "BadGateway", "Another service failed.", "The chain's node can't be reached"),
    (503, "Unavailable", "Out of capacity for now.", "Out of capacity for now: try again"),
];

/// Name of an error's response among the components.
pub fn error_name(status: u16) -> Option<&'static str> {
    ERRORS.iter().find(|error| error.0 == status).map(|error| error.1)
}
