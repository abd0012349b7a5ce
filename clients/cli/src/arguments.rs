//! What the command line takes. The first line of each comment is in `--help` and in the man page.

use std::{
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use moments_client::types::{Address, ChainId, TransactionId};

use crate::{address::ApiAddress, amount::Price, instant::Instant, moment::Named};

/// Most files of one publication.
const MOST_FILES: usize = 50;
/// Most rows of a list.
const MOST_ROWS: u64 = 100;

/// What the help ends with.
const AFTER_HELP: &str = "A failure is one line on the standard error and exit status 1; wrong usage is status 2.
The key of MOMENTS_API_KEY goes before the one that signing in stored.";

/// Publishes and collects moments.
#[derive(Debug, Parser)]
#[command(name = "moments", version, propagate_version = true, arg_required_else_help = true, after_help = AFTER_HELP)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Base address of the service, such as https://moments.example/api; by default the one signed in to.
    #[arg(long, env = "MOMENTS_API", global = true, value_name = "ADDRESS")]
    pub api: Option<ApiAddress>,
    /// Print the service's answer as JSON, and nothing else.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sign in with a code that comes by mail, or with an API key.
    SignIn(SignIn),
    /// Revoke the key that signing in made, and forget it.
    SignOut(SignOut),
    /// Publish files as moments.
    Publish(Publish),
    /// Collect a moment.
    Collect(Collect),
    /// Print what happens to you and your moments, until Ctrl-C.
    Watch(Watch),
    /// Print whose key it is and what it may do.
    Whoami,
    /// List your transactions, newest first.
    Transactions(Transactions),
    /// Print a script that completes this command in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a man page, such as `moments man | man -l -`.
    Man {
        /// The command that it describes; all of them unless given.
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct SignIn {
    /// Your mail address, which gets a code.
    #[arg(required_unless_present = "key", conflicts_with = "key", value_hint = ValueHint::EmailAddress)]
    pub email: Option<String>,
    /// The code from a mail that an earlier call asked for; without it one is sent, and asked for here.
    #[arg(long, conflicts_with = "key")]
    pub code: Option<String>,
    /// Name of the API key that is made.
    #[arg(long, default_value = "command line", conflicts_with = "key")]
    pub name: String,
    /// Use this API key instead; `-` reads it from the input, where no other program sees it.
    #[arg(long)]
    pub key: Option<String>,
}

#[derive(Debug, Args)]
pub struct SignOut {
    /// Forget the key without revoking it.
    #[arg(long)]
    pub keep_key: bool,
}

#[derive(Debug, Args)]
pub struct Publish {
    /// Pictures, videos, sounds, models, PDFs or texts; several become several moments of one collection.
    #[arg(required = true, num_args = 1..=MOST_FILES, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Title, once for each file in their order; by default the file's name without its ending.
    #[arg(long)]
    pub title: Vec<String>,
    /// Description of every file.
    #[arg(long)]
    pub description: Option<String>,
    /// Describes the picture for people who can't see it; once for each file in their order.
    #[arg(long)]
    pub alt: Vec<String>,
    /// Price of a copy: 0.01eth, 5usdc or free.
    #[arg(long)]
    pub price: Price,
    /// Most copies of each; an open edition unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub copies: Option<u64>,
    /// Contract of one of your collections; by default your own one, which the first moment creates.
    #[arg(long, value_name = "ADDRESS")]
    pub collection: Option<Address>,
    /// When the sale starts, such as 2026-12-24T18:00:00Z; at once unless given.
    #[arg(long, value_name = "TIME")]
    pub start: Option<Instant>,
    /// When the sale ends; never unless given.
    #[arg(long, value_name = "TIME")]
    pub end: Option<Instant>,
    /// Chain id; the service's default unless given.
    #[arg(long, value_name = "ID")]
    pub chain: Option<ChainId>,
    /// Only ask whether the chain would take it: nothing is uploaded, sent or stored.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Collect {
    /// Address of the moment's page, or COLLECTION/TOKEN, with a chain's id and a slash before it if need be.
    #[arg(value_name = "MOMENT")]
    pub moment: Named,
    /// Number of copies.
    #[arg(long, default_value = "1", value_name = "N")]
    pub amount: NonZeroU32,
    /// A comment.
    #[arg(long, default_value = "")]
    pub comment: String,
    /// Most that all of it may cost, fees included, such as 0.01eth; nothing is bought if it costs more.
    #[arg(long, value_name = "PRICE")]
    pub max_price: Option<Price>,
}

#[derive(Debug, Args)]
pub struct Watch {
    /// A type of events, such as moment.collected; several with commas or by repetition, all unless given.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Transactions {
    /// Most of them.
    #[arg(long, default_value = "20", value_name = "N", value_parser = page_limit)]
    pub limit: NonZeroU64,
    /// Those before this one: the last id of an earlier list.
    #[arg(long, value_name = "ID")]
    pub before: Option<TransactionId>,
}

/// A number of rows that a page can have.
fn page_limit(text: &str) -> Result<NonZeroU64, String> {
    let limit = text.parse().ok().filter(|limit: &NonZeroU64| limit.get() <= MOST_ROWS);
    limit.ok_or_else(|| format!("must be a whole number from 1 to {MOST_ROWS}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_make_sense() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn wrong_usage_is_refused() {
        for wrong in [
            "moments",
            "moments sign-in",
            "moments sign-in a@b.example --key k",
            "moments sign-in --key k --code 123456",
            "moments publish a.png",
            "moments publish --price free",
            "moments publish a.png --price 1,000usdc",
            "moments publish a.png --price free --copies 0",
            "moments publish a.png --price free --start tomorrow",
            "moments publish a.png --price free --collection 0x1",
            "moments collect 0x1/1",
            "moments collect 0x540c18b7f99b3b599c6feb99964498931c211858/1 --amount 0",
            "moments transactions --limit 101",
            "moments whoami --api moments.example",
        ] {
            let refused = Arguments::try_parse_from(wrong.split(' ')).err();
            assert_eq!(refused.map(|error| error.exit_code()), Some(2), "{wrong}");
        }
    }
}
