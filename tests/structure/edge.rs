//! What stands in front of the API, by the template: when it is there, what it keeps, and how much it lets one client do.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use local::paths::Paths;
use serde_json::{Value, json};
use template::{Resource, Template, resolve};

use crate::checkout::template;

/// Requests a second of one client that must leave room for all others.
const ONE_CLIENT: f64 = 500.0;

/// People behind one address who sign in within a minute.
const OFFICE: u64 = 200;

fn names(template: &Template, parameters: &[(&str, &str)]) -> BTreeMap<String, String> {
    let given = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    template.names(given).expect("names")
}

fn resource<'a>(template: &'a Template, r#type: &'a str) -> Resource<'a> {
    template.resources(r#type).next().expect(r#type)
}

/// A resource's properties, without the tags of functions such as `!Ref`.
fn properties(resource: Resource<'_>) -> Value {
    fn plain(value: &serde_norway::Value) -> Value {
        match value {
            serde_norway::Value::Tagged(tagged) => plain(&tagged.value),
            serde_norway::Value::Sequence(values) => values.iter().map(plain).collect(),
            serde_norway::Value::Mapping(values) => {
                let name = |name: &serde_norway::Value| name.as_str().unwrap_or_default().to_owned();
                values.iter().map(|(key, value)| (name(key), plain(value))).collect::<serde_json::Map<_, _>>().into()
            }
            other => serde_json::to_value(other).expect("JSON"),
        }
    }
    plain(resource.properties)
}

#[test]
fn the_distribution_and_its_firewall_are_there_when_the_parameters_say_so() {
    let template = template();
    for (stage, distribution, firewall, has_distribution, has_firewall) in [
        ("production", "production", "production", true, true),
        ("staging", "production", "production", false, false),
        ("staging", "always", "production", true, false),
        ("staging", "always", "always", true, true),
        ("staging", "never", "always", false, false),
        ("production", "never", "production", false, false),
        ("production", "production", "never", true, false),
    ] {
        let parameters = [("Stage", stage), ("Distribution", distribution), ("Firewall", firewall)];
        let names = names(&template, &parameters);
        let is_made = |r#type| resource(&template, r#type).is_made(&names).expect("a condition");
        assert_eq!(is_made("AWS::CloudFront::Distribution"), has_distribution, "{parameters:?}");
        assert_eq!(is_made("AWS::SecretsManager::Secret"), has_distribution, "{parameters:?}");
        assert_eq!(is_made("AWS::SSM::Parameter"), has_distribution, "{parameters:?}");
        assert_eq!(is_made("AWS::WAFv2::WebACL"), has_firewall, "{parameters:?}");
    }
}

#[test]
fn functions_and_distribution_share_one_secret_and_without_a_distribution_there_is_none() {
    let template = template();
    for (stage, secret) in [("production", "value of OriginSecretValue"), ("staging", "")] {
        let names = template.deployed(BTreeMap::from([("Stage".to_owned(), stage.to_owned())])).expect("names");
        for function in template.functions().expect("functions") {
            let known = resolve(&function.environment["ORIGIN_SECRET"], &names).expect("a secret");
            assert_eq!(known, secret, "{} of {stage}", function.binary);
        }
    }
    let distribution = &properties(resource(&template, "AWS::CloudFront::Distribution"))["DistributionConfig"];
    for origin in distribution["Origins"].as_array().expect("origins") {
        let first = serde_json::json!([0, [",", "OriginSecretValue.Value"]]);
        assert_eq!(origin["OriginCustomHeaders"][0]["HeaderValue"], first, "{}", origin["Id"]);
    }
}

#[test]
fn a_domain_belongs_to_the_distribution_or_to_the_api_and_never_to_both() {
    let template = template();
    for (stage, of_the_api) in [("production", false), ("staging", true)] {
        let domain = [("Stage", stage), ("DomainName", "a.example"), ("CertificateArn", "arn:aws:acm:x")];
        let names = names(&template, &domain);
        let is_made = resource(&template, "AWS::ApiGatewayV2::DomainName").is_made(&names).expect("a condition");
        assert_eq!(is_made, of_the_api, "{stage}");
    }
}

