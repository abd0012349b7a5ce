//! The session of the service's own pages: a token in a cookie that no script reads, so that a page goes on that a phone
//! dropped. It counts only where a page of this origin says so, which neither a form nor another site's page can.

use super::token::LIFETIME;
use crate::http::{ApiError, Request, Response};

/// Name of the cookie, and of the header by which a page says that the cookie is to count.
const NAME: &str = "moments-session";

/// The token in the cookie of a page of this origin.
pub(super) fn token(request: &Request) -> Option<&str> {
    let cookies = request.header("cookie").filter(|_| is_meant(request))?.split(';');
    cookies.filter_map(|cookie| cookie.trim().split_once('=')).find(|(name, _)| *name == NAME).map(|(_, token)| token)
}

/// The answer to a sign-in, with the token in a cookie if a page of this origin wants that.
pub fn begin(request: &Request, response: Response, token: &str) -> Result<Response, ApiError> {
    set(request, response, token, LIFETIME.as_secs())
}

/// The answer to signing out, which takes the cookie back from a page of this origin.
pub fn end(request: &Request, response: Response) -> Result<Response, ApiError> {
    set(request, response, "", 0)
}

fn set(request: &Request, response: Response, token: &str, seconds: u64) -> Result<Response, ApiError> {
    if !is_meant(request) {
        return Ok(response);
    }
    let path = Some(request.stage()).filter(|stage| !stage.is_empty()).unwrap_or("/");
    let cookie = format!("{NAME}={token}; Path={path}; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict");
    response.with("set-cookie", &cookie)
}

fn is_meant(request: &Request) -> bool {
    request.header(NAME) == Some("cookie") && request.header("sec-fetch-site") == Some("same-origin")
}
