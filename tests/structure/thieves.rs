//! Each cell of the threat model's table of thieves has its tests.

use crate::{
    checkout::read,
    shown::{exists, places, rows},
};

#[test]
fn every_cell_of_what_a_thief_gets_is_shown() {
    let document = read("docs/threat-model.md");
    let section = document.split("## What a thief gets").nth(1).and_then(|rest| rest.split("\n## ").next());
    let lines: Vec<_> = section.expect("the table").lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let thieves: Vec<_> = lines.iter().filter_map(|line| line.split('|').nth(1)).map(str::trim).collect();
    let rows = rows("thieves.yaml");
    let named: Vec<_> = rows.iter().filter_map(|row| row["with"].as_str()).collect();
    assert_eq!(named, thieves);
    for (row, line) in rows.iter().zip(lines) {
        let files = line.split('|').nth(4).expect("a cell");
        for file in files.split('`').skip(1).step_by(2) {
            let shows = |cell| places(row, cell).iter().any(|place| place.split("::").next() == Some(file));
            assert!(shows("gets") || shows("not"), "no test of {file} is one of {row:?}");
        }
        for cell in ["gets", "not"] {
            let places = places(row, cell);
            assert!(!places.is_empty(), "nothing shows what {row:?} says under {cell}");
            for place in places {
                assert!(exists(place), "there is no {place}");
            }
        }
    }
}
