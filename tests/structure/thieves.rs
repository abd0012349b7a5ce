//! Each cell of the threat model's table of thieves has its tests.

use crate::{
    checkout::read,
    shown::{exists, places, rows},
};

#[test]
fn every_cell_of_what_a_thief_gets_is_shown() {
    let document = read("docs/threat-model.md");
    let section = document.split("## What a thief gets").nth(1).and_then(|rest| rest.split("\n## ").next());
    let lines = section.expect("the table").lines().filter(|line| line.starts_with("| ")).skip(2);
    let thieves: Vec<_> = lines.filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    let rows = rows("thieves.yaml");
    let named: Vec<_> = rows.iter().filter_map(|row| row["with"].as_str()).collect();
    assert_eq!(named, thieves);
    for row in &rows {
        for cell in ["gets", "not"] {
            let places = places(row, cell);
            assert!(!places.is_empty(), "nothing shows what {row:?} says under {cell}");
            for place in places {
                assert!(exists(place), "there is no {place}");
            }
        }
    }
}
