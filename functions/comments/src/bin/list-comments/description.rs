use super::{ListCommentsQuery, ListCommentsResponse};

/// List comments on a moment
///
/// Top-level comments, newest first, each with its first three replies; with `replyToId` the replies to that comment,
/// oldest first. 20 per page; `Link` leads to the next one.
#[utoipa::path(
    get,
    path = "/comments",
    tag = "Comments",
    params(ListCommentsQuery),
    responses((status = 200, description = "The comments.", body = ListCommentsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_comments() {}

openapi::published!(list_comments);