#[test]
fn nothing_with_a_credential_is_kept_for_another_and_no_error_is_kept() {
    let template = template();
    let policy = properties(resource(&template, "AWS::CloudFront::CachePolicy"));
    let policy = &policy["CachePolicyConfig"];
    let key = &policy["ParametersInCacheKeyAndForwardedToOrigin"];
    let headers: Vec<_> = key["HeadersConfig"]["Headers"].as_array().expect("headers").clone();
    for credential in ["authorization", "x-api-key"] {
        assert!(headers.iter().any(|header| header == credential), "{credential} is in no key: {headers:?}");
    }
    assert_eq!(key["CookiesConfig"]["Cookies"], serde_json::json!(["moments-session"]));
    assert_eq!(key["QueryStringsConfig"]["QueryStringBehavior"], "all");
    // What says nothing of keeping isn't kept.
    assert_eq!((&policy["MinTTL"], &policy["DefaultTTL"]), (&Value::from(0), &Value::from(0)));
    let distribution = properties(resource(&template, "AWS::CloudFront::Distribution"));
    let distribution = &distribution["DistributionConfig"];
    let errors = distribution["CustomErrorResponses"].as_array().expect("errors");
    assert!(errors.len() >= 11 && errors.iter().all(|error| error["ErrorCachingMinTTL"] == 0), "{errors:?}");
    // A page would replace functions' own words.
    assert!(errors.iter().all(|error| error.get("ResponsePagePath").is_none()), "{errors:?}");
    let origin = &distribution["Origins"][0];
    assert_eq!(origin["OriginCustomHeaders"][0]["HeaderName"], "x-origin-secret");
    assert_eq!(origin["CustomOriginConfig"]["OriginProtocolPolicy"], "https-only");
    // Pages carry no credential; the API's requests do, and aren't led over from the clear.
    assert_eq!(distribution["DefaultCacheBehavior"]["AllowedMethods"], serde_json::json!(["GET", "HEAD"]));
    let behaviors = distribution["CacheBehaviors"].as_array().expect("behaviors");
    assert!(behaviors.iter().any(|behavior| behavior["PathPattern"] == "/api/*"));
    for behavior in behaviors {
        assert_eq!(behavior["ViewerProtocolPolicy"], "https-only", "{}", behavior["PathPattern"]);
    }
}

#[test]
fn a_file_is_kept_once_whatever_else_a_request_carries() {
    let template = template();
    let policy = template.resources("AWS::CloudFront::CachePolicy").find(|each| each.logical_id == "FilesCachePolicy");
    let policy = &properties(policy.expect("FilesCachePolicy"))["CachePolicyConfig"];
    let key = &policy["ParametersInCacheKeyAndForwardedToOrigin"];
    assert_eq!(key["HeadersConfig"]["HeaderBehavior"], "none");
    assert_eq!(key["CookiesConfig"]["CookieBehavior"], "none");
    assert_eq!(key["QueryStringsConfig"]["QueryStringBehavior"], "whitelist");
    let contract = fs::read(Paths::of_checkout().root().join("openapi.json")).expect("openapi.json");
    let contract: Value = serde_json::from_slice(&contract).expect("JSON");
    let mut read = Vec::new();
    for path in ["/ipfs/{cid}", "/previews/{picture}/{width}"] {
        let parameters = contract["paths"][path]["get"]["parameters"].as_array().expect("parameters").iter();
        let of_query = parameters.filter(|parameter| parameter["in"] == "query");
        read.extend(of_query.map(|parameter| parameter["name"].clone()));
    }
    assert_eq!(key["QueryStringsConfig"]["QueryStrings"], Value::from(read), "what they read");
    // Redirections and refusals say nothing of keeping.
    assert_eq!((&policy["MinTTL"], &policy["DefaultTTL"]), (&Value::from(0), &Value::from(0)));
    let distribution = properties(resource(&template, "AWS::CloudFront::Distribution"));
    let behaviors = distribution["DistributionConfig"]["CacheBehaviors"].as_array().expect("behaviors");
    let place = |path: &str| behaviors.iter().position(|behavior| behavior["PathPattern"] == path).expect("a behavior");
    for path in ["/api/ipfs/*", "/api/previews/*"] {
        assert!(place(path) < place("/api/*"), "{path}: the first that matches counts");
        let behavior = &behaviors[place(path)];
        assert_eq!(behavior["CachePolicyId"], "FilesCachePolicy", "{path}");
        // Any page may read them, whichever asked first.
        assert_eq!(behavior["ResponseHeadersPolicyId"], "FilesHeaders", "{path}");
        assert_eq!(behavior["OriginRequestPolicyId"], "OriginRequestPolicy", "{path}");
    }
    let has =
        |headers: &Value, name: &str| headers.as_array().is_some_and(|headers| headers.iter().any(|own| own == name));
    // The gateway answers a preflight by it.
    let passed = properties(resource(&template, "AWS::CloudFront::OriginRequestPolicy"));
    assert!(has(&passed["OriginRequestPolicyConfig"]["HeadersConfig"]["Headers"], "origin"));
    let answered = properties(resource(&template, "AWS::CloudFront::ResponseHeadersPolicy"));
    let allowed = &answered["ResponseHeadersPolicyConfig"]["CorsConfig"]["AccessControlAllowHeaders"]["Items"];
    assert!(has(allowed, "authorization") && has(allowed, "x-api-key") && has(allowed, "range"), "{allowed}");
}

