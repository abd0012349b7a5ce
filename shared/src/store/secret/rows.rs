//! All rows of the secret table.

use crate::{
    model::{ArtistId, CeremonyId, DeviceId, KeyId, PasskeyId, ProofId, SessionId},
    store::engine::rows::rows,
};

rows! { ROWS;
    section "API keys" {
        partition (hash: &str) = "KEY#{hash}" {
            /// Owner of a key, its scopes and limits
            fn live_key() = "KEY";
        }
        partition (artist: ArtistId) as api_keys = "ARTIST#{artist}" {
            /// A key as its owner sees it, with its hash; ids sort by time
            fn api_key(key: KeyId) = "KEY#{key}";
            /// Number of live keys, 10 at most
            fn api_key_count() = "COUNT";
        }
        partition (artist: ArtistId) as api_key_uses = "USE#{artist}" {
            /// When a key was used last; apart from the key, so that who notes it can't write keys
            fn api_key_use(key: KeyId) = "{key}" until "400 days after the use";
        }
        partition (artist: ArtistId) as key_requests = "REQUESTS#{artist}" {
            /// A request with a key: route, status, error, duration; the last hundred are shown
            fn key_request(key: KeyId, at: u64, request: &str) = "{key}#{at:013}#{request}" until "A week later";
        }
    }

    section "Sessions" {
        partition (artist: ArtistId) as open_sessions = "TOKENS#{artist}" {
            /// A token that was issued: when, and to which network and program
            fn session(id: SessionId) = "{id}" until "With the token";
        }
        partition (artist: ArtistId) as session_marks = "SESSIONS#{artist}" {
            /// A token that was signed out
            fn ended_session(token: SessionId) = "TOKEN#{token}" until "With the token";
            /// The last of those that were signed out all at once
            fn ended_sessions() = "ALL" until "An hour later";
            /// The artist's passkeys, and when each counts
            fn passkey_mark() = "PASSKEYS";
        }
    }

    section "Sign-in codes" {
        partition (email_hash: &str) = "CODE#{email_hash}" {
            /// HMAC of the newest code without a nonce, its tries and who asked for it
            fn newest_code() = "CODE" until "10 minutes after issue";
            /// The same for whoever asked, so that others' tries don't count
            fn held_code(holder: &str) = "{holder}" until "10 minutes after issue";
            /// Address of a mail with a link, and its code
            fn link(secret_hash: &str) = "LINK#{secret_hash}" until "15 minutes after issue";
        }
        partition (email_hash: &str) as devices = "DEVICES#{email_hash}" {
            /// A device that the address signed in on: the hash of its token, its name, network and times, its wrong
            /// codes in a row
            fn device(device: &DeviceId) = "{device}" until "A year after the last sign-in";
        }
        partition (device: &DeviceId) = "DEVICES#{device}" {
            /// Somebody signed in on the device
            fn known_device() = "KNOWN" until "A year after the last sign-in";
        }
        partition (mailbox_hash: &str) = "GUESSES#{mailbox_hash}" {
            /// Number of wrong codes since the last sign-in, those of known devices apart
            fn wrong_codes() = "STREAK" until "180 days after the last wrong code";
            /// The mailbox has signed in before
            fn known_mailbox() = "KNOWN" until "180 days after the last sign-in";
        }
        partition (email_hash: &str) = "STOPPED#{email_hash}" {
            /// Mails to the address came back, or were called spam
            fn stopped_mails() = "STOPPED" until "30 days later";
        }
    }

    section "Passkeys" {
        partition (artist: ArtistId) as passkeys = "PASSKEYS#{artist}" {
            /// A passkey: its name, times, public key and counter
            fn passkey(id: &PasskeyId) = "{id}" until "7 days after its removal";
        }
        partition (ceremony: CeremonyId) = "CEREMONY#{ceremony}" {
            /// What a passkey is to answer, and the artist who adds it (none for a sign-in)
            fn ceremony() = "CEREMONY" until "5 minutes after issue";
        }
        partition (proof: ProofId) = "PROOF#{proof}" {
            /// What an artist proves, for which act and subject: HMAC of a code, or what a wallet or passkey signs; tries
            fn proof() = "PROOF" until "10 minutes after issue";
        }
    }

    section "Wallet challenges" {
        partition (message_hash: &str) = "CHALLENGE#{message_hash}" {
            /// Wallet and chain of a message to sign, the artist who connects the wallet (none for a sign-in), and its
            /// tries
            fn challenge() = "CHALLENGE" until "10 minutes after issue";
        }
    }

    section "Rate limits" {
        partition (subject: &str) = "RATE#{subject}" {
            /// Admitted requests of a subject by slice of time; personal subjects are hashed
            fn rate_window() = "WINDOW" until "When the last request leaves the window";
            /// Number of requests of a client's network or an artist in a window of the clock; of a shard of what all
            /// clients do together, or of an artist's notices
            fn request_count(window: u64) = "COUNT#{window}" until "A window after its end";
        }
        partition (holder: &str) as waits = "WAITS#{holder}" {
            /// A request that waits for events or an outcome, in a place of an artist, a network or a provider
            fn wait(place: u8) = "{place}" until "When it ends";
        }
    }
}
