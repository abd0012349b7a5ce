//! The service's routes, which the build reads from `template.yaml`.

/// Method and path of every route, such as `("GET", "/api/comments")`; a `{segment}` matches any one segment.
const ROUTES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/routes.rs"));

/// Methods of a path; none for an unknown one. A literal route takes precedence over one with parameters.
pub fn allowed_methods(path: &str) -> Vec<&'static str> {
    let methods = |is_meant: &dyn Fn(&str) -> bool| {
        ROUTES.iter().filter(|(_, route)| is_meant(route)).map(|(method, _)| *method).collect::<Vec<_>>()
    };
    let named = methods(&|route| route == path);
    if named.is_empty() { methods(&|route| is_match(route, path)) } else { named }
}

fn is_match(route: &str, path: &str) -> bool {
    let any = |segment: &str| segment.starts_with('{');
    route.split('/').count() == path.split('/').count()
        && route
            .split('/')
            .zip(path.split('/'))
            .all(|(route, path)| if any(route) { !path.is_empty() } else { route == path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_path_has_methods_and_an_unknown_one_has_none() {
        assert_eq!(allowed_methods("/api/comments"), ["GET"]);
        let sorted = |path: &str| {
            let mut methods = allowed_methods(path);
            methods.sort_unstable();
            methods
        };
        assert_eq!(sorted("/api/artists/api-keys"), ["DELETE", "GET", "POST"]);
        assert_eq!(allowed_methods("/api/artists/0x1"), ["GET"]);
        assert_eq!(sorted("/api/artists/me"), ["DELETE", "GET", "PATCH"]);
        for path in ["/", "/api", "/api/comments/", "/api/comments/1", "/comments", "/api/Comments"] {
            assert!(allowed_methods(path).is_empty(), "{path} was found");
        }
    }

    #[test]
    fn a_parameter_matches_one_segment() {
        assert!(is_match("/api/collections/{network}/{contract}", "/api/collections/eip155:1/erc1155:0x1"));
        assert!(!is_match("/api/collections/{network}/{contract}", "/api/collections/eip155:1"));
        assert!(!is_match("/api/collections/{network}/{contract}", "/api/collections//x"));
    }
}
