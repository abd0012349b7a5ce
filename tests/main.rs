//! End-to-end tests over HTTP, one file for each endpoint or trigger. They share one stack, run at once, and leave what
//! others use alone: every artist is new, and nothing is assumed of lists that others add to.

mod airdrop_moment;
mod challenge_wallet;
mod collect_moment;
mod connect_wallet;
mod create_api_key;
mod create_collection;
mod create_comment;
mod create_moment;
mod create_moments;
mod disconnect_wallet;
mod events;
mod fetch_metadata;
mod grant_permission;
mod index_chain;
mod list_api_keys;
mod list_collections;
mod list_comments;
mod list_payments;
mod list_timeline;
mod log_in;
mod notifications;
mod publish_key_set;
mod read_artist;
mod read_collection;
mod read_moment;
mod reads_at_scale;
mod refuse_unknown_route;
mod revoke_api_key;
mod send_code;
mod simulate_moment;
mod update_artist;
mod update_collection;
mod update_moment_uri;
mod update_sale;
