//! The desk's page: one thing at a time with its pictures, one key to decide, and the next one comes. Only this machine
//! reaches it, and only who knows its address, which is made anew each time.

mod exhibit;
mod view;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, RawQuery, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use maud::Markup;
use percent_encoding::percent_decode_str;
use shared::model::{Action, ArtistName, Cid, FILES_POLICY, Reason, Subject};
use tokio::{net::TcpListener, task::JoinHandle};
use url::form_urlencoded;
use uuid::Uuid;

use self::exhibit::kept;
use super::{Desk, Ruling, end_of};
use crate::Error;

/// Decisions that are shown.
const SHOWN: usize = 4;

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A running page; dropping it stops it.
pub struct DeskPage {
    /// Its address. Whoever has it decides.
    pub url: String,
    task: JoinHandle<()>,
}

impl Drop for DeskPage {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl DeskPage {
    /// Serves the page of a desk at a free port of this machine. Decisions are printed as they are carried out.
    pub async fn start(desk: Desk) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let path = format!("/{}", Uuid::new_v4().simple());
        let url = format!("http://{}{path}/", listener.local_addr()?);
        let page = Arc::new(Page { desk, path: path.clone(), carried: Mutex::default() });
        let routes = Router::new()
            .route(&format!("{path}/"), get(next))
            .route(&format!("{path}/about"), get(about))
            .route(&format!("{path}/decided"), get(decided))
            .route(&format!("{path}/decide"), post(decide))
            .route(&format!("{path}/carried"), get(carried))
            .route(&format!("{path}/picture"), get(picture))
            .route(&format!("{path}/file/{{cid}}"), get(file))
            .route(&format!("{path}/desk.css"), get(async || asset("text/css", include_str!("desk.css"))))
            .route(&format!("{path}/desk.js"), get(async || asset("text/javascript", include_str!("desk.js"))))
            .with_state(page);
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap_or_default() });
        Ok(Self { url, task })
    }

    /// Serves until the process ends.
    pub async fn wait(mut self) {
        // It ends with the process.
        let _ = (&mut self.task).await;
    }
}

struct Page {
    desk: Desk,
    /// Without a slash at its end.
    path: String,
    /// The newest last.
    carried: Mutex<Vec<Carried>>,
}

/// A decision that is carried out, or was.
#[derive(Clone, Debug)]
struct Carried {
    id: Uuid,
    subject: Subject,
    what: String,
    /// `None` until the index has followed.
    outcome: Option<Result<String, String>>,
}

/// Answers of the page.
type Answer = Result<Response, Failure>;

/// What went wrong, for the operator.
struct Failure(Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, html(view::failed(&self.0.to_string()))).into_response()
    }
}

/// The thing that `at` names or, once that is decided, the first one that waits.
async fn next(State(page): State<Arc<Page>>, RawQuery(query): RawQuery) -> Answer {
    let busy = page.busy();
    let queue: Vec<_> = page.desk.queue().await?.into_iter().filter(|case| !busy.contains(&case.subject())).collect();
    let at = fields(query.unwrap_or_default().as_bytes()).remove("at");
    let at = at.and_then(|at| at.parse::<Subject>().ok());
    let place = queue.iter().position(|case| Some(case.subject()) == at).unwrap_or_default();
    let Some(case) = queue.get(place) else { return Ok(html(view::nothing(&page.list()))) };
    let following = queue.get((place + 1) % queue.len()).filter(|_| queue.len() > 1).map(|case| case.subject());
    let turn = view::Turn { case: Some(case), left: queue.len(), following };
    Ok(html(page.look(case.subject(), turn).await?))
}

/// Anything, by its name or the address of its page.
async fn about(State(page): State<Arc<Page>>, RawQuery(query): RawQuery) -> Answer {
    let named = fields(query.unwrap_or_default().as_bytes()).remove("subject").unwrap_or_default();
    let subject = page.desk.found(named.trim()).await?.ok_or_else(|| {
        format!("{named} is nothing here: give the address of a page or a file, or a name such as moment#8453#0x…#1")
    })?;
    let queue = page.desk.queue().await?;
    let case = queue.iter().find(|case| case.subject() == subject);
    Ok(html(page.look(subject, view::Turn { case, left: queue.len(), following: None }).await?))
}