#[test]
fn every_header_that_functions_read_reaches_them() {
    let template = template();
    let policy = properties(resource(&template, "AWS::CloudFront::OriginRequestPolicy"));
    let key = properties(resource(&template, "AWS::CloudFront::CachePolicy"));
    let list = |headers: &Value| headers["HeadersConfig"]["Headers"].as_array().cloned().unwrap_or_default();
    let mut passed = list(&policy["OriginRequestPolicyConfig"]);
    let of_key = list(&key["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"]);
    assert!(passed.len() <= 10 && of_key.len() <= 10, "a policy takes ten: {passed:?} {of_key:?}");
    passed.extend(of_key);
    // CloudFront answers `If-None-Match` and `Accept-Encoding` itself.
    for header in [
        "authorization",
        "x-api-key",
        "content-type",
        "idempotency-key",
        "valid-until",
        "cloudfront-viewer-address",
        "moments-session",
        "origin",
        "sec-fetch-site",
    ] {
        assert!(passed.iter().any(|name| name == header), "{header}: {passed:?}");
    }
}

#[test]
fn the_firewall_limits_each_class_of_routes_by_client_in_the_contracts_words() {
    let template = template();
    let firewall = properties(resource(&template, "AWS::WAFv2::WebACL"));
    for body in firewall["CustomResponseBodies"].as_object().expect("bodies").values() {
        let content: Value = serde_json::from_str(body["Content"].as_str().expect("content")).expect("JSON");
        assert!(content["status"] == "error" && content["message"].is_string(), "{content}");
    }
    let rules = firewall["Rules"].as_array().expect("rules");
    let limit = |name: &str| {
        let rule = rules.iter().find(|rule| rule["Name"] == name).unwrap_or_else(|| panic!("no rule {name}"));
        assert_eq!(rule["Action"]["Block"]["CustomResponse"]["ResponseCode"], 429, "{name}");
        rule["Statement"]["RateBasedStatement"]["Limit"].as_u64().expect("a limit")
    };
    let limits = ["costly", "documents", "sign-in", "changes", "all"].map(limit);
    assert!(limits.is_sorted(), "what costs more is limited more: {limits:?}");
    // A mail, a code, and one more try or challenge.
    assert!(limits[2] >= 3 * OFFICE, "an office behind one address doesn't sign in within a minute");
    // A network's share of what all have.
    let defaults = template.parameter_defaults();
    let value = |name: &str| defaults[name].parse::<u64>().expect("a number");
    assert!(value("CodesPerClientHourly") >= OFFICE && value("SignInsPerClientHourly") >= 2 * OFFICE);
    assert!(value("CodesPerClientHourly") * 10 <= value("CodesTotalHourly"), "a network uses up everybody's codes");
}

