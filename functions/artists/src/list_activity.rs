//! Contract of `GET /artists/activity`.

use serde::Serialize;
use shared::{
    clock,
    http::{ApiError, FromFields},
    model::{ActivityId, ActivityKind, DeviceId, Email, Flag, NewsMails, PageLimit, SessionId},
    store::{
        artist::{Activity, NextEmail},
        secret::{Device, Session},
    },
};
use utoipa::{IntoParams, ToSchema};

/// The page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListActivityQuery {
    /// Most entries.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// The last id of the page before; the newest entries by default.
    pub before: Option<ActivityId>,
    /// `true` for publications, edits, sales, purchases, comments, and moments hidden or shown, listed apart.
    #[param(value_type = Option<bool>)]
    pub works: Option<Flag>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListActivityResponse {
    pub activity: Vec<ActivityView>,
    /// Devices that are known, the one used last first.
    pub devices: Vec<DeviceView>,
    /// Tokens that can be used, the newest first.
    pub sessions: Vec<SessionView>,
    /// The artist's mail address; null for who signs in with a wallet alone.
    #[schema(required = true)]
    pub email: Option<Email>,
    /// The mail address that is to take its place, until `DELETE /artists/email`.
    #[schema(required = true)]
    pub next_email: Option<EmailChange>,
    /// How often collects of the artist's moments and comments on them are mailed.
    pub news_mails: NewsMails,
}

#[derive(Serialize, ToSchema)]
pub struct EmailChange {
    pub email: Email,
    /// When it changes, ISO 8601.
    pub at: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    /// What the program called itself (`User-Agent`); may be empty.
    pub agent: String,
    /// Network of the sign-in; of IPv6 the /64.
    pub network: String,
    /// Time of the sign-in, ISO 8601.
    pub since: String,
    /// ISO 8601.
    pub expires: String,
    /// It is the token of this request.
    pub is_current: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Device)]
pub struct DeviceView {
    pub id: DeviceId,
    /// What it called itself (`User-Agent`); may be empty.
    pub agent: String,
    /// Network of the last sign-in; of IPv6 the /64.
    pub network: String,
    /// Time of the first sign-in, ISO 8601.
    pub since: String,
    /// Time of the last sign-in, ISO 8601.
    pub seen: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Activity)]
pub struct ActivityView {
    pub id: ActivityId,
    pub kind: ActivityKind,
    /// ISO 8601.
    pub at: String,
    /// Network that asked for it; of IPv6 the /64.
    pub network: String,
    /// What it concerns, such as a key's name or an address; may be empty.
    pub subject: String,
}

/// List account activity
///
/// Sign-ins, keys, wallets, payout addresses and withdrawals of the last 90 days, newest first; the devices that are
/// known, each until `DELETE /artists/devices`; and tokens, as `sessions`, which `POST /oauth/logout` ends.
#[utoipa::path(
    get,
    path = "/artists/activity",
    tag = "Artists",
    security(("token" = [])),
    params(ListActivityQuery),
    responses((status = 200, description = "What happened.", body = ListActivityResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
    extensions(("x-errors" = json!([403]))),
)]
pub fn list_activity() {}

impl TryFrom<Activity> for ActivityView {
    type Error = ApiError;

    fn try_from(Activity { id, kind, at, network, subject, .. }: Activity) -> Result<Self, ApiError> {
        Ok(Self { id, kind, at: clock::iso_8601(at)?, network, subject })
    }
}

impl SessionView {
    /// How it is shown to who holds the token `current`.
    pub fn new(session: Session, current: SessionId) -> Result<Self, ApiError> {
        let Session { id, issued_at, expires_at, network, agent } = session;
        let (since, expires) = (clock::iso_8601(issued_at)?, clock::iso_8601(expires_at)?);
        Ok(Self { id, agent, network, since, expires, is_current: id == current })
    }
}

impl TryFrom<NextEmail> for EmailChange {
    type Error = ApiError;

    fn try_from(NextEmail { email, from, .. }: NextEmail) -> Result<Self, ApiError> {
        Ok(Self { email, at: clock::iso_8601(from)? })
    }
}

impl TryFrom<Device> for DeviceView {
    type Error = ApiError;

    fn try_from(Device { id, fields }: Device) -> Result<Self, ApiError> {
        let (since, seen) = (clock::iso_8601(fields.created_at)?, clock::iso_8601(fields.seen_at)?);
        Ok(Self { id, agent: fields.agent, network: fields.network, since, seen })
    }
}
