//! The rules by which connections are accepted, which are read again when one of their files changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::ServerConfig;
use thiserror::Error;

use super::certificates::server_tls;
use super::password_gate::PasswordGate;
use super::secret_file::{FileSecrecy, FileStamp, WebFileError, read_guarded};
use super::web_config::WebConfig;

/// What a client needs.
#[derive(Debug, Default)]
pub struct AccessRules {
    pub tls: Option<Arc<ServerConfig>>,
    passwords: Option<PasswordGate>,
}

impl AccessRules {
    /// Whether a request with this header `Authorization` is answered.
    pub fn admits(&self, authorization: Option<&str>) -> bool {
        self.passwords.as_ref().is_none_or(|passwords| passwords.admits(authorization))
    }
}

/// Why rules are refused.
#[derive(Debug, Error)]
pub enum AccessError {
    #[error(transparent)]
    File(#[from] WebFileError),
    /// Other machines reach the address, and the rules lack this.
    #[error("{0}")]
    TooOpen(&'static str),
    #[error("FD-7364: the system has no random numbers, so no password can be checked; look at /dev/urandom")]
    Random,
}

/// The rules in force.
#[derive(Debug)]
pub struct WebAccess {
    /// `None`: neither TLS nor passwords.
    file: Option<PathBuf>,
    /// Whether other machines reach the address.
    is_public: bool,
    state: Mutex<AccessState>,
}

#[derive(Debug)]
struct AccessState {
    rules: Arc<AccessRules>,
    /// The files as they were when they were read.
    stamps: Vec<FileStamp>,
    messages: Vec<String>,
}

impl WebAccess {
    /// Reads the rules for an address.
    pub fn load(file: Option<&Path>, is_public: bool) -> Result<Self, AccessError> {
        let mut stamps = Vec::new();
        let rules = Arc::new(load_rules(file, is_public, &mut stamps)?);
        let state = Mutex::new(AccessState { rules, stamps, messages: Vec::new() });
        Ok(Self { file: file.map(Path::to_owned), is_public, state })
    }

    fn lock(&self) -> MutexGuard<'_, AccessState> {
        // The rules are replaced as a whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules of now. If the files have a mistake, those before it stay in force.
    pub fn current(&self) -> Arc<AccessRules> {
        let mut state = self.lock();
        if !state.stamps.iter().all(FileStamp::is_current) {
            let mut stamps = Vec::new();
            let loaded = load_rules(self.file.as_deref(), self.is_public, &mut stamps);
            state.stamps = stamps;
            let message = match loaded {
                Ok(rules) => {
                    state.rules = Arc::new(rules);
                    "the web configuration was read again".to_owned()
                }
                Err(error) => format!("the web configuration changed and is not used: {error}"),
            };
            tracing::warn!("{message}");
            state.messages.push(message);
        }
        state.rules.clone()
    }

    /// What happened to the rules since this was asked last.
    pub fn take_messages(&self) -> Vec<String> {
        self.current();
        std::mem::take(&mut self.lock().messages)
    }
}

fn load_rules(
    file: Option<&Path>,
    is_public: bool,
    stamps: &mut Vec<FileStamp>,
) -> Result<AccessRules, AccessError> {
    let config = match file {
        None => WebConfig::default(),
        Some(file) => read_config(file, stamps)?,
    };
    let lacks = match (&config.tls_server_config, config.knows_clients()) {
        (None, false) => Some("neither TLS nor a password"),
        (None, true) => Some("no TLS, so passwords would be readable on the way"),
        (Some(_), false) => Some("neither a password nor certificates of clients"),
        (Some(_), true) => None,
    };
    if let Some(lacks) = lacks.filter(|_| is_public) {
        return Err(AccessError::TooOpen(lacks));
    }
    let tls = config.tls_server_config.as_ref().map(|tls| server_tls(tls, stamps)).transpose()?;
    let passwords = PasswordGate::new(config.basic_auth_users).map_err(|_| AccessError::Random)?;
    Ok(AccessRules { tls, passwords })
}

fn read_config(file: &Path, stamps: &mut Vec<FileStamp>) -> Result<WebConfig, WebFileError> {
    let mistake = |line, what| WebFileError::Mistake { file: file.to_owned(), line, what };
    let text = String::from_utf8(read_guarded(file, FileSecrecy::Genuine, stamps)?)
        .map_err(|_| mistake(None, "it is no UTF-8".to_owned()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    WebConfig::parse(&text, folder).map_err(|found| mistake(found.line, found.what))
}
