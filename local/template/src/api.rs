use std::collections::BTreeMap;

use serde_norway::Value;

use crate::{Template, TemplateError, missing, resolve, resolve::chosen, resolve_all, scalar};

/// A throttle of an HTTP API's route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throttle {
    /// Requests a second in the long run.
    pub rate: f64,
    /// Requests at once.
    pub burst: f64,
}

/// The throttles of an HTTP API.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttles {
    /// That of every route without its own.
    pub default: Option<Throttle>,
    /// Those of routes, by method and path.
    pub routes: BTreeMap<(String, String), Throttle>,
}

/// CORS settings of an HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cors {
    /// Allowed origins, or `*`.
    pub allow_origins: Vec<String>,
    /// Allowed methods.
    pub allow_methods: Vec<String>,
    /// Allowed request headers.
    pub allow_headers: Vec<String>,
    /// Response headers that pages may read.
    pub expose_headers: Vec<String>,
    /// Seconds that a browser may cache a preflight.
    pub max_age: u64,
}

impl Template {
    /// CORS settings of the HTTP API; `None` when it has none. `names` come from [`Template::names`].
    pub fn cors(&self, names: &BTreeMap<String, String>) -> Result<Option<Cors>, TemplateError> {
        let api = self.resources("AWS::Serverless::HttpApi").next();
        let cors = api.and_then(|api| api.properties.get("CorsConfiguration"));
        let Some(cors) = cors.map_or(Ok(None), |cors| chosen(cors, names))? else { return Ok(None) };
        let part = |name: &str| cors.get(name).ok_or_else(|| missing("HttpApi", name));
        let list = |name: &str| resolve_all(part(name)?, names);
        let max_age = scalar(part("MaxAge")?).and_then(|seconds| seconds.parse().ok());
        Ok(Some(Cors {
            allow_origins: list("AllowOrigins")?,
            allow_methods: list("AllowMethods")?,
            allow_headers: list("AllowHeaders")?,
            expose_headers: list("ExposeHeaders")?,
            max_age: max_age.ok_or_else(|| missing("HttpApi", "MaxAge"))?,
        }))
    }

    /// Throttles of the HTTP API. `names` come from [`Template::names`].
    pub fn throttles(&self, names: &BTreeMap<String, String>) -> Result<Throttles, TemplateError> {
        let throttle = |settings: &Value| {
            let part = |name: &str| match settings.get(name).map(|value| resolve(value, names)).transpose()? {
                Some(value) => value.parse().map(Some).map_err(|_| missing("HttpApi", name)),
                None => Ok(None),
            };
            let (rate, burst) = (part("ThrottlingRateLimit")?, part("ThrottlingBurstLimit")?);
            Ok::<_, TemplateError>(rate.zip(burst).map(|(rate, burst)| Throttle { rate, burst }))
        };
        let api = self.resources("AWS::Serverless::HttpApi").next();
        let default = api.and_then(|api| api.properties.get("DefaultRouteSettings"));
        let mut routes = BTreeMap::new();
        for event in self.resources("AWS::Serverless::Function").flat_map(|function| function.events("HttpApi")) {
            let part = |name: &str| event.get(name).and_then(scalar);
            let settings = event.get("RouteSettings").map(throttle).transpose()?.flatten();
            if let (Some(method), Some(path), Some(settings)) = (part("Method"), part("Path"), settings) {
                routes.insert((method.to_uppercase(), path), settings);
            }
        }
        Ok(Throttles { default: default.map(throttle).transpose()?.flatten(), routes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::YAML;

    #[test]
    fn throttles_are_read_with_their_references() {
        let template: Template = YAML.parse().unwrap();
        let throttles = template.throttles(&template.names([]).unwrap()).unwrap();
        assert_eq!(throttles.default, Some(Throttle { rate: 30.0, burst: 60.0 }));
        let route = ("GET".to_owned(), "/things/{id}".to_owned());
        assert_eq!(throttles.routes, [(route, Throttle { rate: 5.0, burst: 10.0 })].into());
    }

    #[test]
    fn cors_origins_are_read_from_a_parameter() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let cors = Cors {
            allow_origins: texts(&["https://a.example", "https://b.example"]),
            allow_methods: texts(&["GET"]),
            allow_headers: texts(&["a", "b"]),
            expose_headers: texts(&["c"]),
            max_age: 600,
        };
        let template = YAML.parse::<Template>().unwrap();
        assert_eq!(template.cors(&template.names([]).unwrap()).unwrap(), Some(cors));
        let none = template.names([("Pages".to_owned(), String::new())]).unwrap();
        assert_eq!(template.cors(&none).unwrap(), None);
    }
}
