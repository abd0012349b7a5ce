//! The template's HTTP API on the emulated API Gateway.

use std::{collections::BTreeMap, time::Duration};

use local_lambda::gateway::{self, Gateway, HttpApi, Target};
use template::{Cors, Template, Throttle};

use crate::{Error, functions::Emulator, paths::Paths};

/// Longest wait of an HTTP API for a function.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running gateway; dropping it stops it.
pub struct ApiGateway {
    /// Base URL for requests, without the stage.
    pub url: String,
    _gateway: Gateway,
}

impl ApiGateway {
    /// Starts one on `port` (0 picks a free one) in front of another process's functions, at `lambda`, without
    /// throttles. Without `cors`, cross-origin calls are not allowed and preflights are forwarded like any other
    /// request.
    pub async fn start(port: u16, lambda: &str, cors: Option<Cors>) -> Result<Self, Error> {
        let template = Paths::of_checkout().template()?;
        Self::with(port, HttpApi { cors: cors.map(cors_of), ..api(&template)? }, Target::remote(lambda)).await
    }

    /// Starts one on `port` in front of `functions`, with the template's CORS settings and its throttles, `factor`
    /// times higher. `names` come from [`Template::names`].
    pub async fn in_front_of(
        functions: &Emulator,
        port: u16,
        template: &Template,
        names: &BTreeMap<String, String>,
        factor: u32,
    ) -> Result<Self, Error> {
        let mut api = api(template)?;
        let throttles = template.throttles(names)?;
        let throttle = |throttle: &Throttle| gateway::Throttle {
            rate: throttle.rate * f64::from(factor),
            burst: throttle.burst * f64::from(factor),
        };
        for route in &mut api.routes {
            route.throttle = throttles.routes.get(&(route.method.clone(), route.path.clone())).map(throttle);
        }
        api.default_throttle = throttles.default.as_ref().map(throttle);
        api.cors = template.cors(names)?.map(cors_of);
        Self::with(port, api, functions.target()).await
    }

    async fn with(port: u16, api: HttpApi, target: Target) -> Result<Self, Error> {
        let gateway = Gateway::start(port, api, target).await?;
        Ok(Self { url: gateway.url.clone(), _gateway: gateway })
    }
}

/// The template's API, without CORS and throttles.
fn api(template: &Template) -> Result<HttpApi, Error> {
    let routes = template.routes()?;
    let stage = routes.first().map(|route| route.stage.clone()).ok_or("template.yaml: no route")?;
    let functions = template.functions()?;
    let default = functions.into_iter().find(|function| function.is_default_route);
    let routes = routes.into_iter().map(|route| gateway::Route {
        method: route.method,
        path: route.path,
        function: route.binary,
        throttle: None,
    });
    Ok(HttpApi {
        stage,
        routes: routes.collect(),
        default_function: default.map(|function| function.binary),
        default_throttle: None,
        outside: Some(gateway::Outside { prefix: "/pages".to_owned(), root_object: "home".to_owned() }),
        cors: None,
        timeout: TIMEOUT,
    })
}

fn cors_of(cors: Cors) -> gateway::Cors {
    let Cors { allow_origins, allow_methods, allow_headers, expose_headers, max_age } = cors;
    gateway::Cors { allow_origins, allow_methods, allow_headers, expose_headers, max_age }
}