#[test]
fn the_firewall_keeps_no_credential_of_what_it_refuses() {
    let template = template();
    let log = properties(resource(&template, "AWS::WAFv2::LoggingConfiguration"));
    let redacted = log["RedactedFields"].as_array().expect("fields");
    // `POST /claims/{token}`, `POST /mails/unsubscribe?token=`.
    let mut fields = vec![json!({"UriPath": {}}), json!({"QueryString": {}})];
    fields.extend(["authorization", "x-api-key", "cookie"].map(|name| json!({"SingleHeader": {"Name": name}})));
    for field in fields {
        assert!(redacted.contains(&field), "{field} of refused requests is logged");
    }
    // They have whole requests, those that pass included.
    let firewall = properties(resource(&template, "AWS::WAFv2::WebACL")).to_string();
    assert!(firewall.contains(r#""SampledRequestsEnabled":false"#), "{firewall}");
    assert!(!firewall.contains(r#""SampledRequestsEnabled":true"#), "{firewall}");
}

#[test]
fn firewall_takes_each_body_that_its_endpoint_takes() {
    let template = template();
    let firewall = properties(resource(&template, "AWS::WAFv2::WebACL"));
    let rule = &firewall["Rules"].as_array().expect("rules")[0]["Statement"]["AndStatement"]["Statements"];
    let most = rule[0]["SizeConstraintStatement"]["Size"].as_u64().expect("a size");
    let larger = rule[1]["NotStatement"]["Statement"]["RegexMatchStatement"]["RegexString"].as_str().expect("paths");
    let larger = larger.strip_prefix("^/api/(").and_then(|paths| paths.strip_suffix(")$")).expect("alternatives");
    let larger: Vec<_> = larger.split('|').collect();
    let contract = fs::read(Paths::of_checkout().root().join("openapi.json")).expect("openapi.json");
    let contract: Value = serde_json::from_slice(&contract).expect("JSON");
    let mut bodies = 0;
    for (path, methods) in contract["paths"].as_object().expect("paths") {
        for operation in methods.as_object().expect("methods").values() {
            let Some(limit) = operation["requestBody"]["description"].as_str() else { continue };
            let kibibytes = limit.strip_prefix("At most ").and_then(|limit| limit.strip_suffix(" KiB."));
            let bytes = kibibytes.and_then(|number| number.parse::<u64>().ok()).expect("a limit") * 1024;
            assert_eq!(bytes > most, larger.contains(&path.trim_start_matches('/')), "{path}: {bytes} bytes");
            bodies += 1;
        }
    }
    assert!(bodies > 20, "{bodies} bodies have a limit");
}

#[test]
fn one_client_leaves_room_in_every_throttle() {
    let template = template();
    let throttles = template.throttles(&names(&template, &[])).expect("throttles");
    for (route, throttle) in &throttles.routes {
        assert!(throttle.rate >= 2.0 * ONE_CLIENT, "{route:?} {throttle:?}: one client could use it up for all");
    }
    assert!(throttles.default.is_some_and(|throttle| throttle.rate >= 2.0 * ONE_CLIENT));
}

/// Without them, browsers get JSON for pages and every device is called like the distribution.
#[test]
fn the_edge_passes_on_every_header_that_functions_read() {
    let template = template();
    let headers = |r#type: &str, config: &str, place: &str| {
        let properties = properties(resource(&template, r#type));
        let listed = properties[config].pointer(place).and_then(Value::as_array).cloned().expect("headers");
        listed.into_iter().filter_map(|name| name.as_str().map(str::to_owned))
    };
    let passed: Vec<String> =
        headers("AWS::CloudFront::OriginRequestPolicy", "OriginRequestPolicyConfig", "/HeadersConfig/Headers")
            .chain(headers(
                "AWS::CloudFront::CachePolicy",
                "CachePolicyConfig",
                "/ParametersInCacheKeyAndForwardedToOrigin/HeadersConfig/Headers",
            ))
            .collect();
    // CloudFront's own affairs, which it passes on or answers itself; of cookies it passes the pages' session.
    let of_the_edge = ["cookie", "range"];
    let root = Paths::of_checkout().root().to_owned();
    let mut read = 0;
    for folder in ["shared/src", "functions"] {
        // Workers send requests, and get none.
        for file in
            sources(&root.join(folder)).into_iter().filter(|file| !file.starts_with(root.join("functions/workers")))
        {
            let text = fs::read_to_string(&file).expect("a source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in text.split("request.header(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                read += 1;
                let is_passed = passed.iter().any(|known| known == name) || of_the_edge.contains(&name);
                assert!(is_passed, "{}: {name} doesn't pass the edge", file.display());
            }
        }
    }
    assert!(read > 4, "{read}");
    assert!(passed.iter().any(|name| name == "accept"), "{passed:?}");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let found = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    found.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}
