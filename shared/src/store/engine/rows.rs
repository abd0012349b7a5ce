//! Rows as data: the patterns of a key, what the row holds and when it expires. Keys come from here alone, and
//! docs/data-model.md is written from it.

/// Rows of one kind of thing.
#[derive(Debug)]
pub struct Section {
    /// What the rows are about.
    pub heading: &'static str,
    /// What holds for all of them: lines of Markdown.
    pub about: &'static [&'static str],
    /// The rows.
    pub rows: &'static [&'static [Row]],
}

/// A kind of row. `{…}` in a pattern stands for a value, in the form that `format!` gives it.
#[derive(Debug)]
pub struct Row {
    /// Pattern of the partition key.
    pub pk: &'static str,
    /// Pattern of the sort key, or the name of a structure whose sort keys it has.
    pub sk: &'static str,
    /// What it holds: lines of Markdown.
    pub holds: &'static [&'static str],
    /// When it expires, in words; `None` for never.
    pub expires: Option<&'static str>,
}

/// Declares rows as data, and a function for each key and, where it is named, for its partition:
///
/// ```text
/// rows! { ROWS;
///     section "Sessions" {
///         partition (artist: ArtistId) as sessions = "SESSIONS#{artist}" {
///             /// A token that was signed out.
///             fn ended_session(token: Uuid) = "TOKEN#{token}" until "With the token";
///         }
///     }
/// }
/// ```
macro_rules! rows {
    ($name:ident; $(
        $(#[doc = $about:literal])*
        section $heading:literal {$(
            partition $pargs:tt $(as $partition:ident)? = $pk:literal {$(
                $(#[doc = $holds:literal])+
                $(fn $row:ident $args:tt =)? $sk:literal $(until $expires:literal)?;
            )+}
        )+}
    )+) => {
        /// All of them, for the document.
        pub const $name: &[$crate::store::engine::rows::Section] = &[$($crate::store::engine::rows::Section {
            heading: $heading,
            about: &[$($about),*],
            rows: &[$(&[$($crate::store::engine::rows::Row {
                pk: $pk,
                sk: $sk,
                holds: &[$($holds),+],
                expires: $crate::store::engine::rows::expiry!($($expires)?),
            }),+]),+],
        }),+];

        $($(
            $($crate::store::engine::rows::partition_function!($partition $pargs $pk);)?
            $($($crate::store::engine::rows::key_function!($row $pargs $args $pk $sk);)?)+
        )+)+
    };
}

macro_rules! expiry {
    () => {
        None
    };
    ($words:literal) => {
        Some($words)
    };
}

macro_rules! partition_function {
    ($name:ident ($($arg:ident: $type:ty),*) $pk:literal) => {
        pub(in crate::store) fn $name($($arg: $type),*) -> String {
            format!($pk)
        }
    };
}

macro_rules! key_function {
    ($name:ident ($($parg:ident: $ptype:ty),*) ($($arg:ident: $type:ty),*) $pk:literal $sk:literal) => {
        pub(in crate::store) fn $name($($parg: $ptype,)* $($arg: $type),*) -> $crate::store::engine::PrimaryKey {
            $crate::store::engine::PrimaryKey::new(format!($pk), format!($sk))
        }
    };
}

pub(in crate::store) use {expiry, key_function, partition_function, rows};

rows! { STRUCTURES;
    /// Sort keys of structures named above.
    section "Lists and ranked sets" {
        partition (list: &str) = "{list}" {
            /// A row of a list.
            fn list_row(number: u64) = "{number:012}";
            /// Number of a list's rows; sorts after all of them.
            fn list_length() = "LENGTH";
        }
        partition (packed: &str) = "{packed}" {
            /// 64 numbers of a packed list, by the first.
            fn packed_numbers(first: u64) = "{first:012}";
            /// A packed list's newest numbers, up to 64, and how many are in the other rows; the labels of the last ones, up
            /// to 16; sorts after all of them.
            fn newest_numbers() = "NEWEST";
        }
        partition (set: &str) = "{set}" {
            /// A member of a ranked set; the id breaks ties.
            fn ranked_member(score: u128, id: u128) = "{score:032x}{id:032x}";
            /// Root of a ranked set's tree: nodes, then buckets, with their first keys and counts; and the number of the next
            /// node.
            fn ranked_root() = "root";
            /// Buckets with their first keys and counts.
            fn ranked_node(node: u32) = "node#{node}";
        }
    }
}

rows! { INDEX;
    /// The chain's log. Its rows are written in the transaction that publishes a batch's progress, up to a hundred events in
    /// each. Undoing a batch appends the same events, as reverted.
    section "Events" {
        partition (chain: &str) as chain_events = "EVENTS#{chain}" {
            /// Events that one commit told, in their order.
            fn chain_event(last: u64) = "{last:020}";
        }
    }
    /// `{work}` is a chain, for `index-chain`, or `RANKINGS`, for `rank-collectors`.
    section "Indexer" {
        partition (work: &str) = "CHECKPOINT#{work}" {
            /// First block that isn't wholly indexed, and where in it the rest begins; the last final block; the batch that is
            /// half written or half undone, if any, with its lease; and the end of the log of events.
            fn checkpoint() = "CHECKPOINT";
        }
        partition (work: &str) as batches = "BATCHES#{work}" {
            /// A batch that can be undone: its writer, its blocks, the number of its first event, and the number of its journal
            /// rows or, if it is small, the images themselves, packed; deleted after its blocks are final.
            fn batch(batch: u64) = "{batch:020}";
        }
        partition (work: &str, writer: &str, batch: u64, chunk: u32) = "JOURNAL#{work}#{writer}#{batch}#{chunk}" {
            /// Previous images of the rows that a large batch changed, in partitions of their own; deleted with the batch.
            fn images() = "IMAGES";
        }
    }
}
