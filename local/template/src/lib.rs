//! Reads the application's templates: routes, functions and resources, with references resolved. It supports only the parts
//! of CloudFormation that they use; anything else is an error.
#![warn(missing_docs)]

mod api;
mod policy;
mod resolve;
mod stacks;
mod stage;
mod stream;

pub use api::{Cors, Throttle, Throttles};
pub use policy::Statement;
pub use resolve::{chosen, resolve, resolve_all};
pub use stage::stage_parameters;
pub use stream::StreamEvent;

use std::{collections::BTreeMap, io, str::FromStr};

use serde_norway::Value;

/// Errors of reading a template.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Not YAML.
    #[error("the template: {0}")]
    Yaml(#[from] serde_norway::Error),
    /// A required property is missing.
    #[error("the template: {0} is missing")]
    Missing(String),
    /// An unknown reference or function.
    #[error("the template: can't resolve {0}")]
    Unresolved(String),
    /// A file that can't be read.
    #[error("the template: {0}")]
    Unread(#[from] io::Error),
    /// Stacks that declare the same name differently.
    #[error("the template: {0} isn't the same in both stacks")]
    Different(String),
}

/// A parsed template.
pub struct Template {
    document: Value,
    /// Outputs of a stack that is deployed before, by name.
    handed_over: BTreeMap<String, Value>,
}

/// A route of the HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Stage of its API: the first segment of the URL's path.
    pub stage: String,
    /// HTTP method, in capitals.
    pub method: String,
    /// Path after the stage, such as `/collections/{network}/{contract}`.
    pub path: String,
    /// Binary of the function that answers.
    pub binary: String,
}

/// A Lambda function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Logical id of its resource.
    pub logical_id: String,
    /// Name of its binary.
    pub binary: String,
    /// Its environment, with unresolved references.
    pub environment: BTreeMap<String, Value>,
    /// Whether it answers requests that match no route.
    pub is_default_route: bool,
    /// Whether it runs on a schedule.
    pub is_scheduled: bool,
    /// Its schedules.
    pub schedules: Vec<Schedule>,
    /// Longest run, in seconds.
    pub timeout: u64,
    /// Memory size in MB.
    pub memory_size: u32,
    /// Reserved concurrency, if it has any; of a conditional one, that of the condition.
    pub reserved_concurrency: Option<usize>,
    /// Retries of asynchronous invocations.
    pub max_retries: u32,
    /// Statements of its role, by policy.
    pub policies: Vec<Vec<Statement>>,
}

/// A schedule of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Expression, such as `rate(1 minute)`.
    pub expression: String,
    /// Payload; `None` for the scheduler's own event.
    pub input: Option<String>,
}

/// A resource of the template.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// Logical id.
    pub logical_id: &'a str,
    /// Name of the condition under which it is created; `None` for always.
    pub condition: Option<&'a str>,
    /// `DeletionPolicy`: what happens when it leaves the stack.
    pub deletion_policy: Option<&'a str>,
    /// `UpdateReplacePolicy`: what happens when it is replaced.
    pub update_replace_policy: Option<&'a str>,
    /// Its properties.
    pub properties: &'a Value,
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(yaml: &str) -> Result<Self, TemplateError> {
        let mut document: Value = serde_norway::from_str(yaml)?;
        document.apply_merge()?;
        Ok(Self { document, handed_over: BTreeMap::new() })
    }
}

