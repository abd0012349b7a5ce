//! What artists are charged.

use std::time::Duration;

use shared::{
    clock,
    store::artist::{Admission, Admitted, DAY, Pool, PoolLimit, Transaction},
};

use crate::support::{Error, RESERVE, renaming, stage, unsent_failure};

#[tokio::test(flavor = "multi_thread")]
async fn clocks_on_both_sides_of_midnight_lock_no_artist_out() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-midnight", 1).await?;
    let (store, artist, chain) = (workshop.transactions(), artists[0], workshop.chain.id);
    let today = clock::now()?;
    let tomorrow = today + Duration::from_secs(DAY);
    let admit = async |account, now: Duration| -> Result<Transaction, Error> {
        let admission = Admission {
            artist: artist.artist_id,
            key: None,
            outlay: None,
            chain,
            wallet: artist.embedded_wallet,
            account,
            transactions: vec![renaming(collection, "ar://midnight")],
            replay: None,
            artist_limit: 10 * RESERVE,
            pool: PoolLimit { pool: Pool::Established, wei: 1_000 * RESERVE },
        };
        match store.admit(&admission, now).await? {
            Admitted::Queued(queued) => Ok(queued.into_iter().next().ok_or("nothing queued")?),
            Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
        }
    };
    let mut rows = vec![admit(None, today).await?];
    let before = store.account(artist.artist_id, chain).await?;
    rows.push(admit(before, tomorrow).await?);
    // It lost the race against the write of the next day.
    rows.push(admit(before, today).await?);
    let account = store.account(artist.artist_id, chain).await?.ok_or("no account")?;
    assert_eq!((account.day, account.spent), (tomorrow.as_secs() / DAY, 2 * RESERVE));

    for row in &rows {
        assert!(store.end(row, &unsent_failure(), today.as_secs()).await?);
    }

    let account = store.account(artist.artist_id, chain).await?.ok_or("no account")?;
    assert_eq!((account.waiting, account.spent), (0, 0));
    Ok(())
}
