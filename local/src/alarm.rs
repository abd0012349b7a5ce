//! The template's alarms over metrics that functions wrote: which would be on, and which would send a mail. Supports what
//! the template uses; anything else is an error.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use serde_norway::Value;
use template::{Resource, Template, resolve, resolve_all};

use crate::Error;

type Names = BTreeMap<String, String>;

/// A value of a metric, as CloudWatch keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Namespace of the metric.
    pub namespace: String,
    /// Its name.
    pub metric: String,
    /// Dimensions: each set of them is a metric of its own.
    pub dimensions: Names,
    /// The value.
    pub value: f64,
}

/// The points in a log's lines of the embedded metric format. A line counts once for each set of dimensions.
pub fn points(log: &str) -> Vec<Point> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    lines.flat_map(|line| points_of(&line)).collect()
}

fn points_of(line: &Json) -> Vec<Point> {
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let mut points = Vec::new();
    for directive in list(&line["_aws"]["CloudWatchMetrics"]) {
        for set in list(&directive["Dimensions"]) {
            let dimension = |name: &Json| (text(name), text(&line[text(name)]));
            let dimensions: Names = list(&set).iter().map(dimension).collect();
            for metric in list(&directive["Metrics"]).iter().map(|metric| text(&metric["Name"])) {
                let Some(value) = line[&metric].as_f64() else { continue };
                let (namespace, dimensions) = (text(&directive["Namespace"]), dimensions.clone());
                points.push(Point { namespace, metric, dimensions, value });
            }
        }
    }
    points
}

/// A state of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The threshold is kept.
    Ok,
    /// It isn't.
    Alarm,
    /// Nothing is known.
    InsufficientData,
}

/// An alarm on a metric, or on an expression over several.
#[derive(Clone, Debug)]
pub struct Alarm {
    /// Logical id.
    pub id: String,
    /// Length of a period, in seconds.
    pub period: u64,
    /// Number of periods, all of which must break the threshold.
    pub periods: usize,
    /// Whether it sends mails itself.
    pub sends: bool,
    series: Vec<Series>,
    expression: Expression,
    is_below: bool,
    threshold: f64,
    missing: String,
}

/// What an alarm computes from its metrics.
#[derive(Clone, Copy, Debug)]
enum Expression {
    /// A metric as it is.
    Plain,
    /// `MAX([ABS(a), ABS(b)])`
    LargestAbsolute,
    /// `IF(a > n, 100 * a / b, 0)`: how many percent of b are a, if they are more than n.
    ShareAbove(f64),
}

/// A metric and how its values in a period become one.
#[derive(Clone, Debug)]
struct Series {
    namespace: String,
    metric: String,
    dimensions: Names,
    statistic: String,
}

impl Alarm {
    /// All alarms of a stage. `names` come from [`Template::deployed`].
    pub fn all(template: &Template, names: &Names) -> Result<Vec<Self>, Error> {
        made(template, "AWS::CloudWatch::Alarm", names)?.into_iter().map(|alarm| Self::of(alarm, names)).collect()
    }

    fn of(resource: Resource<'_>, names: &Names) -> Result<Self, Error> {
        let own = resource.properties;
        let text = |name: &str| text(own, name, names).map_err(|error| format!("{}: {error}", resource.logical_id));
        let (series, expression, period) = match own.get("Metrics").and_then(Value::as_sequence) {
            Some(parts) => computed(parts, names)?,
            None => {
                let statistic = text("Statistic").or_else(|_| text("ExtendedStatistic"))?;
                (vec![Series::of(own, &statistic, names)?], Expression::Plain, text("Period")?)
            }
        };
        let is_below = match text("ComparisonOperator")?.as_str() {
            "GreaterThanThreshold" => false,
            "LessThanThreshold" => true,
            other => return Err(format!("{}: {other} isn't supported", resource.logical_id).into()),
        };
        if own.get("DatapointsToAlarm").is_some() {
            return Err(format!("{}: DatapointsToAlarm isn't supported", resource.logical_id).into());
        }
        Ok(Self {
            id: resource.logical_id.to_owned(),
            period: period.parse()?,
            periods: text("EvaluationPeriods")?.parse()?,
            sends: sends(own, names)?,
            series,
            expression,
            is_below,
            threshold: text("Threshold")?.parse()?,
            missing: text("TreatMissingData")?,
        })
    }

