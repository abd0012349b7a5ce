//! All rows of the document table.

use crate::store::engine::rows::rows;

rows! { ROWS;
    /// A document is here once, whichever chains name it. A re-index takes it from here.
    section "Documents" {
        partition (uri_hash: &str) = "DOCUMENT#{uri_hash}" {
            /// A document as it was read from its host or a gateway, and when
            fn read_document() = "DOCUMENT";
        }
    }
}