async fn decided(State(page): State<Arc<Page>>) -> Answer {
    let decisions = page.desk.decisions().await?;
    Ok(html(view::decided(&decisions, &page.list())?))
}

/// Begins to carry a decision out, and goes on with the next thing.
async fn decide(State(page): State<Arc<Page>>, body: Bytes) -> Answer {
    let mut fields = fields(&body);
    let mut field = |name: &str| fields.remove(name).unwrap_or_default().trim().to_owned();
    let subject: Subject = field("subject").parse()?;
    let (what, reason, note, until) = (field("do"), field("reason"), field("note"), field("until"));
    let (artist, following) = (field("artist"), field("following"));
    let order = match what.as_str() {
        "hide" | "remove" | "suspend" => {
            let action: Action = what.parse()?;
            let subject = if action == Action::Suspend { artist.parse()? } else { subject };
            let until = if until.is_empty() { None } else { Some(end_of(&until)?) };
            Order::Decide(Ruling { subject, action, reason: reason.parse::<Reason>()?, until, note: noted(note) })
        }
        "dismiss" => Order::Dismiss(subject, noted(note)),
        "take" => Order::Take(subject, noted(note)),
        "decline" => Order::Decline(subject),
        "undo" => Order::Undo(subject, &[Action::Hide, Action::Remove]),
        "reinstate" => Order::Undo(subject, &[Action::Suspend]),
        _ => return Err(format!("{what} is nothing that can be done").into()),
    };
    page.carry_out(subject, what, order);
    let next = form_urlencoded::Serializer::new(String::new()).append_pair("at", &following).finish();
    Ok(Redirect::to(&format!("{}/?{next}", page.path)).into_response())
}

/// What became of the last decisions.
async fn carried(State(page): State<Arc<Page>>) -> Response {
    html(view::carried(&page.list()))
}

