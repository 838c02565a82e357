//! The arguments of `run`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct RunArgs {
    /// A runbook in TOML, checked completely before its first step
    pub runbook: PathBuf,
    /// Value of a variable of the runbook
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Read and compute everything, but apply no change, write no file, run no program and send no message
    #[arg(long)]
    pub dry_run: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
    split.filter(|(name, _)| !name.is_empty()).ok_or_else(|| "write NAME=VALUE".to_owned())
}