    /// Its state when each of its periods has these points, so many times over.
    pub fn state(&self, points: &[Point], times: usize) -> State {
        // All periods are alike.
        match (self.value(points, times), self.missing.as_str()) {
            (Some(value), _) if self.is_broken_by(value) => State::Alarm,
            (Some(_), _) | (None, "notBreaching") => State::Ok,
            (None, "breaching") => State::Alarm,
            (None, _) => State::InsufficientData,
        }
    }

    fn value(&self, points: &[Point], times: usize) -> Option<f64> {
        let mut values = self.series.iter().map(|series| series.value(points, times));
        match self.expression {
            Expression::Plain => values.next().flatten(),
            Expression::LargestAbsolute => values.flatten().map(f64::abs).reduce(f64::max),
            Expression::ShareAbove(least) => {
                let (part, whole) = (values.next().flatten()?, values.next().flatten()?);
                Some(if part > least { 100.0 * part / whole } else { 0.0 })
            }
        }
    }

    fn is_broken_by(&self, value: f64) -> bool {
        if self.is_below { value < self.threshold } else { value > self.threshold }
    }
}

impl Series {
    fn of(metric: &Value, statistic: &str, names: &Names) -> Result<Self, Error> {
        let dimension = |dimension: &Value| Ok((text(dimension, "Name", names)?, text(dimension, "Value", names)?));
        let dimensions = metric.get("Dimensions").and_then(Value::as_sequence).into_iter().flatten();
        Ok(Self {
            namespace: text(metric, "Namespace", names)?,
            metric: text(metric, "MetricName", names)?,
            dimensions: dimensions.map(dimension).collect::<Result<_, Error>>()?,
            statistic: statistic.to_owned(),
        })
    }

    fn value(&self, points: &[Point], times: usize) -> Option<f64> {
        let is_mine = |point: &&Point| {
            (&point.namespace, &point.metric, &point.dimensions) == (&self.namespace, &self.metric, &self.dimensions)
        };
        let values = points.iter().filter(is_mine).map(|point| point.value);
        match self.statistic.as_str() {
            "Minimum" => values.reduce(f64::min),
            "Maximum" => values.reduce(f64::max),
            "p90" => {
                let mut values: Vec<f64> = values.collect();
                values.sort_unstable_by(f64::total_cmp);
                values.get((values.len() * 9).div_ceil(10).saturating_sub(1)).copied()
            }
            _ => values.reduce(|sum, value| sum + value).map(|sum| sum * times as f64),
        }
    }
}

/// The metrics of an expression in its order, and their period.
fn computed(parts: &[Value], names: &Names) -> Result<(Vec<Series>, Expression, String), Error> {
    let text_of = parts.iter().find_map(|part| part.get("Expression")?.as_str()).unwrap_or_default();
    let unsupported = || format!("template.yaml: the expression {text_of} isn't supported");
    let (ids, expression) = if let Some(list) = text_of.strip_prefix("MAX([").and_then(|list| list.strip_suffix("])")) {
        let id = |term: &str| Some(term.strip_prefix("ABS(")?.strip_suffix(')')?.to_owned());
        (list.split(", ").map(id).collect::<Option<Vec<_>>>(), Expression::LargestAbsolute)
    } else {
        let share = text_of.strip_prefix("IF(").and_then(|share| share.strip_suffix(", 0)")).ok_or_else(unsupported)?;
        let (condition, share) = share.split_once(", 100 * ").ok_or_else(unsupported)?;
        let (part, least) = condition.split_once(" > ").ok_or_else(unsupported)?;
        let (same, whole) = share.split_once(" / ").ok_or_else(unsupported)?;
        let ids = (part == same).then(|| vec![part.to_owned(), whole.to_owned()]);
        (ids, Expression::ShareAbove(least.parse()?))
    };
    let (mut series, mut period) = (Vec::new(), String::new());
    for id in ids.ok_or_else(unsupported)? {
        let part = parts.iter().find(|part| part.get("Id").and_then(Value::as_str) == Some(id.as_str()));
        let stat = part.and_then(|part| part.get("MetricStat")).ok_or_else(unsupported)?;
        series.push(Series::of(stat.get("Metric").ok_or_else(unsupported)?, &text(stat, "Stat", names)?, names)?);
        period = text(stat, "Period", names)?;
    }
    Ok((series, expression, period))
}

