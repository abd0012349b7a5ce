use std::collections::BTreeMap;

use crate::{Template, TemplateError};

/// The parameters that `samconfig.toml` gives a stage.
pub fn stage_parameters(samconfig: &str, stage: &str) -> Result<BTreeMap<String, String>, TemplateError> {
    let missing = || TemplateError::Missing(format!("[{stage}.deploy.parameters] of samconfig.toml"));
    let section = samconfig.split_once(&format!("[{stage}.deploy.parameters]")).ok_or_else(missing)?.1;
    let section = section.split("\n[").next().unwrap_or_default();
    let list = section.split_once("parameter_overrides = ").ok_or_else(missing)?.1;
    // A list of TOML's basic strings is one of YAML's, too.
    let list = list.split_once("\n]").map_or(list, |(list, _)| list).to_owned() + "\n]";
    let list: Vec<String> = serde_norway::from_str(&list)?;
    let parameter = |line: &String| {
        let (name, value) = line.split_once('=')?;
        Some((name.to_owned(), value.trim_matches('\'').to_owned()))
    };
    list.iter().map(|line| parameter(line).ok_or_else(missing)).collect()
}

impl Template {
    /// Values by name as in an account: `parameters` or their defaults, conditions, and for each resource a name and an
    /// ARN, and for parameters of Systems Manager a value, as an account could have made them.
    pub fn deployed(&self, parameters: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, TemplateError> {
        let account = [
            ("AWS::AccountId", "111122223333"),
            ("AWS::Partition", "aws"),
            ("AWS::Region", "us-east-1"),
            ("AWS::URLSuffix", "amazonaws.com"),
        ];
        let account = account.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut names = self.names(parameters.into_iter().chain(account))?;
        for id in self.logical_ids() {
            names.insert(format!("{id}.Arn"), format!("arn:aws:moments:us-east-1:111122223333:{id}"));
            names.insert(format!("{id}.StreamArn"), format!("arn:aws:moments:us-east-1:111122223333:{id}/stream/1"));
            names.insert(id.clone(), format!("{}-physical", id.to_lowercase()));
        }
        for parameter in self.resources("AWS::SSM::Parameter") {
            names.insert(format!("{}.Value", parameter.logical_id), format!("value of {}", parameter.logical_id));
        }
        self.hand_over(&mut names);
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stages_parameters_are_read_without_their_quotes() {
        let config = "[a.deploy.parameters]\nregion = \"x\"\nparameter_overrides = [\n    \"Stage=a\",\n    # why\n    \
                      \"Chains='[{\\\"id\\\": 1}]'\",\n]\n[b.deploy.parameters]\nparameter_overrides = [\n    \"Stage=b\",\n]\n";
        let read = |stage: &str| stage_parameters(config, stage).unwrap();
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        assert_eq!(read("a"), BTreeMap::from([("Stage", "a"), ("Chains", "[{\"id\": 1}]")].map(text)));
        assert_eq!(read("b"), BTreeMap::from([("Stage", "b")].map(text)));
        assert!(stage_parameters(config, "c").is_err());
    }
}
