//! The fetcher with a hostile server.

use std::{
    convert::Infallible,
    error::Error,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use fetch_metadata::{FetchError, Fetcher};
use futures::stream;
use shared::public_web::{DownloadError, Gateways};
use tokio::net::TcpListener;

/// Longest wait for what must come, far above what a slow machine takes.
const PATIENCE: Duration = Duration::from_secs(180);

const DOCUMENT: &str = r#"{"name": "First Light", "content": {"mime": "image/png", "uri": "ipfs://x"}}"#;

/// A server whose answer depends on the path, its count of requests, and a fetcher that uses it as gateway.
struct Hostile {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    fetcher: Fetcher,
}

impl Hostile {
    async fn start() -> Result<Self, Box<dyn Error>> {
        Self::within(PATIENCE).await
    }

    /// With a fetcher that gives a document so much time.
    async fn within(time: Duration) -> Result<Self, Box<dyn Error>> {
        let requests = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let routes = Router::new().route("/ipfs/{*path}", get(answer)).with_state((address, requests.clone()));
        tokio::spawn(axum::serve(listener, routes).into_future());
        let fetcher = Fetcher::within(Gateways::private(&format!("http://{address}/ipfs/"), address)?, time)?;
        Ok(Self { address, requests, fetcher })
    }

    async fn fetch(&self, path: &str) -> Result<String, FetchError> {
        self.fetcher.fetch(&format!("ipfs://{path}"), 0).await.map(|document| document.name)
    }
}

async fn answer(
    State((address, requests)): State<(SocketAddr, Arc<AtomicUsize>)>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    requests.fetch_add(1, Ordering::SeqCst);
    let (what, argument) = path.split_once('/').unwrap_or((&path, ""));
    match what {
        "good" => DOCUMENT.into_response(),
        "bom" => format!("\u{feff}{DOCUMENT}").into_response(),
        "text" => ([(header::CONTENT_TYPE, "text/html")], DOCUMENT).into_response(),
        "latin" => Bytes::from_static(b"{\"name\": \"caf\xe9\"}").into_response(),
        "to" => redirect(&String::from_utf8_lossy(&percent_encoding::percent_decode_str(argument).collect::<Vec<_>>())),
        "hops" => match argument.parse::<u32>().unwrap_or_default() {
            0 => DOCUMENT.into_response(),
            left => redirect(&format!("http://user:secret@{address}/ipfs/hops/{}", left - 1)),
        },
        "loop" => redirect("/ipfs/loop"),
        "nowhere" => StatusCode::FOUND.into_response(),
        "long" => " ".repeat(300 * 1024).into_response(),
        "just" => format!("{DOCUMENT}{}", " ".repeat(256 * 1024 - DOCUMENT.len())).into_response(),
        "endless" => forever(Duration::ZERO, Bytes::from(vec![b' '; 16 * 1024])),
        "drip" => forever(Duration::from_millis(100), Bytes::from_static(b" ")),
        "silent" => std::future::pending().await,
        "bomb" => ([(header::CONTENT_ENCODING, "gzip")], Bytes::from_static(&[0x1f, 0x8b, 8, 0])).into_response(),
        "broken" => "{\"name\": ".into_response(),
        "list" => "[1, 2]".into_response(),
        "deep" => "[".repeat(100_000).into_response(),
        "gone" => StatusCode::GONE.into_response(),
        "encodings" => format!("{{\"name\": {:?}}}", headers[header::ACCEPT_ENCODING]).into_response(),
        "credentials" => format!("{{\"name\": \"{}\"}}", headers.contains_key(header::AUTHORIZATION)).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn redirect(to: &str) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
}

fn forever(pause: Duration, chunk: Bytes) -> Response {
    Body::from_stream(stream::unfold((), move |()| {
        let chunk = chunk.clone();
        async move {
            tokio::time::sleep(pause).await;
            Some((Ok::<_, Infallible>(chunk), ()))
        }
    }))
    .into_response()
}

#[tokio::test]
async fn documents_are_read_leniently() {
    let server = Hostile::start().await.unwrap();
    for path in ["good", "bom", "text", "just", "hops/3"] {
        assert_eq!(server.fetch(path).await.unwrap(), "First Light", "{path}");
    }
    assert_eq!(server.fetch("latin").await.unwrap(), "caf\u{fffd}");
    assert_eq!(server.fetch("encodings").await.unwrap(), "identity");
    let with_password = format!("to/http:%2F%2Fuser:secret@{}%2Fipfs%2Fcredentials", server.address);
    assert_eq!(server.fetch(&with_password).await.unwrap(), "false");
}

#[tokio::test]
async fn redirects_are_limited() {
    let server = Hostile::start().await.unwrap();
    assert!(matches!(server.fetch("hops/4").await, Err(FetchError::Download(DownloadError::Redirects))));
    assert_eq!(server.requests.swap(0, Ordering::SeqCst), 4);
    assert!(matches!(server.fetch("loop").await, Err(FetchError::Download(DownloadError::Redirects))));
    assert_eq!(server.requests.load(Ordering::SeqCst), 4);
    assert!(matches!(server.fetch("nowhere").await, Err(FetchError::Download(DownloadError::Location))));
}

#[tokio::test]
async fn redirects_to_private_addresses_are_refused() {
    let server = Hostile::start().await.unwrap();
    let other = Hostile::start().await.unwrap();
    for to in [
        format!("http://{}/ipfs/good", other.address),
        format!("http://[::ffff:127.0.0.1]:{}/ipfs/good", server.address.port()),
        format!("http://localhost:{}/ipfs/good", server.address.port()),
        "http://127.0.0.1/".to_owned(),
        "http://2130706433/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::1]/".to_owned(),
        "https://10.0.0.1/".to_owned(),
        "https://[fd00:ec2::254]/".to_owned(),
        "ftp://1.1.1.1/".to_owned(),
    ] {
        let path = format!("to/{}", to.replace('/', "%2F"));
        assert!(matches!(server.fetch(&path).await, Err(FetchError::Download(DownloadError::Refused(_)))), "{to}");
    }
    for to in ["file:///etc/passwd", "data:application/json,{}"] {
        let path = format!("to/{}", to.replace('/', "%2F"));
        let answer = server.fetch(&path).await;
        assert!(
            matches!(answer, Err(FetchError::Download(DownloadError::Refused(_) | DownloadError::Location))),
            "{to}: {answer:?}"
        );
    }
    assert_eq!(other.requests.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn names_with_private_addresses_are_refused() {
    // The default ports are allowed, so only the resolved address can be the reason.
    let server = Hostile::start().await.unwrap();
    for to in ["http://localhost/", "https://localhost/"] {
        let error = server.fetch(&format!("to/{}", to.replace('/', "%2F"))).await.unwrap_err();
        let FetchError::Download(DownloadError::Http(error)) = &error else { panic!("{to}: {error:?}") };
        assert!(format!("{error:?}").contains("no public address"), "{to}: {error:?}");
    }
}

#[tokio::test]
async fn long_answers_are_refused() {
    let server = Hostile::start().await.unwrap();
    for path in ["long", "endless"] {
        assert!(matches!(server.fetch(path).await, Err(FetchError::Download(DownloadError::TooLong(_)))), "{path}");
    }
}

#[tokio::test]
async fn slow_answers_time_out() {
    // Longer than the pauses between what drips.
    let server = Hostile::within(Duration::from_millis(400)).await.unwrap();
    let both = async { futures::join!(server.fetch("drip"), server.fetch("silent")) };
    let (drip, silent) = tokio::time::timeout(PATIENCE, both).await.unwrap();
    assert!(matches!(
        (drip, silent),
        (Err(FetchError::Download(DownloadError::Timeout(_))), Err(FetchError::Download(DownloadError::Timeout(_))))
    ));
}

#[tokio::test]
async fn invalid_documents_are_refused() {
    let server = Hostile::start().await.unwrap();
    for path in ["broken", "list", "deep"] {
        assert!(matches!(server.fetch(path).await, Err(FetchError::NotMetadata)), "{path}");
    }
    assert!(matches!(server.fetch("bomb").await, Err(FetchError::Download(DownloadError::Compressed))));
    assert!(matches!(server.fetch("gone").await, Err(FetchError::Download(DownloadError::Status(StatusCode::GONE)))));
}

#[tokio::test]
async fn data_uris_need_no_server() {
    let fetcher = Hostile::start().await.unwrap().fetcher;
    for uri in [
        r#"data:application/json,{"name":"a%20#1"}"#,
        r#"data:application/json;charset=utf-8,%7B%22name%22%3A%22a%20%231%22%7D"#,
        r#"data:application/json;utf8,{"name":"a #1"}"#,
        "data:application/json;base64,eyJuYW1lIjoiYSAjMSJ9",
        "data:;base64,eyJuYW1lIjoiYSAjMSJ9",
    ] {
        assert_eq!(fetcher.fetch(uri, 0).await.unwrap().name, "a #1", "{uri}");
    }
    for uri in ["data:", "data:application/json", "data:application/json;base64,%%%", "ipfs://", "ipns://x", "x"] {
        assert!(matches!(fetcher.fetch(uri, 0).await, Err(FetchError::Download(DownloadError::Unfetchable))), "{uri}");
    }
}
