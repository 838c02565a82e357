//! The options of commands that print rows.

use clap::Args;

/// Columns, number and order of rows.
#[derive(Debug, Clone, Default, Args)]
pub struct RowArgs {
    /// Only these fields, in this order: ids separated by commas; `--fields help` lists them
    #[arg(long, value_name = "A,B,...")]
    pub fields: Option<String>,
    /// Order of the rows: FIELD, FIELD:asc, FIELD:desc or -FIELD, several separated by commas; errors, loads and
    /// similar fields begin with the largest
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true)]
    pub sort: Option<String>,
    /// Only the first N rows
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
}
