//! Metrics in CloudWatch's embedded metric format: a JSON line on standard output, without a call to AWS.
//! <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>

use std::{io::Write, sync::OnceLock};

use serde_json::{Map, Value, json};

use crate::{clock, config};

static NAMESPACE: OnceLock<String> = OnceLock::new();

/// Whether there is a metric for each chain, beside the totals.
static BY_CHAIN: OnceLock<bool> = OnceLock::new();

/// A metric. The template's alarms and dashboard refer to it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Sign-in codes that were mailed.
    CodesSent,
    /// Sign-in codes that a limit refused or that SES didn't take.
    CodesRefused,
    /// Mails that the service's budget had no room for, or only in what is kept for known mailboxes.
    MailBudgetUsedUp,
    /// Successful sign-ins.
    SignIns,
    /// Sign-ins with a wrong or expired code.
    SignInsRefused,
    /// Writes to a chain, by `Outcome`.
    Writes,
    /// Balance of a lane, in billionths of the chain's own currency.
    LaneBalance,
    /// Age of a lane's oldest open batch, in seconds; 0 if none is open.
    OldestOpenSlot,
    /// How long the first transaction in a chain's queue has waited, in seconds.
    QueueAge,
    /// The chain's nonce of a lane minus the stored one.
    NonceDrift,
    /// Transactions whose nonce was used by another program with the lane's key.
    ForeignNonces,
    /// Transactions signed again with higher fees.
    Bumps,
    /// Blocks of a chain's best node that aren't indexed yet.
    IndexLagBlocks,
    /// Age of the newest indexed block by the clock, in seconds.
    IndexLagSeconds,
    /// Age of the newest leaderboard, in seconds.
    RankingAge,
    /// Metadata documents that couldn't be fetched.
    MetadataFailures,
    /// Events that webhooks weren't told of yet, at most in a run.
    FanOutLag,
    /// Tries to deliver to a webhook that failed.
    WebhookFailures,
    /// Failed attempts to pin a file.
    PinFailures,
    /// Documents whose files couldn't be looked at, and will be later.
    PreviewFailures,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 20] = [
        Self::CodesSent,
        Self::CodesRefused,
        Self::MailBudgetUsedUp,
        Self::SignIns,
        Self::SignInsRefused,
        Self::Writes,
        Self::LaneBalance,
        Self::OldestOpenSlot,
        Self::QueueAge,
        Self::NonceDrift,
        Self::ForeignNonces,
        Self::Bumps,
        Self::IndexLagBlocks,
        Self::IndexLagSeconds,
        Self::RankingAge,
        Self::MetadataFailures,
        Self::FanOutLag,
        Self::WebhookFailures,
        Self::PinFailures,
        Self::PreviewFailures,
    ];

    /// Name in CloudWatch.
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    fn unit(self) -> &'static str {
        match self {
            Self::OldestOpenSlot | Self::QueueAge | Self::IndexLagSeconds | Self::RankingAge => "Seconds",
            Self::LaneBalance | Self::NonceDrift => "None",
            _ => "Count",
        }
    }
}

pub(super) fn init() {
    if let Some(namespace) = config::optional(config::variables::METRICS_NAMESPACE) {
        let _ = NAMESPACE.set(namespace);
        let _ = BY_CHAIN.set(config::optional(config::variables::SIZE).is_none_or(|size| size != "small"));
    }
}

/// Adds 1 to a metric that counts.
pub fn count(metric: Metric) {
    record(&[], &[(metric, 1)]);
}

/// Records values, both per dimensions (name and value) and in total.
pub fn record(dimensions: &[(&str, &str)], values: &[(Metric, i64)]) {
    let Some((namespace, now)) = NAMESPACE.get().zip(clock::now().ok()) else { return };
    // With one chain its metrics are the totals.
    let is_left_out = |(name, _): &(&str, &str)| *name == "Chain" && BY_CHAIN.get() == Some(&false);
    let dimensions = if dimensions.iter().any(is_left_out) { &[] } else { dimensions };
    let line = line(namespace, now.as_millis(), dimensions, values);
    // A single write keeps other output from splitting the line. A failed write can't be reported anywhere.
    let _ = std::io::stdout().lock().write_all(format!("{line}\n").as_bytes());
}

fn line(namespace: &str, now: u128, dimensions: &[(&str, &str)], values: &[(Metric, i64)]) -> Value {
    let names: Vec<_> = dimensions.iter().map(|(name, _)| *name).collect();
    let mut sets = vec![Vec::new()];
    if !names.is_empty() {
        sets.push(names);
    }
    let metrics: Vec<_> =
        values.iter().map(|(metric, _)| json!({"Name": metric.name(), "Unit": metric.unit()})).collect();
    let directive = json!({"Namespace": namespace, "Dimensions": sets, "Metrics": metrics});
    let mut line = Map::from_iter([(
        "_aws".to_owned(),
        json!({"Timestamp": u64::try_from(now).unwrap_or_default(), "CloudWatchMetrics": [directive]}),
    )]);
    line.extend(dimensions.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    line.extend(values.iter().map(|(metric, value)| (metric.name(), json!(value))));
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_with_dimensions_is_also_recorded_in_total() {
        let line = line("Moments/test", 1_700_000_000_000, &[("Chain", "8453")], &[(Metric::IndexLagSeconds, 7)]);
        let expected = json!({
            "_aws": {"Timestamp": 1_700_000_000_000_u64, "CloudWatchMetrics": [{
                "Namespace": "Moments/test",
                "Dimensions": [[], ["Chain"]],
                "Metrics": [{"Name": "IndexLagSeconds", "Unit": "Seconds"}],
            }]},
            "Chain": "8453",
            "IndexLagSeconds": 7,
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn a_plain_count_has_no_dimension() {
        let line = line("Moments/test", 0, &[], &[(Metric::CodesSent, 1), (Metric::Bumps, 2)]);
        assert_eq!(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json!([[]]));
        assert_eq!((&line["CodesSent"], &line["Bumps"]), (&json!(1), &json!(2)));
    }

    #[test]
    fn every_metric_is_listed_once() {
        let names: std::collections::BTreeSet<_> = Metric::ALL.map(Metric::name).into();
        assert_eq!(names.len(), Metric::ALL.len());
    }
}