/// The resources of a type that the stage has.
fn made<'a>(template: &'a Template, r#type: &'a str, names: &Names) -> Result<Vec<Resource<'a>>, Error> {
    let made = template.resources(r#type).map(|resource| Ok((resource.is_made(names)?, resource)));
    let made: Vec<_> = made.collect::<Result<_, Error>>()?;
    Ok(made.into_iter().filter_map(|(is_made, resource)| is_made.then_some(resource)).collect())
}

fn sends(alarm: &Value, names: &Names) -> Result<bool, Error> {
    let Some(actions) = alarm.get("AlarmActions") else { return Ok(false) };
    Ok(!resolve_all(actions, names)?.is_empty())
}

fn text(value: &Value, name: &str, names: &Names) -> Result<String, Error> {
    Ok(resolve(value.get(name).ok_or_else(|| format!("template.yaml: no {name}"))?, names)?)
}

/// An alarm that is on while one of others is, and sends mails for them.
#[derive(Clone, Debug)]
pub struct Composite {
    /// Logical id.
    pub id: String,
    /// Logical ids of those others.
    pub alarms: BTreeSet<String>,
    /// Logical id of the composite alarm that keeps this one from sending mails while it is on.
    pub suppressor: Option<String>,
}

impl Composite {
    /// All composite alarms of a template. `names` come from [`Template::deployed`].
    pub fn all(template: &Template, names: &Names) -> Result<Vec<Self>, Error> {
        let made = made(template, "AWS::CloudWatch::CompositeAlarm", names)?;
        made.into_iter().map(|alarm| Self::of(alarm, names)).collect()
    }

    fn of(resource: Resource<'_>, names: &Names) -> Result<Self, Error> {
        let (id, own) = (resource.logical_id, resource.properties);
        own.get("AlarmActions").ok_or_else(|| format!("{id} sends nothing"))?;
        let by_name: BTreeMap<_, _> = names.iter().map(|(id, name)| (name.as_str(), id)).collect();
        let rule = text(own, "AlarmRule", names)?;
        let named = |term: &str| {
            let name = term.trim().strip_prefix("ALARM(\"").and_then(|name| name.strip_suffix("\")"));
            let alarm =
                name.and_then(|name| by_name.get(name)).ok_or_else(|| format!("{id}: {term} isn't supported"))?;
            Ok::<_, Error>((*alarm).clone())
        };
        let alarms = rule.split(" OR ").map(named).collect::<Result<_, _>>()?;
        let suppressor = match own.get("ActionsSuppressor") {
            Some(arn) => {
                let arn = resolve(arn, names)?;
                let named = by_name.get(arn.as_str()).and_then(|id| id.strip_suffix(".Arn"));
                Some(named.ok_or_else(|| format!("{id}: {arn} is no alarm of the template"))?.to_owned())
            }
            None => None,
        };
        Ok(Self { id: id.to_owned(), alarms, suppressor })
    }
}