async fn picture(State(page): State<Arc<Page>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Answer {
    let uri = fields(query.unwrap_or_default().as_bytes()).remove("uri").unwrap_or_default();
    match page.desk.picture(&uri).await? {
        Some(key) => Ok(page.object(&key, &headers).await),
        None => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

async fn file(State(page): State<Arc<Page>>, Path(cid): Path<String>, headers: HeaderMap) -> Answer {
    Ok(page.object(&cid.parse::<Cid>()?.object(), &headers).await)
}

/// What a button asks for.
enum Order {
    Decide(Ruling),
    Dismiss(Subject, String),
    Take(Subject, String),
    Decline(Subject),
    Undo(Subject, &'static [Action]),
}

impl Page {
    async fn look(&self, subject: Subject, turn: view::Turn<'_>) -> Result<Markup, Error> {
        let moderation = &self.desk.moderation;
        let (exhibit, reports, decisions) =
            tokio::try_join!(self.desk.exhibit(&subject), async { Ok(moderation.reports(&subject).await?) }, async {
                Ok(moderation.about(&subject).await?)
            })?;
        view::look(&view::Look { subject, exhibit, reports, decisions, turn, carried: self.list() })
    }

    /// The bytes as they are kept, removed or not; they run nothing here.
    async fn object(&self, key: &str, headers: &HeaderMap) -> Response {
        let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
        for key in kept(key) {
            if let Some(mut response) = self.desk.objects.read(&key, range.clone()).await {
                let headers = response.headers_mut();
                headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FILES_POLICY));
                headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
                return response;
            }
        }
        StatusCode::NOT_FOUND.into_response()
    }

    /// A decision waits for the index, its operator doesn't.
    fn carry_out(self: &Arc<Self>, subject: Subject, what: String, order: Order) {
        let id = Uuid::now_v7();
        {
            let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
            carried.push(Carried { id, subject, what, outcome: None });
            let oldest = carried.iter().position(|one| one.outcome.is_some());
            if let Some(oldest) = oldest.filter(|_| carried.len() > SHOWN) {
                carried.remove(oldest);
            }
        }
        let page = Arc::clone(self);
        tokio::spawn(async move {
            let outcome = page.desk.carry_out(order).await;
            // The mail comes first, and isn't what counts.
            let outcome = outcome.map(|said| said.rsplit('\n').collect::<Vec<_>>().join(", "));
            let outcome = outcome.map_err(|error| error.to_string());
            match &outcome {
                Ok(said) => println!("{said}"),
                Err(error) => println!("{subject}: {error}"),
            }
            let mut carried = page.carried.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(one) = carried.iter_mut().find(|one| one.id == id) {
                one.outcome = Some(outcome);
            }
        });
    }

    fn list(&self) -> Vec<Carried> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is being decided, and doesn't wait any more.
    fn busy(&self) -> Vec<Subject> {
        self.list().into_iter().filter(|one| one.outcome.is_none()).map(|one| one.subject).collect()
    }
}

impl Desk {
    /// A subject by its name or the address of its page, an artist by the username, too.
    async fn found(&self, text: &str) -> Result<Option<Subject>, Error> {
        if let Some(subject) = subject_of(text) {
            return Ok(Some(self.named(subject).await?));
        }
        let name = text.rsplit('/').next().unwrap_or_default().trim_start_matches('@');
        let Ok(name) = percent_decode_str(name).decode_utf8_lossy().parse::<ArtistName>() else { return Ok(None) };
        let profile = self.artists.profile_named(&name).await?;
        Ok(profile.map(|profile| Subject::Artist(profile.artist.embedded_wallet)))
    }

    async fn carry_out(&self, order: Order) -> Result<String, Error> {
        match order {
            Order::Decide(ruling) => self.decide(ruling).await,
            Order::Dismiss(subject, note) => self.dismiss(subject, note).await,
            Order::Take(subject, note) => self.take(subject, note).await,
            Order::Decline(subject) => self.decline(subject).await,
            Order::Undo(subject, actions) => self.undo(subject, actions).await,
        }
    }
}

/// The fields of a query or a form; of several with a name the last one.
fn fields(text: &[u8]) -> HashMap<String, String> {
    form_urlencoded::parse(text).into_owned().collect()
}

/// The log says why, also of a decision that one key made.
fn noted(note: String) -> String {
    if note.is_empty() { "as seen at the desk".to_owned() } else { note }
}

/// A subject by its name, or by the address of its page or file, whatever host it is at.
fn subject_of(text: &str) -> Option<Subject> {
    if let Ok(subject) = text.parse() {
        return Some(subject);
    }
    let path = text.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let parts: Vec<&str> = path.rsplit('/').take(4).collect();
    let name = match parts[..] {
        [token, collection, chain, "m"] => format!("moment#{chain}#{collection}#{token}"),
        [collection, chain, "c", ..] => format!("collection#{chain}#{collection}"),
        [account, "a", ..] => format!("artist#{account}"),
        [cid, ..] => format!("cid#{cid}"),
        [] => return None,
    };
    name.to_lowercase().parse().ok()
}

fn html(document: Markup) -> Response {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(document.into_string())).into_response()
}

fn asset(mime: &'static str, content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, mime), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")], content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_by_name_and_by_address() {
        let (collection, cid) = (
            "0x540c18b7f99b3b599c6feb99964498931c211858",
            "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
        );
        for (text, expected) in [
            (format!("https://a.example/m/8453/{collection}/7?ref=ada#top"), format!("moment#8453#{collection}#7")),
            (format!("https://a.example/embed/m/8453/{collection}/7/"), format!("moment#8453#{collection}#7")),
            (
                format!("/c/8453/{}", collection.to_uppercase().replacen("0X", "0x", 1)),
                format!("collection#8453#{collection}"),
            ),
            (format!("https://a.example/a/{collection}"), format!("artist#{collection}")),
            (format!("https://files.example/ipfs/{cid}"), format!("cid#{cid}")),
            (format!("ipfs://{cid}"), format!("cid#{cid}")),
            (format!("artist#{collection}"), format!("artist#{collection}")),
        ] {
            assert_eq!(subject_of(&text).map(|subject| subject.to_string()), Some(expected), "{text}");
        }
        for text in ["", "https://a.example/", "moment", "m/8453/x/1"] {
            assert_eq!(subject_of(text), None, "{text}");
        }
    }
}
