//! Which route takes a request.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::Throttle;

/// A route of an HTTP API.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// HTTP method, or `ANY`.
    pub method: String,
    /// Path after the stage, with parameters such as `{id}`, and at its end perhaps `{rest+}`.
    pub path: String,
    /// The function that answers.
    pub function: String,
    /// Its throttle, if it has its own.
    pub throttle: Option<Throttle>,
}

/// Key of the route that takes what no other does.
const DEFAULT: &str = "$default";

impl Route {
    /// Its key: method and path, or `$default`.
    pub(super) fn key(&self) -> String {
        if self.path == DEFAULT { self.path.clone() } else { format!("{} {}", self.method, self.path) }
    }
}

/// A segment of a route's path. Earlier ones are more specific.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Literal(String),
    Parameter(String),
    Greedy(String),
}

impl Segment {
    fn parse(text: &str) -> Self {
        match text.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => name
                .strip_suffix('+')
                .map_or_else(|| Self::Parameter(name.to_owned()), |name| Self::Greedy(name.to_owned())),
            None => Self::Literal(text.to_owned()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Literal(_) => 0,
            Self::Parameter(_) => 1,
            Self::Greedy(_) => 2,
        }
    }
}

/// The routes of an API.
pub(super) struct Routes {
    routes: Vec<(Vec<Segment>, Route)>,
    default: Option<Route>,
}

/// Values of a path's parameters, with percent-encoding undone.
pub(super) type Parameters = BTreeMap<String, String>;

impl Routes {
    pub(super) fn new(routes: &[Route], default_function: Option<&str>) -> Self {
        let segments = |route: &Route| segments(&route.path).map(Segment::parse).collect();
        let default = default_function.map(|function| Route {
            method: String::new(),
            path: DEFAULT.to_owned(),
            function: function.to_owned(),
            throttle: None,
        });
        Self { routes: routes.iter().map(|route| (segments(route), route.clone())).collect(), default }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter().map(|(_, route)| route).chain(&self.default)
    }

    /// The route for a method and a path after the stage: a whole match before a greedy one, segment by segment the
    /// literal before the parameter, the method before `ANY`, and at last the default route.
    pub(super) fn find(&self, method: &str, path: &str) -> Option<(&Route, Parameters)> {
        let matching = self.routes.iter().filter(|(_, route)| route.method == method || route.method == "ANY");
        let matching = matching.filter_map(|(pattern, route)| Some((pattern, route, parameters(pattern, path)?)));
        let best = matching.min_by_key(|(pattern, route, _)| {
            let ranks: Vec<_> = pattern.iter().map(Segment::rank).collect();
            (ranks.contains(&2), ranks, route.method == "ANY")
        });
        let best = best.map(|(_, route, parameters)| (route, parameters));
        best.or_else(|| self.default.as_ref().map(|default| (default, Parameters::new())))
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

fn parameters(pattern: &[Segment], path: &str) -> Option<Parameters> {
    let decode = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
    let (mut parameters, mut rest) = (Parameters::new(), segments(path));
    for segment in pattern {
        match segment {
            Segment::Literal(literal) => {
                rest.next().filter(|next| decode(next) == *literal)?;
            }
            Segment::Parameter(name) => {
                let value = rest.next().filter(|next| !next.is_empty())?;
                parameters.insert(name.clone(), decode(value));
            }
            Segment::Greedy(name) => {
                let values: Vec<_> = rest.by_ref().collect();
                let value = Some(values.join("/")).filter(|value| !value.is_empty())?;
                parameters.insert(name.clone(), decode(&value));
            }
        }
    }
    rest.next().is_none().then_some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(default: Option<&str>) -> Routes {
        let route = |key: &str| {
            let (method, path) = key.split_once(' ').unwrap();
            Route { method: method.to_owned(), path: path.to_owned(), function: key.to_owned(), throttle: None }
        };
        let keys = ["GET /pets/dog/1", "GET /pets/dog/{id}", "GET /pets/{kind}/1", "GET /pets/{proxy+}", "ANY /{all+}"];
        let others = ["ANY /pets", "POST /pets", "GET /"];
        Routes::new(&keys.into_iter().chain(others).map(route).collect::<Vec<_>>(), default)
    }

    #[test]
    fn the_most_specific_route_takes_a_request() {
        let routes = routes(Some("rest"));
        for (request, key) in [
            ("GET /pets/dog/1", "GET /pets/dog/1"),
            ("GET /pets/dog/2", "GET /pets/dog/{id}"),
            ("GET /pets/cat/1", "GET /pets/{kind}/1"),
            ("GET /pets/cat/2", "GET /pets/{proxy+}"),
            ("PUT /pets/cat/2", "ANY /{all+}"),
            ("GET /pets", "ANY /pets"),
            ("QUERY /pets", "ANY /pets"),
            ("POST /pets", "POST /pets"),
            ("GET /", "GET /"),
            ("PUT /", "$default"),
        ] {
            let (method, path) = request.split_once(' ').unwrap();
            assert_eq!(routes.find(method, path).unwrap().0.key(), key, "{request}");
        }
    }

    #[test]
    fn parameters_are_decoded_and_never_empty() {
        let routes = routes(None);
        let (_, parameters) = routes.find("GET", "/pets/dog/a%20b%2Fc").unwrap();
        assert_eq!(parameters, [("id".to_owned(), "a b/c".to_owned())].into());
        let (_, parameters) = routes.find("GET", "/pets/x/y/z").unwrap();
        assert_eq!(parameters, [("proxy".to_owned(), "x/y/z".to_owned())].into());
        assert_eq!(routes.find("GET", "/pets/dog/").unwrap().0.key(), "GET /pets/{proxy+}");
        assert!(routes.find("PUT", "/").is_none());
    }
}
