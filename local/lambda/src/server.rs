//! A small HTTP server whose connections end with it, unlike those of `axum::serve`.

use std::{future::Future, io, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Body, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

/// An answer with its whole body.
pub(crate) type Reply = Response<Full<Bytes>>;

/// Pause after a connection could not be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Most bytes read and dropped after a body proved too large, so that the client can finish sending and read the
/// answer.
const MAX_DRAINED: usize = 64 << 20;

/// A running server; dropping it closes its port and its connections.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Listens on a port of the loopback interface (0 picks a free one) and answers every request with `answer`. A
    /// future of `answer` is dropped when its client disconnects.
    pub(crate) async fn start<F, A>(port: u16, answer: F) -> io::Result<Self>
    where
        F: Fn(Request<Incoming>, SocketAddr) -> A + Clone + Send + 'static,
        A: Future<Output = Reply> + Send + 'static,
    {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(accept(listener, answer));
        Ok(Self { address, task })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<F, A>(listener: TcpListener, answer: F)
where
    F: Fn(Request<Incoming>, SocketAddr) -> A + Clone + Send + 'static,
    A: Future<Output = Reply> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => drop(connections.spawn(serve(stream, peer, answer.clone()))),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve<F, A>(stream: TcpStream, peer: SocketAddr, answer: F)
where
    F: Fn(Request<Incoming>, SocketAddr) -> A + Clone + Send + 'static,
    A: Future<Output = Reply> + Send + 'static,
{
    // Small answers in several writes would otherwise wait for the client's acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answer = answer(request, peer);
        async { Ok::<_, hyper::Error>(answer.await) }
    });
    // A broken connection is the client's affair.
    let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await;
}

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    Broken,
}

/// Reads a body of at most `limit` bytes. A larger one is read to its end, up to a point, and dropped.
pub(crate) async fn read<B: Body<Data = Bytes> + Unpin>(mut body: B, limit: usize) -> Result<Bytes, BodyError> {
    let (mut read, mut size) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        size = size.saturating_add(data.len());
        if size <= limit {
            read.extend_from_slice(&data);
        } else if size > MAX_DRAINED {
            break;
        }
    }
    if size > limit { Err(BodyError::TooLarge) } else { Ok(read.into()) }
}

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: &Value) -> Reply {
    let mut reply = Response::new(Full::from(body.to_string()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// Sets a header unless its value can't be one.
pub(crate) fn set_header(reply: &mut Reply, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}
