use std::collections::BTreeMap;

use serde_norway::Value;

use crate::{Template, TemplateError, missing, resolve, resolve::chosen};

/// A table's stream that drives a function: an event of type `DynamoDB`. Unset numbers are `None`, and so is -1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// Binary of the function.
    pub binary: String,
    /// ARN of the stream.
    pub stream: String,
    /// `TRIM_HORIZON` or `LATEST`.
    pub starting_position: String,
    /// Most records of a batch.
    pub batch_size: Option<usize>,
    /// Longest wait for a batch to fill, in seconds.
    pub batching_window: Option<u64>,
    /// Batches of a shard at a time.
    pub parallelization_factor: Option<usize>,
    /// Age at which records are given up, in seconds.
    pub max_record_age: Option<u64>,
    /// Retries of a batch.
    pub max_retries: Option<u32>,
    /// Whether a batch that fails is halved.
    pub bisects: bool,
    /// Whether the function's response says which records failed.
    pub reports_failures: bool,
    /// Filter patterns, as JSON.
    pub patterns: Vec<String>,
}

impl Template {
    /// The streams that drive functions. `names` come from [`Template::names`], with the attribute `StreamArn` of each
    /// table that has a stream.
    ///
    /// # Errors
    /// When a property is missing, can't be resolved, or isn't supported.
    pub fn streams(&self, names: &BTreeMap<String, String>) -> Result<Vec<StreamEvent>, TemplateError> {
        let mut streams = Vec::new();
        for (resource, function) in self.resources("AWS::Serverless::Function").zip(self.functions()?) {
            for event in resource.events("DynamoDB") {
                streams.push(stream(event, function.binary.clone(), names)?);
            }
        }
        Ok(streams)
    }
}

fn stream(event: &Value, binary: String, names: &BTreeMap<String, String>) -> Result<StreamEvent, TemplateError> {
    let mut stream = StreamEvent { binary, ..StreamEvent::default() };
    for (name, value) in event.as_mapping().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        let unsupported = || TemplateError::Unresolved(format!("{name} of a stream of {}: {value:?}", stream.binary));
        let text = || resolve(value, names);
        match name {
            "Stream" => stream.stream = text()?,
            "StartingPosition" => stream.starting_position = text()?,
            "BatchSize" => stream.batch_size = number(&text()?).ok_or_else(unsupported)?,
            "MaximumBatchingWindowInSeconds" => {
                stream.batching_window = number(&text()?).ok_or_else(unsupported)?;
            }
            "ParallelizationFactor" => stream.parallelization_factor = number(&text()?).ok_or_else(unsupported)?,
            "MaximumRecordAgeInSeconds" => stream.max_record_age = number(&text()?).ok_or_else(unsupported)?,
            "MaximumRetryAttempts" => stream.max_retries = number(&text()?).ok_or_else(unsupported)?,
            "BisectBatchOnFunctionError" => stream.bisects = text()? == "true",
            "FunctionResponseTypes" => {
                stream.reports_failures = value
                    .as_sequence()
                    .is_some_and(|types| types.iter().any(|kind| kind.as_str() == Some("ReportBatchItemFailures")));
            }
            "FilterCriteria" => {
                let filters = chosen(value, names)?.and_then(|criteria| criteria.get("Filters"));
                for filter in filters.and_then(Value::as_sequence).ok_or_else(unsupported)? {
                    stream.patterns.push(resolve(filter.get("Pattern").ok_or_else(unsupported)?, names)?);
                }
            }
            // Given-up records go to a file, whatever their destination would be.
            "DestinationConfig" => {}
            "Enabled" if text()? == "true" => {}
            _ => return Err(unsupported()),
        }
    }
    for (name, value) in [("Stream", &stream.stream), ("StartingPosition", &stream.starting_position)] {
        if value.is_empty() {
            return Err(missing(&stream.binary, name));
        }
    }
    Ok(stream)
}

/// A number, `Some(None)` for -1, which stands for no limit; `None` for anything else.
#[expect(clippy::option_option, reason = "absent and unreadable differ")]
fn number<N: std::str::FromStr>(text: &str) -> Option<Option<N>> {
    if text == "-1" { Some(None) } else { text.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(properties: &str) -> Result<Vec<StreamEvent>, TemplateError> {
        let yaml = format!(
            r#"
Parameters: {{ Size: {{ Type: Number, Default: 10 }} }}
Resources:
  RelayFunction:
    Type: AWS::Serverless::Function
    Metadata: {{ BuildProperties: {{ Binary: relay }} }}
    Properties:
      Events:
        Queue: {{ Type: DynamoDB, Properties: {{ {properties} }} }}
"#
        );
        let template: Template = yaml.parse()?;
        let given = [("Table.StreamArn".to_owned(), "arn:aws:stream".to_owned())];
        template.streams(&template.names(given)?)
    }

    #[test]
    fn all_properties_are_read() {
        let properties = r#"
Stream: !GetAtt Table.StreamArn, StartingPosition: LATEST, BatchSize: !Ref Size, MaximumBatchingWindowInSeconds: 1,
ParallelizationFactor: 4, MaximumRecordAgeInSeconds: 60, MaximumRetryAttempts: 2, BisectBatchOnFunctionError: true,
FunctionResponseTypes: [ReportBatchItemFailures], Enabled: true,
DestinationConfig: { OnFailure: { Type: SQS, Destination: !GetAtt Letters.Arn } },
FilterCriteria: { Filters: [{ Pattern: '{"eventName": ["INSERT"]}' }, { Pattern: '{"a": [1]}' }] }"#;
        let expected = StreamEvent {
            binary: "relay".to_owned(),
            stream: "arn:aws:stream".to_owned(),
            starting_position: "LATEST".to_owned(),
            batch_size: Some(10),
            batching_window: Some(1),
            parallelization_factor: Some(4),
            max_record_age: Some(60),
            max_retries: Some(2),
            bisects: true,
            reports_failures: true,
            patterns: vec![r#"{"eventName": ["INSERT"]}"#.to_owned(), r#"{"a": [1]}"#.to_owned()],
        };
        assert_eq!(streams(properties).unwrap(), [expected]);
    }

    #[test]
    fn the_defaults_are_lambdas_and_minus_one_is_no_limit() {
        let properties = "Stream: !GetAtt Table.StreamArn, StartingPosition: TRIM_HORIZON";
        let all = streams(properties).unwrap();
        assert_eq!((all[0].batch_size, all[0].max_retries, all[0].bisects), (None, None, false));
        let unlimited = format!("{properties}, MaximumRecordAgeInSeconds: -1, MaximumRetryAttempts: -1");
        assert_eq!(streams(&unlimited).unwrap(), all);
    }

    #[test]
    fn what_is_missing_or_unsupported_is_named() {
        let stream = "Stream: !GetAtt Table.StreamArn";
        for (properties, word) in [
            (stream.to_owned(), "StartingPosition"),
            (format!("{stream}, StartingPosition: LATEST, TumblingWindowInSeconds: 5"), "TumblingWindowInSeconds"),
            (format!("{stream}, StartingPosition: LATEST, BatchSize: many"), "BatchSize"),
            (format!("{stream}, StartingPosition: LATEST, Enabled: false"), "Enabled"),
            ("Stream: !GetAtt Other.StreamArn, StartingPosition: LATEST".to_owned(), "Other.StreamArn"),
        ] {
            let error = streams(&properties).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
