//! The lanes' guard (`contracts/LaneGuard.sol`) on a chain with the real Safe contracts: what is refused, and what goes
//! through.

mod attacks;
mod encoding;
mod paths;
mod setting;

use std::collections::BTreeSet;

use attacks::Attack;
use local::paths::Paths;
use setting::{Error, Setting};

/// Each attack is refused by the guard, for the reason that is meant, and changes nothing.
#[tokio::test]
async fn attacks_are_refused() -> Result<(), Error> {
    let setting = Setting::start("refused", true).await?;
    let before = setting.state().await?;
    let (mut others, mut count) = (Vec::new(), 0);
    for Attack { name, sender, call, reason, .. } in attacks::all(&setting).await? {
        let answer = setting.try_call(sender, setting.operator, &call).await?;
        let is_done = setting.send(sender, setting.operator, call).await?.status();
        if answer != Err(reason.to_owned()) || is_done || setting.state().await? != before {
            others.push(format!("{name}: {answer:?} instead of {reason}, done: {is_done}"));
        }
        count += 1;
    }
    println!("{count} attacks");
    assert!(others.is_empty(), "{}", others.join("\n"));
    Ok(())
}

/// The attacks that are said to do harm do it where the guard is left out: they are no straw men.
#[tokio::test]
async fn without_the_guard_the_same_attacks_do_harm() -> Result<(), Error> {
    let setting = Setting::start("harm", false).await?;
    let before = setting.state().await?;
    let mut others = Vec::new();
    for Attack { name, sender, call, harms, .. } in attacks::all(&setting).await? {
        let snapshot = setting.snapshot().await?;
        let is_done = setting.send(sender, setting.operator, call).await?.status();
        let is_harmed = setting.state().await? != before;
        if is_harmed != harms {
            others.push(format!("{name}: done: {is_done}, harm: {is_harmed}"));
        }
        setting.restore(snapshot).await?;
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    Ok(())
}

#[tokio::test]
async fn the_readme_lists_each_attack_and_marks_those_that_do_harm() -> Result<(), Error> {
    let readme = std::fs::read_to_string(Paths::of_checkout().root().join("contracts/README.md"))?;
    let cells = readme.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let listed: BTreeSet<_> = cells.flat_map(|cell| cell.split(" · ")).map(str::trim).collect();
    let setting = Setting::start("readme", true).await?;
    for Attack { name, harms, .. } in attacks::all(&setting).await? {
        let expected = if harms { format!("! {name}") } else { name.to_owned() };
        assert!(listed.contains(expected.as_str()), "contracts/README.md lacks: {expected}");
    }
    Ok(())
}
