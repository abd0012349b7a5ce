use std::task::{Context, Poll};

use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{RpcError, TransportError, TransportErrorKind, TransportFut},
};
use lambda_http::Service;
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use url::Url;

use super::{document::Subsegment, invocation::call};

/// Sends a request, whose subsegment has the URL's host alone.
pub async fn send(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    let (client, request) = request.build_split();
    let request = request?;
    let mut call = remote(request.url(), request.method().as_str());
    let answer = client.execute(request).await;
    if let (Some(call), Ok(response)) = (&mut call, &answer) {
        call.set("fault", false);
        call.answered(response.status().as_u16());
    }
    answer
}

/// A node's transport. Each call is a subsegment with the URL's host and the names of the JSON-RPC methods.
#[derive(Clone)]
pub struct TracedNode<T> {
    transport: T,
    url: Url,
}

impl<T> TracedNode<T> {
    /// Traces `transport`, which calls the node at `url`.
    pub fn new(transport: T, url: Url) -> Self {
        Self { transport, url }
    }
}

impl<T> Service<RequestPacket> for TracedNode<T>
where
    T: Service<RequestPacket, Response = ResponsePacket, Error = TransportError, Future = TransportFut<'static>>,
{
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.transport.poll_ready(context)
    }

    fn call(&mut self, request: RequestPacket) -> TransportFut<'static> {
        let Some(mut call) = remote(&self.url, "POST") else { return self.transport.call(request) };
        call.set("metadata", json!({"rpc": {"methods": request.method_names().take(10).collect::<Vec<_>>()}}));
        let answer = self.transport.call(request);
        Box::pin(async move {
            let answer = answer.await;
            match &answer {
                Ok(response) => {
                    call.set("fault", false);
                    if response.is_error() {
                        call.set("error", true);
                    }
                }
                Err(RpcError::Transport(TransportErrorKind::HttpError(error))) => {
                    call.set("fault", false);
                    call.answered(error.status);
                }
                Err(_) => {}
            }
            answer
        })
    }
}

/// A call of another service. It is a fault until its answer is noted.
fn remote(url: &Url, method: &str) -> Option<Subsegment> {
    let mut call = call(url.host_str().unwrap_or("unknown"))?;
    call.set("namespace", "remote");
    call.set("http", json!({"request": {"method": method}}));
    call.set("fault", true);
    Some(call)
}

#[cfg(test)]
mod tests {
    use alloy::{rpc::client::RpcClient, transports::http::Http};
    use reqwest::Client;

    use super::*;
    use crate::telemetry::trace::{
        Invocation,
        invocation::tests::{SAMPLED, daemon, received},
    };

    #[tokio::test]
    async fn a_url_s_secrets_are_in_no_subsegment() {
        let (socket, daemon) = daemon();
        let url: Url = "http://name:word@127.0.0.1:1/v2/secret-path?key=secret-query".parse().unwrap();
        let invocation = Invocation::sampled("request", Some(SAMPLED), || Some(daemon));
        let calls = async {
            let node = TracedNode::new(Http::with_client(Client::new(), url.clone()), url.clone());
            let answer: Result<String, _> = RpcClient::new(node, true).request_noparams("eth_blockNumber").await;
            assert!(answer.is_err());
            assert!(send(Client::new().get(url.clone())).await.is_err());
        };
        invocation.scope(calls).await;
        let documents = received(&socket);
        let [node, other] = documents.as_slice() else { panic!("{documents:?}") };
        for (call, method) in [(node, "POST"), (other, "GET")] {
            assert_eq!(
                (&call["name"], &call["namespace"], &call["fault"]),
                (&"127.0.0.1".into(), &"remote".into(), &true.into())
            );
            assert_eq!(call["http"], json!({"request": {"method": method}}));
            let text = call.to_string();
            assert!(!text.contains("secret") && !text.contains("word"), "{text}");
        }
        assert_eq!(node["metadata"], json!({"rpc": {"methods": ["eth_blockNumber"]}}));
    }
}