impl Template {
    /// All resources of a type, in the template's order.
    pub fn resources<'a>(&'a self, r#type: &'a str) -> impl Iterator<Item = Resource<'a>> {
        let resources = self.document.get("Resources").and_then(Value::as_mapping).into_iter().flatten();
        resources.filter_map(move |(id, resource)| {
            let properties = resource.get("Properties").unwrap_or(&Value::Null);
            let attribute = |name: &str| resource.get(name).and_then(Value::as_str);
            (attribute("Type") == Some(r#type)).then_some(Resource {
                logical_id: id.as_str()?,
                condition: attribute("Condition"),
                deletion_policy: attribute("DeletionPolicy"),
                update_replace_policy: attribute("UpdateReplacePolicy"),
                properties,
            })
        })
    }

    /// The logical ids of all resources.
    pub fn logical_ids(&self) -> impl Iterator<Item = String> {
        let resources = self.document.get("Resources").and_then(Value::as_mapping).into_iter().flatten();
        resources.filter_map(|(id, _)| id.as_str().map(str::to_owned))
    }

    /// The parameters' default values.
    pub fn parameter_defaults(&self) -> BTreeMap<String, String> {
        let parameters = self.document.get("Parameters").and_then(Value::as_mapping).into_iter().flatten();
        parameters
            .filter_map(|(name, parameter)| Some((name.as_str()?.to_owned(), scalar(parameter.get("Default")?)?)))
            .collect()
    }

    /// Values by name: the given ones, the defaults of other parameters, and the outcomes of all conditions.
    pub fn names(
        &self,
        given: impl IntoIterator<Item = (String, String)>,
    ) -> Result<BTreeMap<String, String>, TemplateError> {
        let mut names = self.parameter_defaults();
        names.extend(given);
        let conditions = self.document.get("Conditions").and_then(Value::as_mapping).into_iter().flatten();
        for (name, condition) in conditions {
            let name = name.as_str().unwrap_or_default();
            let holds = resolve::evaluate(condition, &names)?;
            names.insert(resolve::condition_key(name), holds.to_string());
        }
        Ok(names)
    }

    /// All functions.
    pub fn functions(&self) -> Result<Vec<Function>, TemplateError> {
        let globals = at(&self.document, "Globals.Function.Environment.Variables");
        let function = |resource: Resource<'_>| {
            let logical_id = resource.logical_id.to_owned();
            let metadata = at(&self.document, &format!("Resources.{logical_id}.Metadata.BuildProperties.Binary"));
            let binary =
                metadata.and_then(scalar).ok_or_else(|| missing(&logical_id, "Metadata.BuildProperties.Binary"))?;
            let own = at(resource.properties, "Environment.Variables");
            let variables = [globals, own].into_iter().flatten().filter_map(Value::as_mapping).flatten();
            let environment =
                variables.filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone()))).collect();
            let is_default_route = resource.events("HttpApi").any(|event| event.get("Path").is_none());
            let schedules = resource.events("ScheduleV2").map(|event| {
                let expression = event.get("ScheduleExpression").and_then(scalar);
                let expression = expression.ok_or_else(|| missing(&logical_id, "ScheduleExpression"))?;
                Ok(Schedule { expression, input: event.get("Input").and_then(resolve::preferred).and_then(scalar) })
            });
            let schedules: Vec<_> = schedules.collect::<Result<_, TemplateError>>()?;
            let property = |name: &str| {
                let global = || at(&self.document, &format!("Globals.Function.{name}"));
                at(resource.properties, name).or_else(global).and_then(Value::as_u64)
            };
            let reserved = resource
                .properties
                .get("ReservedConcurrentExecutions")
                .and_then(resolve::preferred)
                .and_then(Value::as_u64);
            let policies = policy::policies(resource.properties.get("Policies"))
                .ok_or_else(|| missing(&logical_id, "a readable policy"))?;
            let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
            Ok(Function {
                binary,
                environment,
                is_default_route,
                is_scheduled: !schedules.is_empty(),
                schedules,
                // Lambda's defaults.
                timeout: property("Timeout").unwrap_or(3),
                memory_size: property("MemorySize").map_or(128, small),
                reserved_concurrency: reserved.and_then(|most| most.try_into().ok()),
                max_retries: property("EventInvokeConfig.MaximumRetryAttempts").map_or(2, small),
                policies,
                logical_id,
            })
        };
        self.resources("AWS::Serverless::Function").map(function).collect()
    }

    /// The statements of the boundary that all functions' roles have.
    pub fn boundary(&self) -> Result<Vec<Statement>, TemplateError> {
        let id = at(&self.document, "Globals.Function.PermissionsBoundary").and_then(reference);
        let id = id.ok_or_else(|| missing("Globals", "PermissionsBoundary"))?;
        let document = at(&self.document, &format!("Resources.{id}.Properties.PolicyDocument"));
        document.and_then(policy::statements).ok_or_else(|| missing(&id, "a readable policy"))
    }

    /// The statements of each key's policy, by the key's logical id.
    pub fn key_policies(&self) -> Result<BTreeMap<String, Vec<Statement>>, TemplateError> {
        let keys = self.resources("AWS::KMS::Key").map(|key| {
            let policy = key.properties.get("KeyPolicy").and_then(policy::statements);
            Ok((key.logical_id.to_owned(), policy.ok_or_else(|| missing(key.logical_id, "a readable policy"))?))
        });
        keys.collect()
    }

    /// All routes except the default one, which has neither method nor path.
    pub fn routes(&self) -> Result<Vec<Route>, TemplateError> {
        let mut routes = Vec::new();
        for (resource, function) in self.resources("AWS::Serverless::Function").zip(self.functions()?) {
            for event in resource.events("HttpApi").filter(|event| event.get("Path").is_some()) {
                let part =
                    |name: &str| event.get(name).and_then(scalar).ok_or_else(|| missing(&function.logical_id, name));
                let api =
                    event.get("ApiId").and_then(reference).ok_or_else(|| missing(&function.logical_id, "ApiId"))?;
                let stage = at(&self.document, &format!("Resources.{api}.Properties.StageName")).and_then(scalar);
                routes.push(Route {
                    stage: stage.ok_or_else(|| missing(&api, "StageName"))?,
                    method: part("Method")?.to_uppercase(),
                    path: part("Path")?,
                    binary: function.binary.clone(),
                });
            }
        }
        Ok(routes)
    }
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

