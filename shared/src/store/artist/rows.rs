//! All rows of the artist table.

use alloy::primitives::B256;
use uuid::Uuid;

use crate::{
    model::{
        ActivityId, Address, ArtistId, ChainId, Cid, ClaimId, DeliveryId, Email, EventId, MomentRef, Reason, Subject,
        TokenId, TransactionId, UploadId, WebhookId, WriteKind,
    },
    store::engine::rows::rows,
};

rows! { ROWS;
    section "Artists" {
        partition (artist: ArtistId) = "ARTIST#{artist}" {
            /// An artist: embedded wallet, profile and wallets
            fn profile() = "PROFILE";
        }
        partition (artist: ArtistId) = "CONTACT#{artist}" {
            /// The artist's mail address, apart from what everybody may read
            fn contact() = "EMAIL";
        }
        partition (email: &Email) = "EMAIL#{email}" {
            /// Artist and embedded wallet
            fn artist_by_email() = "ARTIST";
        }
        partition (email: &Email) = "RESERVED#{email}" {
            /// Artist and embedded wallet that were given something before their mailbox signed in
            fn reserved_artist() = "ARTIST" until "A year after the last gift, or the first sign-in";
        }
        partition (wallet: Address) = "WALLET#{wallet}" {
            /// Owner of a wallet, the username to show, and when it was connected
            fn artist_by_wallet() = "ARTIST";
        }
        partition (artist: ArtistId) as payout_addresses = "PAYOUTS#{artist}" {
            /// An address that money can be withdrawn to a day after it was added
            fn payout_address(address: Address) = "{address}";
            /// Number of these addresses, 20 at most
            fn payout_count() = "COUNT";
        }
        partition (artist: ArtistId) as activities = "ACTIVITY#{artist}" {
            /// Something that happened to the account, and the network that asked for it
            fn activity(activity: ActivityId) = "{activity}" until "90 days later (`ActivityRetentionDays`)";
        }
        partition (artist: ArtistId) as work_activities = "ACTIVITY#WORKS#{artist}" {
            /// What the artist did with moments
            fn work_activity(activity: ActivityId) = "{activity}" until "90 days later (`ActivityRetentionDays`)";
        }
        partition (artist: ArtistId) = "ACTIVITY#DAYS#{artist}" {
            /// The day's newest activity of this kind
            fn activity_of_day(day: u64, kind: &str, subject: &str) = "{day}#{kind}#{subject}" until "A day after the day's end";
        }
        partition () as deletions = "DELETIONS" {
            /// An account to erase, from when on, and since when that has begun; deleted with the last row of the
            /// artist
            fn deletion(artist: ArtistId) = "{artist}";
        }
        partition (chain: ChainId) as hidden_moments = "HIDDEN#{chain}" {
            /// A moment that an admin hid, and the artist who did
            fn hidden_moment(collection: Address, token: TokenId) = "{collection}#{token}";
        }
        partition (event: EventId) = "ATTRIBUTED#{event}" {
            /// Creator of what one account made in another's name; who was named; once accepted, who made it
            fn attribution() = "CREATOR";
        }
        partition () = "ATTRIBUTED#SINCE" {
            /// From when creators are decided; what is older is the named account's
            fn attributed_since() = "SINCE";
        }
        partition (artist: ArtistId) as accepted_senders = "ACCEPTED#{artist}" {
            /// Who may create in the artist's name
            fn accepted_sender(sender: Address) = "{sender}";
        }
        partition (artist: ArtistId) = "OWN#{artist}" {
            /// Name and URI of the collection that moments go to without another one; its address follows from them
            fn own_collection(chain: ChainId) = "{chain}";
        }
        partition (name: &str) = "USERNAME#{name}" {
            /// Owner of a username in its folded form, or of all with its shape
            fn username() = "ARTIST" until "30 days after the artist gave the name up; nobody else can take it until then";
        }
        partition (first: &str) = "SEARCH#{first}" {
            /// An artist who has a username; names that begin alike stand together
            fn searched_name(name: &str) = "{name}";
        }
    }

    section "Outbox" {
        partition () as index_inbox = "INBOX" {
            /// A change for the indexer
            fn index_message(id: Uuid) = "{id}";
        }
        partition () as ranking_inbox = "INBOX#RANKINGS" {
            /// A wallet that changed hands, for the leaderboards
            fn ranking_message(id: Uuid) = "{id}";
        }
    }

    /// The log of transactions' outcomes and changed artists. Its numbers come from `HEAD`, which is written with each
    /// row, and both with their cause.
    section "Events of the service" {
        partition () as service_events = "EVENTS" {
            /// Events of one cause, such as the outcomes of a lane's batch
            fn service_event(last: u64) = "{last:020}" until "30 days later";
            /// The log's id, and the number of its newest event; sorts after all of them
            fn service_events_head() = "HEAD";
        }
    }

    section "Viewed notifications" {
        partition (chain: ChainId, account: Address) as viewed_notifications = "VIEWED#{chain}#{account}" {
            /// The number below which all notifications are viewed, how many are viewed in each chunk above, and the
            /// ids of viewed ones whose numbers weren't settled when they were marked
            fn viewed_state() = "STATE";
            /// One bit for each of a chunk's 4,096 numbers
            fn viewed_marks(chunk: u64) = "MARKS#{chunk:010}";
        }
    }

    /// Files are objects of the media bucket: `uploads/{upload}` for what artists upload, `documents/{cid}` for what
    /// the service writes. An object that isn't content yet has the tag `state=unfinished`, and the bucket deletes it
    /// after two days.
    section "Media" {
        partition (cid: Cid) = "CONTENT#{cid}" {
            /// A file: its object, media type and size, when it was pinned, and numbers of holders and of namings
            fn content() = "CONTENT";
        }
        partition (cid: Cid) = "BLOCK#{cid}" {
            /// A block of a file that has several: its place in the object, or the links that it consists of. Written
            /// before the file is pinned
            fn block() = "BLOCK";
        }
        partition () as pins = "PINS" {
            /// Queue of files to pin, or to ask the service about, at `{due}` or later (Unix seconds; 0 for new ones),
            /// with the service's id of the request and the number of failures
            fn pin(due: u64, cid: Cid) = "{due:012}#{cid}";
            /// Until when the pinning service isn't asked, after how many errors of its own
            fn pin_pause() = "PAUSE";
        }
        partition (artist: ArtistId) = "UPLOADS#{artist}" {
            /// An upload: what was announced, how far it is hashed, until when a request may hash, and how it ended
            fn upload(upload: UploadId) = "{upload}" until "A day after it began";
        }
        partition (artist: ArtistId) as files = "FILES#{artist}" {
            /// A file that the artist uploaded
            fn file(upload: UploadId) = "UPLOAD#{upload}";
            /// Its upload
            fn file_by_cid(cid: Cid) = "CID#{cid}";
        }
        partition (cid: Cid) as namings = "FILE#{cid}" {
            /// A document here that names the file, and when it was stored
            fn naming(document: Cid) = "{document}";
        }
        partition (artist: ArtistId) = "UPLOADED#{artist}" {
            /// Bytes that the artist stored on a day
            fn uploaded_bytes(day: u64) = "{day}" until "A day after the day's end";
            /// Bytes of the artist's files in all, and when the artist began to store any
            fn stored_bytes() = "TOTAL";
        }
        partition () = "UPLOADED" {
            /// Bytes that newcomers, or all others, stored on a day together
            fn uploads_of_pool(pool: &str, day: u64) = "{pool}#{day}" until "A day after the day's end";
        }
    }

    /// Admission is one transaction over the account (its turn and the artist's budget), the pool's counter, the
    /// transaction, its place in the queue and, with an idempotency key, the request. A batch is stored with its
    /// signed bytes, so no nonce is without a transaction.
    section "Transactions" {
        partition (artist: ArtistId) as transactions = "TRANSACTIONS#{artist}" {
            /// A transaction: calls, gas cap, status, charge, hashes, outcome. Ids sort by time
            fn transaction(transaction: TransactionId) = "{transaction}" until "90 days after it was queued";
        }
        partition (artist: ArtistId) = "SPENT#{artist}" {
            /// What an API key, or tokens of older sign-ins under `TOKEN`, have spent on a day, in wei and in
            /// millionths of a USDC
            fn spent(day: u64, spender: &str) = "{day}#{spender}" until "A day after the day's end";
        }
        partition (artist: ArtistId) = "ACCOUNT#{artist}" {
            /// Whether the account is deployed, how many transactions wait, the last one's turn, and the day's
            /// reserved and spent wei
            fn account(chain: ChainId) = "{chain}";
        }
        partition (key_hash: &str) = "REPLAY#{key_hash}" {
            /// A request with an idempotency key: its hash and its transactions, which name it. The key may be reused
            /// after 7 days, if all of them are final
            fn replay() = "REQUEST" until "90 days after the request, with its transactions";
        }
        partition (chain: ChainId, day: u64) = "POOL#{chain}#{day}" {
            /// Wei reserved and spent by all artists of a pool on a day, in 8 counters
            fn pool(pool: &str, shard: u8) = "{pool}#{shard}" until "A day after the day's end";
        }
        partition (chain: ChainId, kind: WriteKind) as queue = "QUEUE#{chain}#{kind}" {
            /// A transaction that isn't final, in the order in which artists take turns. Roles name the kind that a
            /// function may queue, and the relay sends only what is of that kind: `PAYMENT`, `GRANT`, or `PLAIN`
            fn queued(place: &str) = "{place}";
        }
        partition (chain: ChainId) = "QUEUE#{chain}#WAKE" {
            /// When the relay was woken by hand last; its change is what wakes it
            fn queue_wake() = "WAKE";
        }
        partition (chain: ChainId) = "MADE#{chain}" {
            /// A collection that the service's transactions made or were about
            fn made_collection(collection: Address) = "{collection}";
        }
        partition (chain: ChainId) = "RELAY#{chain}" {
            /// All lanes that had a batch on the chain, so that those which left the configuration are followed to
            /// their end
            fn lanes() = "LANES";
            /// Who leads on the chain, since which epoch, and a beat that rises
            fn relay_lease() = "LEASE";
        }
        partition (chain: ChainId) as restored_batches = "RELAY#{chain}#RESTORED" {
            /// A batch under way when rows were lost
            fn restored_batch(lane: Address, nonce: u64) = "{lane}#{nonce:020}" until "30 days later, or once decided";
        }
        partition (chain: ChainId, lane: Address) = "LANE#{chain}#{lane}" {
            /// Next nonce, nonces of open batches and of unfinalized ones
            fn lane() = "LANE";
            /// Many artists' transactions in one of the lane: members, status, signed bytes, hashes, untold failures
            fn batch(nonce: u64) = "BATCH#{nonce:020}" until "30 days after it is final";
        }
    }

    /// A place of a link is taken in one transaction with the admission of its mint. The token is stored as its hash alone.
    section "Claim links" {
        partition (artist: ArtistId) as claims = "CLAIMS#{artist}" {
            /// A link of the artist's: moment, number of places, how many are taken, and when it ends
            fn claim_link(claim: ClaimId) = "LINK#{claim}" until "30 days after its end";
            /// What a person took, by their account or wallet: a transaction of the artist's for each place
            fn taken_places(claim: ClaimId, person: Address) = "TAKEN#{claim}#{person}" until "30 days after the link's end";
        }
        partition (token_hash: &str) = "CLAIM#{token_hash}" {
            /// Whose link the token is of, deleted or not
            fn claim_place() = "PLACE" until "30 days after the link's end";
        }
    }

    section "Allow-lists" {
        partition (moment: &MomentRef) = "ALLOWED#{moment}" {
            /// Roots of the moment's lists that are kept, 10 at most: that in force, and the newest others
            fn kept_lists() = "LISTS" until "30 days after the last sale's end";
            /// The entries whose accounts' hashes begin alike, in 64 parts, and the hashes that lead to the root
            fn list_part(root: B256, part: u8) = "{root}#{part:02}" until "30 days after the sale's end";
        }
    }

    /// A webhook's secret isn't stored: it is derived from a KMS key, the webhook's id and the secret's number. Webhooks
    /// with new deliveries are in one partition, those whose last attempt failed in another, in the order of their
    /// next attempts: two Queries find what is due. `deliver-webhooks` advances a log's position after storing the
    /// deliveries: after a crash they are stored again, and sent again with the same `webhook-id`.
    section "Webhooks" {
        partition (artist: ArtistId) = "WEBHOOKS#{artist}" {
            /// All webhooks of an artist, 10 at most: URL, types, collection, status, challenge, and the number of the secret
            fn webhooks() = "WEBHOOKS";
        }
        partition (artist: ArtistId) as deliveries = "DELIVERIES#{artist}" {
            /// An event that waits to be sent to a webhook, with its last try. Ids sort in the order of the log
            fn pending_delivery(webhook: WebhookId, delivery: DeliveryId) = "{webhook}#PENDING#{delivery}" until "7 days after it was stored";
            /// The same after its last try
            fn ended_delivery(webhook: WebhookId, delivery: DeliveryId) = "{webhook}#ENDED#{delivery}" until "7 days after it was stored";
        }
        partition () as ready_webhooks = "WEBHOOKS_READY" {
            /// That something was added that waits: a random number, another one each time
            fn webhook_added(webhook: WebhookId) = "ADDED#{webhook}";
            /// That its artist asked for a try: a random number, another one each time; its change wakes
            /// `deliver-webhooks`
            fn webhook_asked(webhook: WebhookId) = "ASKED#{webhook}";
        }
        partition () = "WEBHOOKS_FAILING" {
            /// Tries that failed since the last success, since when, when the next one is due, and the note that was
            /// left to it
            fn failing_webhook(webhook: WebhookId) = "{webhook}" until "10 days after the last try";
        }
        partition () as later_webhooks = "WEBHOOKS_LATER" {
            /// That the next try after a failure is due then
            fn later_webhook(due: u64, webhook: WebhookId) = "{due:012}#{webhook}";
        }
        partition () = "FANOUT" {
            /// Who leads, since which epoch, and a beat that rises
            fn fan_out_lease() = "LEASE";
            /// When a run handed over last; its change wakes the next one
            fn fan_out_wake() = "WAKE";
            /// How far a log of events is passed on to webhooks
            fn fan_out_position(log: &str) = "LOG#{log}";
        }
    }

    /// What others do with an artist's moments, until it is mailed. `deliver-webhooks` writes it, and from when on it is
    /// due; all of an artist that is due at one time is one row of the queue.
    section "Mails of news" {
        partition (artist: ArtistId) as all_news = "NEWS#{artist}" {
            /// A collect of a moment, a comment on one, or a gift
            fn news(event: EventId) = "{event}" until "3 days later";
        }
        partition (artist: ArtistId) = "MAILS#{artist}" {
            /// How often the artist wants such mails, and the secret in them that stops them
            fn news_mails() = "NEWS";
        }
        partition (wallet: Address) = "GIFTS#{wallet}" {
            /// A moment that was given to a mail address: its artist, who gave it, and the address while it has no account
            fn gift(chain: ChainId, collection: Address, token: TokenId) = "{chain}#{collection}#{token}" until "3 days later";
        }
        partition () as due_news = "NEWS_DUE" {
            /// An artist to whom something is to be mailed, from when on (Unix seconds)
            fn news_due(due: u64, artist: ArtistId) = "{due:012}#{artist}";
        }
    }

    /// What people report, and what an operator decides (`local/sam/desk`). A subject is written as
    /// `moment#{chain}#{collection}#{token}`, `collection#…`, `artist#…`, `cid#…` or `comment#…`.
    section "Moderation" {
        partition () as reported_subjects = "REPORTED" {
            /// What was reported: how often, and why the last time
            fn reported_subject(subject: &Subject) = "{subject}" until "180 days after the last report";
        }
        partition (subject: &Subject) as reports = "REPORTS#{subject}" {
            /// A report: reason, words, and the mail address for an answer; a thousand unseen of a subject
            fn report(report: Uuid) = "{report}" until "180 days later";
        }
        partition () as decisions = "DECISIONS" {
            /// What an operator decided about a subject, and what holds
            fn decision(subject: &Subject) = "{subject}";
            /// That an artist may not publish; it may have ended
            fn suspension(artist: &Subject) = "{artist}#SUSPENSION";
        }
        partition () as proposals = "PROPOSALS" {
            /// What another service decided, until somebody here takes or declines it
            fn proposal(subject: &Subject) = "{subject}";
        }
        partition () as removed_pictures = "REMOVED_PICTURES" {
            /// A removed picture, by its URI's hash; others like it are reported
            fn removed_picture(picture: &str) = "{picture}";
        }
        partition () as decision_log = "DECISION_LOG" {
            /// A decision or its end: who, why and when. Never changed
            fn logged_decision(entry: Uuid) = "{entry}";
        }
        partition () as decision_counts = "DECISION_COUNTS" {
            /// How many decisions a month had for a reason
            fn decision_count(month: &str, reason: Reason) = "{month}#{reason}";
        }
    }
}
