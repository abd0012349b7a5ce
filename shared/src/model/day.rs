/// Length of a day (UTC), in seconds: days are numbered from the Unix epoch.
pub const DAY: u64 = 24 * 60 * 60;
