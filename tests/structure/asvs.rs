//! Each requirement of levels 1 and 2 of OWASP ASVS 5.0.0 has its row, which says how it stands and what shows it.

use crate::shown::{exists, places, rows};

/// By chapter of the published text: how many requirements of these levels there are, and their numbers by section.
const CHAPTERS: [(usize, &str); 17] = [
    (27, "1:1-2 2:1-9 3:1-11 4:1-3 5:1-2"),
    (11, "1:1-3 2:1-3 3:1-4 4:1"),
    (19, "2:1-2 3:1-4 4:1-6 5:1-5 7:1-2"),
    (10, "1:1-3 2:1 3:1-2 4:1-4"),
    (9, "1:1 2:1-3 3:1-2 4:1-3"),
    (35, "1:1-3 2:1-12 3:1-4 4:1-4 5:1-5 6:1-3 8:1-4"),
    (18, "1:1-3 2:1-4 3:1-2 4:1-5 5:1-2 6:1-2"),
    (7, "1:1-2 2:1-3 3:1 4:1"),
    (7, "1:1-3 2:1-4"),
    (29, "1:1-2 2:1-2 3:1-4 4:1-11 5:1-5 6:1-2 7:1-3"),
    (14, "1:1-2 2:1-3 3:1-3 4:1-4 5:1 6:1"),
    (9, "1:1-3 2:1-2 3:1-4"),
    (13, "1:1 2:1-5 3:1-2 4:1-5"),
    (9, "1:1-2 2:1-4 3:1-3"),
    (13, "1:1-3 2:1-3 3:1-7"),
    (16, "1:1 2:1-5 3:1-4 4:1-3 5:1-3"),
    (7, "1:1 2:1-4 3:1-2"),
];

const REQUIREMENTS: usize = 253;

/// How a requirement may stand: the key of the words that say so.
const STATES: [&str; 3] = ["met", "inapplicable", "refused"];

/// The ids of the published text, in its order.
fn published() -> Vec<String> {
    let mut ids = Vec::new();
    for (chapter, (count, sections)) in (1..).zip(CHAPTERS) {
        let before = ids.len();
        for section in sections.split(' ') {
            let (section, numbers) = section.split_once(':').expect("section:numbers");
            let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
            let [first, last] = [first, last].map(|number| number.parse::<u32>().expect("a number"));
            ids.extend((first..=last).map(|number| format!("{chapter}.{section}.{number}")));
        }
        assert_eq!(ids.len() - before, count, "requirements of chapter {chapter}");
    }
    assert_eq!(ids.len(), REQUIREMENTS);
    ids
}

#[test]
fn every_requirement_is_shown_or_has_a_reason() {
    let rows = rows("asvs.yaml");
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, published());
    for (id, row) in ids.iter().zip(&rows) {
        let stated: Vec<_> =
            STATES.into_iter().filter_map(|state| Some((state, row.get(state)?.as_str()?.trim()))).collect();
        let [(state, words)] = stated[..] else { panic!("{id} stands in one way, not in these: {stated:?}") };
        assert!(words.contains(' '), "{id}: no words say how it is {state}");
        let shown = places(row, "shown");
        assert!(state != "met" || !shown.is_empty(), "{id}: nothing shows it");
        let known = 2 + usize::from(row.get("shown").is_some());
        assert_eq!(row.as_mapping().map_or(0, |keys| keys.len()), known, "{id}: a key that nothing reads");
        for place in shown {
            assert!(exists(place), "{id}: there is no {place}");
        }
    }
}
