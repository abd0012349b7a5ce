use std::{collections::BTreeMap, fs, path::Path};

use serde_norway::{Mapping, Value};

use crate::{Template, TemplateError, resolve};

/// The application's templates, a stack each, in the order of deployment: what outlives the code, and the code.
const STACKS: [&str; 2] = ["data.yaml", "template.yaml"];

/// What each of them declares.
const SECTIONS: [&str; 3] = ["Parameters", "Conditions", "Resources"];

impl Template {
    /// Reads the application in a folder: its two stacks as one template. Outputs of the first are parameters of the
    /// second, where they have the same name. What both declare must be equal.
    pub fn of(folder: &Path) -> Result<Self, TemplateError> {
        let stack = |file: &str| fs::read_to_string(folder.join(file))?.parse::<Self>();
        let (data, code) = (stack(STACKS[0])?, stack(STACKS[1])?);
        code.beside(&data)
    }

    /// This stack and one that is deployed before.
    fn beside(mut self, earlier: &Self) -> Result<Self, TemplateError> {
        for name in SECTIONS {
            let mut own = section(&self.document, name);
            if name == "Parameters" {
                let outputs = section(&earlier.document, "Outputs");
                own.retain(|parameter, _| !outputs.contains_key(parameter));
            }
            let mut all = section(&earlier.document, name);
            for (key, value) in own {
                if all.get(&key).is_some_and(|known| *known != value) {
                    return Err(TemplateError::Different(key.as_str().unwrap_or_default().to_owned()));
                }
                all.insert(key, value);
            }
            self.document[name] = Value::Mapping(all);
        }
        let outputs = section(&earlier.document, "Outputs");
        let output = |(name, output): (Value, Value)| Some((name.as_str()?.to_owned(), output.get("Value")?.clone()));
        self.handed_over = outputs.into_iter().filter_map(output).collect();
        Ok(self)
    }

    /// Adds the outputs of the first stack, as far as what they name was made.
    pub fn hand_over(&self, names: &mut BTreeMap<String, String>) {
        let values =
            self.handed_over.iter().filter_map(|(name, value)| Some((name.clone(), resolve(value, names).ok()?)));
        let values: Vec<_> = values.collect();
        names.extend(values);
    }
}

fn section(document: &Value, name: &str) -> Mapping {
    document.get(name).and_then(Value::as_mapping).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = r#"
Parameters: { Stage: { Type: String, Default: staging } }
Resources: { Table: { Type: Table, Properties: {} } }
Outputs: { Table: { Value: !Ref Table }, TableArn: { Value: !GetAtt Table.Arn } }
"#;

    const CODE: &str = r#"
Parameters: { Stage: { Type: String, Default: staging }, Table: { Type: String }, TableArn: { Type: String } }
Conditions: { IsStaging: !Equals [!Ref Stage, staging] }
Resources: { Function: { Type: Function, Properties: { Table: !Ref TableArn } } }
"#;

    fn application(data: &str, code: &str) -> Result<Template, TemplateError> {
        code.parse::<Template>()?.beside(&data.parse()?)
    }

    #[test]
    fn outputs_of_the_first_stack_are_parameters_of_the_second() {
        let template = application(DATA, CODE).unwrap();
        assert_eq!(template.logical_ids().collect::<Vec<_>>(), ["Table", "Function"]);
        let mut names = template.deployed(BTreeMap::new()).unwrap();
        let arn = names["Table.Arn"].clone();
        assert_eq!(resolve(&template.resources("Function").next().unwrap().properties["Table"], &names).unwrap(), arn);
        names.insert("Table.Arn".to_owned(), "another".to_owned());
        template.hand_over(&mut names);
        assert_eq!(names["TableArn"], "another");
    }

    #[test]
    fn what_both_declare_is_equal() {
        let other = DATA.replace("Default: staging", "Default: production");
        assert!(matches!(application(&other, CODE), Err(TemplateError::Different(name)) if name == "Stage"));
    }
}
