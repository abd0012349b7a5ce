//! All rows of the chain table, but those of the index's own work.

use uuid::Uuid;

use crate::{
    model::{Address, ArtistId, ChainId, CommentId, EventId, MomentRef, Period, RankedBy},
    store::engine::rows::rows,
};

rows! { ROWS;
    section "Collections and moments" {
        partition (chain: ChainId, collection: Address) = "COLLECTION#{chain}#{collection}" {
            /// A collection
            fn collection() = "COLLECTION";
        }
        partition (chain: ChainId) as known_collections = "COLLECTIONS#{chain}" {
            /// The collection's protocol; all of a chain are read when the indexer starts
            fn known_collection(collection: Address) = "{collection}";
        }
        partition (chain: ChainId) as collections_of_chain = "COLLECTION_LIST#{chain}" {
            /// Addresses of the chain's collections, by creation, with the creator and the hash of the first URI, so
            /// that names and documents are read along with them
            "list";
        }
        partition (chain: ChainId, creator: Address) as collections_of_creator = "COLLECTION_LIST#{chain}#{creator}" {
            /// The same of one creator
            "list";
        }
        partition (chain: ChainId, collection: Address) = "MOMENTS#{chain}#{collection}" {
            /// A moment, with its sales and admins
            fn moment(token: &str) = "{token:0>78}";
        }
        partition (chain: ChainId, collection: Address) = "EARLY#{chain}#{collection}" {
            /// Settings of a token that doesn't exist yet, which the contracts allow; deleted when it does
            fn early_settings(token: &str) = "{token:0>78}";
        }
        partition (chain: ChainId, account: Address) as administered_collections = "ADMIN_OF#{chain}#{account}" {
            /// A collection that the account is an admin of
            fn administered_collection(collection: Address) = "{collection}";
        }
        partition (chain: ChainId, edition: Address, tier: u8) = "TIER#{chain}#{edition}#{tier}" {
            /// A tier of an edition: base URI and number of tokens
            fn tier() = "TIER";
        }
        partition (chain: ChainId, address: Address) = "SPLIT#{chain}#{address}" {
            /// Recipients of a revenue split
            fn split() = "SPLIT";
        }
    }

    /// A timeline has one ranked set for each combination of filters that a moment can match: 2 of its chain, 1 of its
    /// collection, 4 of its creator. A content type doubles them, a username those of the chain and of `OF`. Each of its
    /// first 50 other admins who accepted that adds `OF` and `MUTUAL`. A hidden moment is in those of hidden ones only.
    section "Timelines" {
        partition (chain: ChainId, scope: &str, filters: &str) as timeline = "TIMELINE#{chain}#{scope}{filters}" {
            /// Collection and token of the moments, by time of creation, with the creator and the hash of the URI, so
            /// that names and documents are read along with them
            "ranked set";
        }
        partition (moment: &MomentRef) = "LISTED#{moment}" {
            /// The properties of a moment that determine its timelines
            fn listing() = "LISTED";
        }
        partition (chain: ChainId, collection: Address) as moments_of = "MOMENTS_OF#{chain}#{collection}" {
            /// Moments to list again when the collection's admins change
            "list";
        }
        partition (chain: ChainId, creator: Address) as moments_by = "MOMENTS_BY#{chain}#{creator}" {
            /// Moments to list again when the creator gets a username
            "list";
        }
        partition (chain: ChainId, account: Address) as administered_by = "ADMINISTERED_BY#{chain}#{account}" {
            /// Moments and collections to list again when the account becomes an artist's wallet, or is none any more
            "list";
        }
        partition (chain: ChainId, uri_hash: &str) as moments_with = "MOMENTS_WITH#{chain}#{uri_hash}" {
            /// Moments to list again when the document at their URI arrives; a moment stays in the lists of its former
            /// URIs
            "list";
        }
        partition (chain: ChainId) as relistings = "RELIST#{chain}" {
            /// One of these lists, or a creator's collections, that are being listed again, and how many are done
            fn relisting(list: &str) = "{list}";
        }
    }

    section "Comments" {
        partition (moment: &MomentRef) as comments = "COMMENTS#{moment}" {
            /// Top-level comments with the sender's username, sparks, number of replies and first three replies: a
            /// page is one Query
            "list";
        }
        partition (moment: &MomentRef, parent: CommentId) as replies = "REPLIES#{moment}#{parent}" {
            /// Direct replies to a comment, in the same form
            "list";
        }
        partition (chain: ChainId, comment: CommentId) = "COMMENT#{chain}#{comment}" {
            /// Key of the row of a comment that can be replied to
            fn comment_place() = "PLACE";
        }
        partition (chain: ChainId, wallet: Address) as named_comments = "NAMED#{chain}#{wallet}" {
            /// Key of the row of a comment that shows the wallet's username. `{comment}` is its id, or its row id if
            /// it has none (a mint-time comment)
            fn named_comment(comment: &str) = "{comment}";
        }
        partition (chain: ChainId) as artist_changes = "CHANGES#{chain}" {
            /// An artist's change that is being propagated, and its progress, decisions first; pending again if the
            /// blocks beside it are undone
            fn artist_change(id: Uuid) = "{id}";
        }
    }

    /// A notification is a payment seen by the creator. Its id follows from the payment's; its number in the creator's
    /// list is fixed once its block is final.
    section "Payments" {
        partition (chain: ChainId, filters: &str) as payments = "PAYMENTS#{chain}{filters}" {
            /// Payments in the order of the chain; with a filter, a packed list of their numbers in the list without
            /// one. A collector's is labelled with creators
            "list";
        }
        partition (id: EventId) = "NOTIFICATION#{id}" {
            /// The list of a notification, its number there, and its block
            fn notification() = "PLACE";
        }
    }

    section "Statistics" {
        partition (chain: ChainId, account: Address) = "STATS#{chain}#ARTIST#{account}" {
            /// Counts of what an account created and whom it sent, in all and by day
            fn artist_stats() = "STATS";
            /// Day of an account's last collect
            fn collector_of_artist(collector: Address) = "{collector}";
        }
        partition (chain: ChainId, collection: Address) = "STATS#{chain}#COLLECTION#{collection}" {
            /// The same of a collection's moments
            fn collection_stats() = "STATS";
            /// The same
            fn collector_of_collection(collector: Address) = "{collector}";
        }
    }

    /// A transfer is of one token of an event. A paid collect has no row here: reads merge the payments in. Burns and
    /// transfers of nothing have no row.
    section "Transfers" {
        partition (chain: ChainId, filter: &str) as transfers = "TRANSFERS#{chain}{filter}" {
            /// Transfers that weren't paid for, in the order of the chain; with a filter, a packed list of their
            /// numbers in the list without one
            "list";
        }
    }

    section "Leaderboards" {
        partition (scope: &str, period: Period, field: RankedBy) as ranking = "RANKING#{scope}#{period}#{field}" {
            /// Collectors with their spending, the highest first; read in both directions. `{scope}` is `ALL`, a chain
            /// (`eip155:8453`) where several are served, or the creator whose moments were collected
            "ranked set";
        }
        partition (collector: ArtistId) = "COLLECTOR#{collector}" {
            /// Spending of a collector, by period
            fn spending_of_collector(scope: &str) = "{scope}";
        }
        partition (wallet: Address) as spending_of_wallet = "SPENDING#{wallet}" {
            /// Spending of a wallet, by period, and the collector whom it counts for
            fn spending(scope: &str) = "{scope}";
        }
        partition (chain: ChainId) = "RANKINGS#{chain}" {
            /// Number of the first payment that isn't counted yet, and of the first one within each period
            fn ranking_cursor() = "CURSOR";
        }
    }

    /// Documents are keyed by the URI's SHA-256, not by moment, so a reorganisation leaves them alone.
    section "Metadata" {
        partition (chain: ChainId, uri_hash: &str) = "METADATA#{chain}#{uri_hash}" {
            /// A document; null until it is fetched
            fn document() = "DOCUMENT";
        }
        partition (shard: u8) as due_documents = "METADATA_DUE#{shard}" {
            /// Queue of documents to fetch at `{due}` or later (Unix seconds), in 8 shards
            fn due_document(due: u64, chain: ChainId, uri_hash: &str) = "{due:012}#{chain}#{uri_hash}";
        }
        partition (chain: ChainId, collection: Address) = "METADATA_PACE#{chain}#{collection}" {
            /// Until when a collection's documents use up its pace, in Unix milliseconds of the chain
            fn document_pace() = "PACE";
        }
        partition (chain: ChainId, uri_hash: &str) = "PREVIEWS#{chain}#{uri_hash}" {
            /// What is known of the files that a document names
            fn previews() = "PREVIEWS";
        }
        partition () as due_previews = "PREVIEWS_DUE" {
            /// Queue of documents whose files are to be looked at
            fn due_preview(due: u64, chain: ChainId, uri_hash: &str) = "{due:012}#{chain}#{uri_hash}";
            /// The same for an artist's picture
            fn due_avatar(due: u64, artist: ArtistId) = "{due:012}#{artist}";
        }
        partition (chain: ChainId) as arrived_documents = "METADATA_INBOX#{chain}" {
            /// A fetched document whose content type isn't in all timelines yet, and how many moments are done
            fn arrived_document(uri_hash: &str, at: u64) = "{uri_hash}#{at}";
        }
    }
}