impl<'a> Resource<'a> {
    /// The properties of a function's events of a type, such as `HttpApi`.
    pub fn events(self, r#type: &'a str) -> impl Iterator<Item = &'a Value> {
        let events = self.properties.get("Events").and_then(Value::as_mapping).into_iter().flatten();
        events
            .filter(move |(_, event)| event.get("Type").and_then(Value::as_str) == Some(r#type))
            .filter_map(|(_, event)| event.get("Properties"))
    }

    /// Whether it is created, by the conditions in [`Template::names`].
    pub fn is_made(&self, names: &BTreeMap<String, String>) -> Result<bool, TemplateError> {
        self.condition.map_or(Ok(true), |condition| resolve::holds(condition, names))
    }
}

fn reference(value: &Value) -> Option<String> {
    match value {
        Value::Tagged(tagged) if tagged.tag == "!Ref" => scalar(&tagged.value),
        _ => None,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn missing(resource: &str, what: &str) -> TemplateError {
    TemplateError::Missing(format!("{what} of {resource}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const YAML: &str = r#"
Parameters:
  Limit: { Type: Number, Default: 30 }
  Pages: { Type: String, Default: "https://a.example,https://b.example" }
Conditions: { HasPages: !Not [!Equals [!Ref Pages, ""]] }
Globals:
  Function: { Timeout: 29, Environment: { Variables: { LEVEL: !Ref Level } } }
Resources:
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      StageName: api
      DefaultRouteSettings: { ThrottlingRateLimit: !Ref Limit, ThrottlingBurstLimit: 60 }
      CorsConfiguration: !If
        - HasPages
        - { AllowOrigins: !Split [",", !Ref Pages], AllowMethods: [GET], AllowHeaders: [a, b], ExposeHeaders: [c], MaxAge: 600 }
        - !Ref AWS::NoValue
  ReadFunction:
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: read } }
    Properties:
      Environment: { Variables: { TABLE: !Ref Table, ARN: !GetAtt Table.Arn, URL: !Sub "x/${Table}/y/${Limit}" } }
      Events:
        Route:
          Type: HttpApi
          Properties:
            ApiId: !Ref Api
            Method: get
            Path: "/things/{id}"
            RouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 }
  RestFunction:
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: rest } }
    Properties:
      Timeout: 60
      MemorySize: 512
      ReservedConcurrentExecutions: !If [HasPages, 1, !Ref AWS::NoValue]
      EventInvokeConfig: { MaximumRetryAttempts: 0 }
      Events:
        Default: { Type: HttpApi, Properties: { ApiId: !Ref Api } }
        Clock: { Type: ScheduleV2, Properties: { ScheduleExpression: rate(1 minute), Input: '{"for": 5}' } }
"#;

    #[test]
    fn routes_and_functions_are_read() {
        let template: Template = YAML.parse().unwrap();
        let route = Route {
            stage: "api".to_owned(),
            method: "GET".to_owned(),
            path: "/things/{id}".to_owned(),
            binary: "read".to_owned(),
        };
        assert_eq!(template.routes().unwrap(), [route]);
        let functions = template.functions().unwrap();
        assert_eq!(functions.iter().map(|f| f.binary.as_str()).collect::<Vec<_>>(), ["read", "rest"]);
        assert!(!functions[0].is_default_route && !functions[0].is_scheduled);
        assert!(functions[1].is_default_route && functions[1].is_scheduled);
        assert_eq!(template.parameter_defaults().get("Limit").map(String::as_str), Some("30"));
    }

    #[test]
    fn limits_are_the_functions_own_the_globals_or_the_defaults() {
        let functions = YAML.parse::<Template>().unwrap().functions().unwrap();
        let limits = |function: &Function| {
            (function.timeout, function.memory_size, function.reserved_concurrency, function.max_retries)
        };
        assert_eq!(limits(&functions[0]), (29, 128, None, 2));
        assert_eq!(limits(&functions[1]), (60, 512, Some(1), 0));
        let schedule = Schedule { expression: "rate(1 minute)".to_owned(), input: Some(r#"{"for": 5}"#.to_owned()) };
        assert_eq!(functions[1].schedules, [schedule]);
    }

    #[test]
    fn references_are_resolved_and_unknown_ones_are_named() {
        let template: Template = YAML.parse().unwrap();
        let environment = &template.functions().unwrap()[0].environment;
        let names = [("Table", "things"), ("Table.Arn", "arn:things"), ("Limit", "30"), ("Level", "info")];
        let mut names: BTreeMap<_, _> = names.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let value = |name: &str, names: &_| resolve(&environment[name], names);
        assert_eq!(value("LEVEL", &names).unwrap(), "info");
        assert_eq!(value("ARN", &names).unwrap(), "arn:things");
        assert_eq!(value("URL", &names).unwrap(), "x/things/y/30");
        names.remove("Limit");
        assert!(value("URL", &names).unwrap_err().to_string().contains("Limit"));
    }

    #[test]
    fn conditions_select_resources_and_list_items() {
        let yaml = r#"
Parameters: { Count: { Type: Number, Default: 2 } }
Conditions:
  HasTwo: !Not [!Equals [!Ref Count, 1]]
  HasThree: !And [!Condition HasTwo, !Not [!Equals [!Ref Count, 2]]]
Resources:
  One: { Type: Key, Properties: { } }
  Two: { Type: Key, Condition: HasTwo, Properties: { } }
  Three: { Type: Key, Condition: HasThree, Properties: { } }
  ReadFunction:
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: read } }
    Properties:
      Environment:
        Variables:
          KEYS: !Join [",", [!Ref One, !If [HasTwo, !Ref Two, !Ref "AWS::NoValue"], !If [HasThree, !Ref Three, !Ref "AWS::NoValue"]]]
      Policies:
        - Statement:
            - Effect: Allow
              Action: kms:Sign
              Resource: [!GetAtt One.Arn, !If [HasTwo, !GetAtt Two.Arn, !Ref "AWS::NoValue"]]
              Condition: { StringEquals: { "kms:MessageType": RAW } }
"#;
        let template: Template = yaml.parse().unwrap();
        let ids = ["One", "Two", "Three", "One.Arn", "Two.Arn"].map(|name| (name.to_owned(), name.to_lowercase()));
        for (count, made, keys, resources) in [
            ("1", vec!["One"], "one", vec!["one.arn"]),
            ("2", vec!["One", "Two"], "one,two", vec!["one.arn", "two.arn"]),
            ("3", vec!["One", "Two", "Three"], "one,two,three", vec!["one.arn", "two.arn"]),
        ] {
            let given = ids.clone().into_iter().chain([("Count".to_owned(), count.to_owned())]);
            let names = template.names(given).unwrap();
            let is_made = |resource: &Resource<'_>| resource.is_made(&names).unwrap();
            assert_eq!(template.resources("Key").filter(is_made).map(|key| key.logical_id).collect::<Vec<_>>(), made);
            let function = &template.functions().unwrap()[0];
            assert_eq!(resolve(&function.environment["KEYS"], &names).unwrap(), keys);
            assert_eq!(function.policies[0][0].actions, ["kms:Sign"]);
            assert_eq!(resolve_all(&function.policies[0][0].resources, &names).unwrap(), resources);
        }
    }
}