/// The logical ids of the alarms that send a mail while those with the ids in `on` are on.
pub fn mails(alarms: &[Alarm], composites: &[Composite], on: &BTreeSet<String>) -> BTreeSet<String> {
    let own = alarms.iter().filter(|alarm| alarm.sends && on.contains(&alarm.id)).map(|alarm| alarm.id.clone());
    let is_on =
        |id: &String| composites.iter().any(|composite| composite.id == *id && !composite.alarms.is_disjoint(on));
    let sent =
        composites.iter().filter(|composite| is_on(&composite.id) && !composite.suppressor.as_ref().is_some_and(is_on));
    own.chain(sent.map(|composite| composite.id.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"
Parameters: { Stage: { Type: String, Default: a } }
Resources:
  Late:
    Type: AWS::CloudWatch::Alarm
    Properties:
      { Namespace: !Sub "M/${Stage}", MetricName: Age, Statistic: Maximum, Period: 60, EvaluationPeriods: 3,
        ComparisonOperator: GreaterThanThreshold, Threshold: 5, TreatMissingData: missing }
  Failing:
    Type: AWS::CloudWatch::Alarm
    Properties:
      { Namespace: M/a, MetricName: Writes, Dimensions: [{ Name: Outcome, Value: failed }], Statistic: Sum, Period: 60,
        EvaluationPeriods: 1, ComparisonOperator: GreaterThanThreshold, Threshold: 5, TreatMissingData: notBreaching }
  Low:
    Type: AWS::CloudWatch::Alarm
    Properties:
      { AlarmActions: [x], Namespace: M/a, MetricName: Left, Statistic: Minimum, Period: 60, EvaluationPeriods: 1,
        ComparisonOperator: LessThanThreshold, Threshold: 5, TreatMissingData: breaching }
  Apart:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Metrics:
        - { Id: most, Expression: "MAX([ABS(up), ABS(down)])" }
        - { Id: up, MetricStat: { Metric: { Namespace: M/a, MetricName: Apart }, Period: 60, Stat: Maximum } }
        - { Id: down, MetricStat: { Metric: { Namespace: M/a, MetricName: Apart }, Period: 60, Stat: Minimum } }
      EvaluationPeriods: 5
      ComparisonOperator: GreaterThanThreshold
      Threshold: 0
      TreatMissingData: missing
  Outer:
    Type: AWS::CloudWatch::CompositeAlarm
    Properties: { AlarmActions: [x], AlarmRule: !Sub 'ALARM("${Late}") OR ALARM("${Apart}")' }
  Inner:
    Type: AWS::CloudWatch::CompositeAlarm
    Properties: { AlarmActions: [x], AlarmRule: !Sub 'ALARM("${Failing}")', ActionsSuppressor: !GetAtt Outer.Arn }
"#;

    fn parts() -> (Vec<Alarm>, Vec<Composite>) {
        let template: Template = TEMPLATE.parse().unwrap();
        let names = template.deployed(Names::new()).unwrap();
        (Alarm::all(&template, &names).unwrap(), Composite::all(&template, &names).unwrap())
    }

    fn line(set: &str, values: &str, metric: &str) -> String {
        let directive = format!(r#"{{"Namespace":"M/a","Dimensions":{set},"Metrics":[{{"Name":"{metric}"}}]}}"#);
        format!(r#"{{"_aws":{{"CloudWatchMetrics":[{directive}]}},{values}}}"#)
    }

    #[test]
    fn states_follow_threshold_statistic_and_missing_data() {
        let alarms = parts().0;
        let state = |id: &str, log: &str, times: usize| {
            alarms.iter().find(|alarm| alarm.id == id).unwrap().state(&points(log), times)
        };
        let (old, young) = (line("[[]]", r#""Age":6"#, "Age"), line("[[]]", r#""Age":5"#, "Age"));
        assert_eq!(state("Late", &format!("{young}\n{old}\nno JSON"), 1), State::Alarm);
        assert_eq!((state("Late", &young, 9), state("Late", "", 1)), (State::Ok, State::InsufficientData));
        let failed = line(r#"[[],["Outcome"]]"#, r#""Outcome":"failed","Writes":3"#, "Writes");
        let mined = line(r#"[[],["Outcome"]]"#, r#""Outcome":"mined","Writes":30"#, "Writes");
        assert_eq!((state("Failing", &failed, 1), state("Failing", &failed, 2)), (State::Ok, State::Alarm));
        assert_eq!((state("Failing", &mined, 1), state("Failing", "", 1)), (State::Ok, State::Ok));
        let left = |left: u8| line("[[]]", &format!(r#""Left":{left}"#), "Left");
        assert_eq!(state("Low", &format!("{}\n{}", left(9), left(4)), 1), State::Alarm);
        assert_eq!((state("Low", &left(5), 1), state("Low", "", 1)), (State::Ok, State::Alarm));
        let apart = |value: i8| line("[[]]", &format!(r#""Apart":{value}"#), "Apart");
        assert_eq!((state("Apart", &apart(-1), 1), state("Apart", &apart(0), 1)), (State::Alarm, State::Ok));
    }

    #[test]
    fn mails_are_sent_once_and_not_for_what_follows_from_another_alarm() {
        let (alarms, composites) = parts();
        let mails = |on: &[&str]| {
            let on = on.iter().map(|id| (*id).to_owned()).collect();
            Vec::from_iter(super::mails(&alarms, &composites, &on))
        };
        assert_eq!((mails(&[]), mails(&["Low"])), (vec![], vec!["Low".to_owned()]));
        assert_eq!(
            (mails(&["Late", "Apart"]), mails(&["Failing"])),
            (vec!["Outer".to_owned()], vec!["Inner".to_owned()])
        );
        assert_eq!(mails(&["Late", "Failing"]), ["Outer"]);
    }
}
