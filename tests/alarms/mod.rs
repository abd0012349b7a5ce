//! Every alarm of the template, set off: its cause is brought about, and what functions, gateway and queue then show is read
//! as CloudWatch reads it. Time passes by repeating a run as often as a period has it, and by older dates in the tables.

mod chains;
mod requests;
mod workers;

use std::collections::{BTreeMap, BTreeSet};

use local::{
    alarm::{Alarm, Composite, Point, State, mails, points},
    paths::Paths,
};
use template::Template;
use tests::{Error, Sandbox, Stack};
use uuid::Uuid;

/// By logical id of the alarm.
type Tries = BTreeMap<&'static str, Tried>;

/// What is seen in a period with the cause of an alarm and in one without it.
struct Tried {
    with: Seen,
    without: Seen,
    /// How often the run that was seen comes in a period.
    times: usize,
}

/// What a stage's parts showed.
#[derive(Clone)]
struct Seen {
    names: BTreeMap<String, String>,
    points: Vec<Point>,
}

impl Seen {
    /// The metrics that a function of this stage wrote.
    fn of(stage: &Stack, function: &Sandbox) -> Self {
        let mut points = points(&function.log());
        let namespace = format!("Moments/{}", stage.map.names["Stage"]);
        points.retain(|point| point.namespace == namespace);
        Self { names: names(stage), points }
    }

    /// Values of a metric of AWS's own, whose dimension is a name of the template.
    fn of_aws(stage: &Stack, metric: (&str, &str), dimension: (&str, &str), values: &[f64]) -> Self {
        let names = names(stage);
        let dimensions = BTreeMap::from([(dimension.0.to_owned(), names[dimension.1].clone())]);
        let point = |value: &f64| Point {
            namespace: metric.0.to_owned(),
            metric: metric.1.to_owned(),
            dimensions: dimensions.clone(),
            value: *value,
        };
        Self { points: values.iter().map(point).collect(), names }
    }

    fn and(mut self, other: Self) -> Self {
        self.points.extend(other.points);
        self
    }

    fn has(&self, metric: &str) -> bool {
        self.points.iter().any(|point| point.metric == metric)
    }

    fn state(&self, template: &Template, alarm: &str, times: usize) -> Result<State, Error> {
        let alarms = Alarm::all(template, &self.names)?;
        let alarm = alarms.iter().find(|each| each.id == alarm).ok_or("no such alarm")?;
        Ok(alarm.state(&self.points, times))
    }
}

fn template() -> Result<Template, Error> {
    Ok(Paths::of_checkout().template()?)
}

/// The stack by another stage's name, which tells its metrics from all others.
fn staged(stack: &Stack) -> Stack {
    let mut map = stack.map.clone();
    map.names.insert("Stage".to_owned(), format!("tried-{}", Uuid::new_v4().simple()));
    map.names.insert("RequestsHourlyAlarm".to_owned(), "10".to_owned());
    stack.with(map)
}

fn names(stage: &Stack) -> BTreeMap<String, String> {
    let mut names = template().and_then(|template| Ok(template.deployed(stage.map.names.clone())?)).expect("names");
    names.insert("DeadLetters.QueueName".to_owned(), "dead-letters".to_owned());
    names
}

/// Starts a function of a stage.
async fn function(stage: &Stack, binary: &str, variables: &[(&str, &str)]) -> Sandbox {
    Sandbox::crowd(stage, binary, variables, &stage.map.dynamodb, 8).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_alarm_goes_off_by_its_cause_and_not_without_it() -> Result<(), Error> {
    let (stack, template) = (Stack::connect(), template()?);
    let (chains, requests, workers) =
        tokio::try_join!(chains::tries(&stack), requests::tries(&stack), workers::tries(&stack))?;
    let mut tries: Tries = chains.into_iter().chain(requests).chain(workers).collect();
    for alarm in Alarm::all(&template, &names(&staged(&stack)))? {
        let tried = tries.remove(alarm.id.as_str()).unwrap_or_else(|| panic!("nothing tries {}", alarm.id));
        let (with, without) = (&tried.with, &tried.without);
        let state = with.state(&template, &alarm.id, tried.times)?;
        assert_eq!(state, State::Alarm, "{} with its cause: {:?}", alarm.id, with.points);
        let state = without.state(&template, &alarm.id, tried.times)?;
        assert_eq!(state, State::Ok, "{} without its cause: {:?}", alarm.id, without.points);
    }
    assert!(tries.is_empty(), "no alarms of the template: {:?}", tries.keys());
    Ok(())
}

#[tokio::test]
async fn one_cause_sends_one_mail() -> Result<(), Error> {
    let (template, names) = (template()?, names(&staged(&Stack::connect())));
    let (alarms, composites) = (Alarm::all(&template, &names)?, Composite::all(&template, &names)?);
    let sent = |on: &[&str]| mails(&alarms, &composites, &on.iter().map(|id| (*id).to_owned()).collect());
    for alarm in &alarms {
        assert_eq!(sent(&[&alarm.id]).len(), 1, "{} alone: {:?}", alarm.id, sent(&[&alarm.id]));
    }
    for (cause, on, mail) in [
        (
            "a chain lags",
            &["IndexLagAlarm", "FailedWritesAlarm", "RankingAgeAlarm", "FanOutLagAlarm"][..],
            "ChainsAlarm",
        ),
        ("lanes can't send", &["QueueAgeAlarm", "OldestOpenSlotAlarm", "FailedWritesAlarm"], "ChainsAlarm"),
        ("endpoints fail", &["ServerErrorsAlarm", "SlowReadsAlarm"], "ServiceAlarm"),
        ("codes are guessed", &["SignInsRefusedAlarm", "CodesRefusedAlarm"], "SignInAlarm"),
        ("runs fail", &["DeadLettersAlarm", "MetadataFailuresAlarm", "SilentPinningAlarm"], "WorkersAlarm"),
        ("runs measure nothing", &["RankingAgeAlarm", "FanOutLagAlarm"], "ConsequencesAlarm"),
    ] {
        assert_eq!(sent(on), BTreeSet::from([mail.to_owned()]), "{cause}");
    }
    Ok(())
}

#[tokio::test]
async fn failing_requests_and_runs_send_mails_while_a_chain_lags() -> Result<(), Error> {
    let (template, names) = (template()?, names(&staged(&Stack::connect())));
    let (alarms, composites) = (Alarm::all(&template, &names)?, Composite::all(&template, &names)?);
    let consequences = ["FailedWritesAlarm", "RankingAgeAlarm", "FanOutLagAlarm"];
    for alarm in alarms.iter().filter(|alarm| !consequences.contains(&alarm.id.as_str())) {
        let chain = BTreeSet::from(["IndexLagAlarm".to_owned()]);
        let both = BTreeSet::from_iter([alarm.id.clone()].into_iter().chain(chain.clone()));
        let alone = mails(&alarms, &composites, &BTreeSet::from([alarm.id.clone()]));
        assert!(mails(&alarms, &composites, &both).is_superset(&alone), "{} is mute while a chain lags", alarm.id);
    }
    Ok(())
}
