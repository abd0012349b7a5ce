use sha2::{Digest, Sha256};

use super::{error::ApiError, request::Request};
use crate::config;

/// The header that the distribution adds to what it passes on.
const HEADER: &str = "x-origin-secret";

/// How requests reach the functions: through the distribution alone, or by the API's own address.
/// With more than one secret, one is taking the other's place.
pub(super) struct Origin(Vec<Vec<u8>>);

impl Origin {
    /// Reads `ORIGIN_SECRET`; without it there is no distribution.
    pub(super) fn from_env() -> Self {
        Self::new(config::optional(config::variables::ORIGIN_SECRET).as_deref())
    }

    fn new(secrets: Option<&str>) -> Self {
        Self(secrets.into_iter().flat_map(|secrets| secrets.split(',')).map(digest).collect())
    }

    /// 403 for a request that passed the distribution by, and with it the limits there.
    pub(super) fn admit(&self, request: &mut Request) -> Result<(), ApiError> {
        if self.0.is_empty() {
            return Ok(());
        }
        // Digests, so that the comparison's time says nothing about the secret.
        if !self.0.contains(&digest(request.header(HEADER).unwrap_or_default())) {
            return Err(ApiError::forbidden("Call the service at its base URL: this address is not for clients"));
        }
        request.trust_viewer_address();
        Ok(())
    }
}

fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}

#[cfg(test)]
mod tests {
    use lambda_http::{
        Body, RequestExt, aws_lambda_events::apigw::ApiGatewayV2httpRequestContext, http, request::RequestContext,
    };

    use super::*;

    fn request(secret: &str, viewer: &str) -> Request {
        let mut context = ApiGatewayV2httpRequestContext::default();
        context.http.source_ip = Some("203.0.113.9".to_owned());
        let event =
            http::Request::get("/api/moment").header(HEADER, secret).header("cloudfront-viewer-address", viewer);
        Request::new(event.body(Body::Empty).unwrap().with_request_context(RequestContext::ApiGatewayV2(context)))
    }

    #[test]
    fn only_the_distributions_requests_pass_and_only_theirs_name_the_viewer() {
        let origin = Origin::new(Some("s3cret"));
        for (viewer, network) in [
            ("198.51.100.7:4711", "198.51.100.7"),
            ("2001:db8:1:2:3::4:4711", "2001:db8:1:2::/64"),
            ("[2001:db8:1:2:3::4]:4711", "2001:db8:1:2::/64"),
            ("nonsense", "203.0.113.9"),
        ] {
            let mut passed = request("s3cret", viewer);
            assert!(origin.admit(&mut passed).is_ok());
            assert_eq!(passed.client_network(), network, "{viewer}");
        }
        let networks = |viewer: &str| {
            let mut passed = request("s3cret", viewer);
            assert!(origin.admit(&mut passed).is_ok());
            passed.client_networks()
        };
        let counted =
            |networks: &[(&str, u32)]| networks.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        let v6: Vec<_> = counted(&[("2001:db8:1:f2ff::/64", 1), ("2001:db8:1:f200::/56", 4), ("2001:db8:1::/48", 16)]);
        assert_eq!(networks("[2001:db8:1:f2ff::4]:4711"), v6);
        assert_eq!(networks("198.51.100.7:4711"), counted(&[("198.51.100.7", 1), ("198.51.100.0/24", 16)]));
        for wrong in ["", "s3cre", "s3cret "] {
            let mut refused = request(wrong, "198.51.100.7:4711");
            assert_eq!(origin.admit(&mut refused).unwrap_err().status(), http::StatusCode::FORBIDDEN, "{wrong:?}");
            assert_eq!(refused.client_network(), "203.0.113.9");
        }
        let rotating = Origin::new(Some("n3w,s3cret"));
        for (secret, is_admitted) in [("n3w", true), ("s3cret", true), ("n3w,s3cret", false), ("", false)] {
            let mut asked = request(secret, "198.51.100.7:4711");
            assert_eq!(rotating.admit(&mut asked).is_ok(), is_admitted, "{secret:?}");
        }
        let mut open = request("", "198.51.100.7:4711");
        assert!(Origin::new(None).admit(&mut open).is_ok());
        assert_eq!(open.client_network(), "203.0.113.9", "without a distribution the header is the client's own word");
    }
}
