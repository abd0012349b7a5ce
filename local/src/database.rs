//! DynamoDB, in this process and in memory: every start is a fresh one.

use dynoxide::Database;
use tokio::net::TcpListener;

use crate::Error;

/// Serves an empty database until the runtime ends. Gives its endpoint.
///
/// # Errors
/// When there is no port to listen on.
pub async fn start() -> Result<String, Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let database = Database::memory()?;
    tokio::spawn(dynoxide::server::serve_with_shutdown(listener, database, std::future::pending()));
    Ok(endpoint)
}
