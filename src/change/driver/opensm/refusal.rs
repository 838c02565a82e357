//! Why a change cannot go through OpenSM, and what to do about it.

use std::path::PathBuf;

use super::console::OpensmConsoleError;
use fabdeck_mad::access::{DeviceAttribute, SourceError};

/// One reason, with what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpensmRefusal {
    #[error(
        "FD-5670: {file} cannot be read, so OpenSM's configuration is not known: {error}; name the configuration \
         file, or OpenSM's console ('opensm -c FILE' writes the options that it would start with)"
    )]
    NoConfig { file: PathBuf, error: std::io::Error },
    #[error(
        "FD-5671: OpenSM loads no tables from a file: its engines are '{engines}'. Add these lines to its configuration and \
         restart it at a time of your choice (fabdeck never does):\nrouting_engine file,{next}\nlfts_file {file}"
    )]
    NoFileEngine { engines: String, next: String, file: PathBuf },
    #[error(
        "FD-5672: it is not known which process is OpenSM: {0}; name it with --opensm-process, or its console \
     with --opensm-console"
    )]
    NoProcess(String),
    #[error(
        "FD-5673: with 'use_ucast_cache TRUE' OpenSM ignores the file at SIGHUP; set the option to FALSE, or name \
         the console: its 'reroute' empties the cache"
    )]
    Cached,
    #[error("FD-5674: {0}; --via opensm works with upstream OpenSM 3.3.20 to 3.3.29")]
    OtherManager(String),
    #[error("FD-5675: {0}; --via opensm works on the host of the OpenSM that is in charge of this fabric")]
    NotMaster(String),
    #[error(
        "FD-5676: there is no {file} now, and 'no_fallback' follows 'file': after a rollback OpenSM would route nothing; put \
         the tables in force there first ('fabdeck convert' writes such files), or another engine after 'file'"
    )]
    NoWayBack { file: PathBuf },
    #[error("FD-5677: OpenSM's file needs the table of every switch: {0}; read the fabric again")]
    Incomplete(String),
    #[error(
        "FD-5678: {slot} cannot be written through OpenSM, which takes only forwarding tables and service levels"
    )]
    OtherPart { slot: DeviceAttribute },
    #[error(
        "FD-5690: OpenSM sets SL2VL and arbitration from its own configuration, by class of port, so they are not \
         written through it: {lines}"
    )]
    LaneTables { lines: String },
    #[error(
        "FD-5691: engine '{engine}' sets service levels of its own and ignores a QoS policy; route with another \
         engine, such as ftree, updn or minhop"
    )]
    OwnLevels { engine: String },
    #[error(
        "FD-5679: {file} is not what is in force: {what}. OpenSM loads it at the next trap, so a rollback could not \
         restore today's tables; have OpenSM load it now, or remove it"
    )]
    Armed { file: PathBuf, what: String },
    #[error(
        "FD-5680: {file} has more than service levels by destination, so it is the site's own policy and is not \
         overwritten: {error}; route on one lane, or name another policy file in OpenSM's configuration"
    )]
    OwnPolicy { file: PathBuf, error: String },
    #[error(
        "FD-5681: the plan uses {lanes} lanes and OpenSM runs with 'qos FALSE', so it would give all paths level 0; set 'qos \
         TRUE' and restart OpenSM"
    )]
    NoQos { lanes: u8 },
    #[error("FD-5682: OpenSM cannot apply the lanes of this plan: {0}")]
    Lanes(String),
    #[error("FD-5683: the console at {at}: {error}; {hint}")]
    Console { at: std::net::SocketAddr, error: OpensmConsoleError, hint: &'static str },
    #[error(
        "FD-5684: the file of tables does not read back as the plan has them: {0}; an entry of a LID above the highest of the \
         subnet cannot be given to OpenSM"
    )]
    NotAsPlanned(String),
    #[error("FD-5685: {file}: {error}; the user who applies a change needs access to OpenSM's files")]
    Disk { file: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Why a change failed after it had begun.
#[derive(Debug, thiserror::Error)]
pub enum OpensmError {
    #[error(
        "FD-5686: after {seconds} s the tables are not those of the plan: {what}{said}; look into OpenSM's log"
    )]
    Waited { seconds: u64, what: String, said: String },
    #[error(
        "FD-5687: for paths to LID {lid} OpenSM answers service level {given}, where the plan wants {planned}{more}"
    )]
    Level { lid: u16, given: String, planned: u8, more: String },
    #[error(
        "FD-5688: OpenSM could not be signalled to read the files: {0}; it reads them at its next heavy sweep"
    )]
    NotNotified(String),
    #[error("FD-5689: OpenSM has set more than the plan writes: {what}")]
    Elsewhere { what: String },
}
