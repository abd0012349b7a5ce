//! When a failed delivery is tried again.

/// Seconds after the first failures; later ones wait as long as the last.
const PAUSES: [u64; 9] = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200];

/// Seconds until the next try after `failures` failures in a row: between half and one and a half of the pause, so that
/// receivers that failed together aren't asked together.
pub(crate) fn pause(failures: u32, random: u64) -> u64 {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX).min(PAUSES.len() - 1);
    let pause = PAUSES.get(index).copied().unwrap_or_default();
    pause / 2 + random % (pause + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_twelve_hours_and_spread() {
        for (failures, least, most) in [(1, 2, 7), (2, 15, 45), (9, 21_600, 64_800), (u32::MAX, 21_600, 64_800)] {
            let pauses: Vec<u64> = (0..100_000).map(|random| pause(failures, random)).collect();
            assert_eq!((pauses.iter().min(), pauses.iter().max()), (Some(&least), Some(&most)));
        }
    }

    #[test]
    fn a_delivery_is_tried_about_twelve_times_in_three_days() {
        let mut at = 0;
        let tries = (1..).take_while(|failures| {
            at += pause(*failures, PAUSES[8] / 2);
            at < 3 * 24 * 60 * 60
        });
        assert!((8..16).contains(&tries.count()));
    }
}
