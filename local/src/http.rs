//! A client for requests here and there. Each new one reads the system's certificates, which takes longer than the request.

use std::sync::LazyLock;

use reqwest::Client;

/// The process's client. It keeps no connection, which would end with the runtime that opened it, such as a test's.
pub(crate) fn client() -> &'static Client {
    static CLIENT: LazyLock<Client> =
        LazyLock::new(|| Client::builder().pool_max_idle_per_host(0).build().unwrap_or_default());
    &CLIENT
}
