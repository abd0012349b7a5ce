//! The parts of an upload.

/// Largest file that has one part.
const ONE_PART: u64 = 100_000_000;

/// Bytes of a part of a larger file.
const PART: u64 = 64 << 20;

/// Offsets and sizes of the parts of a file of `size` bytes, in order.
pub fn cut(size: u64) -> impl Iterator<Item = (u64, u64)> {
    let part = if size <= ONE_PART { ONE_PART } else { PART };
    (0..size.div_ceil(part)).map(move |number| (number * part, part.min(size - number * part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_file() {
        for (size, count) in [(1, 1), (ONE_PART, 1), (ONE_PART + 1, 2), (2 * PART, 2), (2 * PART + 1, 3), (2 << 30, 32)]
        {
            let parts: Vec<_> = cut(size).collect();
            assert_eq!(parts.len(), count, "{size}");
            let end = parts.iter().fold(0, |end, (offset, size)| {
                assert_eq!(*offset, end);
                end + size
            });
            assert_eq!(end, size);
        }
    }
}
