//! The web configuration file of Prometheus' exporters (exporter-toolkit), as far as fabdeck supports it. A key that is
//! not supported is refused by its name: a limit that is ignored would be believed in.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Keys of the file that exporters know and fabdeck does not.
const UNSUPPORTED: [&str; 12] = [
    "cert",
    "key",
    "client_ca",
    "client_allowed_sans",
    "max_version",
    "cipher_suites",
    "prefer_server_cipher_suites",
    "curve_preferences",
    "headers",
    "rate_limit",
    "tls_config",
    "http_config",
];

/// Highest cost of a password's hash. Each step doubles the time of a check.
const MAX_COST: u32 = 16;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebConfig {
    pub tls_server_config: Option<TlsServerConfig>,
    http_server_config: HttpServerConfig,
    #[serde(deserialize_with = "users")]
    pub basic_auth_users: BTreeMap<String, PasswordHash>,
}

/// `tls_server_config`. Paths are relative to the folder of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsServerConfig {
    pub cert_file: PathBuf,
    pub key_file: PathBuf,
    pub client_ca_file: Option<PathBuf>,
    #[serde(default, deserialize_with = "from_text")]
    pub client_auth_type: ClientAuthType,
    #[serde(default, deserialize_with = "from_text")]
    pub min_version: MinVersion,
}

/// Whether clients have to show a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClientAuthType {
    #[default]
    NoClientCert,
    RequireAndVerifyClientCert,
}

impl FromStr for ClientAuthType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "NoClientCert" => Ok(Self::NoClientCert),
            "RequireAndVerifyClientCert" => Ok(Self::RequireAndVerifyClientCert),
            _ => Err(format!(
                "fabdeck does not support '{text}'; write NoClientCert or RequireAndVerifyClientCert"
            )),
        }
    }
}

/// The oldest version of TLS that is spoken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MinVersion {
    #[default]
    Tls12,
    Tls13,
}

impl FromStr for MinVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "TLS12" => Ok(Self::Tls12),
            "TLS13" => Ok(Self::Tls13),
            _ => Err(format!("fabdeck does not support '{text}'; write TLS12 or TLS13")),
        }
    }
}

/// `http_server_config`: answers are those of HTTP/1.1.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HttpServerConfig {
    #[serde(rename = "http2")]
    _http2: WithoutHttp2,
}

/// A value that says no to HTTP/2.
#[derive(Debug, Default)]
struct WithoutHttp2;

impl<'de> Deserialize<'de> for WithoutHttp2 {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct Switch;

        impl Visitor<'_> for Switch {
            type Value = WithoutHttp2;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("false")
            }

            fn visit_bool<E: Error>(self, is_on: bool) -> Result<WithoutHttp2, E> {
                match is_on {
                    true => Err(E::custom("fabdeck does not support HTTP/2; write false, or leave it out")),
                    false => Ok(WithoutHttp2),
                }
            }
        }

        value.deserialize_bool(Switch)
    }
}

/// Reads a text within the reader, so that a mistake has the line of the text.
fn from_text<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(value: D) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err = String>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a text")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    value.deserialize_str(Text(PhantomData))
}

/// The bcrypt hash of a password.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PasswordHash {
    pub text: String,
    pub cost: u32,
}

impl<'de> Deserialize<'de> for PasswordHash {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        from_text(value)
    }
}

impl FromStr for PasswordHash {
    type Err = String;

    /// Messages do not repeat the text: it may be a password.
    fn from_str(text: &str) -> Result<Self, String> {
        const HINT: &str = "make one by `htpasswd -nBC 10 USER`";
        let is_known = ["$2a$", "$2b$", "$2y$"].iter().any(|start| text.starts_with(start));
        let cost = bcrypt::HashParts::from_str(text).ok().map(|parts| parts.get_cost());
        match cost.filter(|_| is_known) {
            None => Err(format!("the value is no bcrypt hash; {HINT}")),
            Some(cost) if !(4..=MAX_COST).contains(&cost) => {
                Err(format!("the hash has the cost {cost}, outside 4 to {MAX_COST}; {HINT}"))
            }
            Some(cost) => Ok(Self { text: text.to_owned(), cost }),
        }
    }
}

/// Users with their hashes. A name that is there twice is refused: one of the two passwords would not work.
fn users<'de, D: Deserializer<'de>>(keys: D) -> Result<BTreeMap<String, PasswordHash>, D::Error> {
    struct Users;

    impl<'de> Visitor<'de> for Users {
        type Value = BTreeMap<String, PasswordHash>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("users with bcrypt hashes")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut users = BTreeMap::new();
            while let Some((user, hash)) = map.next_entry::<String, PasswordHash>()? {
                if user.contains(':') || user.is_empty() {
                    return Err(A::Error::custom(format!("'{user}' is no name of a user")));
                }
                if users.insert(user.clone(), hash).is_some() {
                    return Err(A::Error::custom(format!("the user '{user}' is there twice")));
                }
            }
            Ok(users)
        }
    }

    keys.deserialize_map(Users)
}

/// A mistake in the file, with its line.
#[derive(PartialEq, Eq, Debug)]
pub struct ConfigMistake {
    pub line: Option<usize>,
    pub what: String,
}

impl WebConfig {
    /// Reads the text of a file of this folder. An empty file asks for nothing.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ConfigMistake> {
        let config: Option<Self> = serde_yaml_ng::from_str(text).map_err(|error| describe(&error))?;
        let mut config = config.unwrap_or_default();
        if let Some(tls) = &mut config.tls_server_config {
            tls.check()?;
            let files = [&mut tls.cert_file, &mut tls.key_file].into_iter().chain(&mut tls.client_ca_file);
            files.for_each(|file| *file = folder.join(&*file));
        }
        Ok(config)
    }

    /// Whether a client has to prove who it is.
    pub fn knows_clients(&self) -> bool {
        !self.basic_auth_users.is_empty()
            || self
                .tls_server_config
                .as_ref()
                .is_some_and(|tls| tls.client_auth_type == ClientAuthType::RequireAndVerifyClientCert)
    }
}

impl TlsServerConfig {
    fn check(&self) -> Result<(), ConfigMistake> {
        let what = match (self.client_auth_type, &self.client_ca_file) {
            (ClientAuthType::NoClientCert, Some(_)) => {
                "tls_server_config: client_ca_file has no effect without client_auth_type: \
                 RequireAndVerifyClientCert; write both or none"
            }
            (ClientAuthType::RequireAndVerifyClientCert, None) => {
                "tls_server_config: client_auth_type: RequireAndVerifyClientCert needs client_ca_file"
            }
            _ => return Ok(()),
        };
        Err(ConfigMistake { line: None, what: what.to_owned() })
    }
}

fn describe(error: &serde_yaml_ng::Error) -> ConfigMistake {
    let full = error.to_string();
    let text = full.rsplit_once(" at line ").map_or(full.as_str(), |(text, _)| text);
    let unknown = text.split_once("unknown field `").and_then(|(_, rest)| rest.split_once('`'));
    let what = match unknown {
        Some((key, _)) if UNSUPPORTED.contains(&key) => {
            format!("fabdeck does not support the key '{key}'; leave it out")
        }
        Some((key, expected)) => {
            format!("'{key}' is not a key here{expected}", expected = expected.replace(" field", ""))
        }
        None => text.to_owned(),
    };
    ConfigMistake { line: error.location().map(|place| place.line()), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "$2y$04$abcdefghijklmnopqrstuuAQqbTbsIFjWUQtwBqXbNaqqK6MqcVvK";

    #[test]
    fn paths_are_those_of_the_folder_of_the_file() {
        let text = format!(
            "tls_server_config:\n  cert_file: a.crt\n  key_file: /b.key\nbasic_auth_users:\n  ada: {HASH}\n"
        );
        let config = WebConfig::parse(&text, Path::new("/etc/web")).unwrap();
        let tls = config.tls_server_config.as_ref().unwrap();
        assert_eq!(
            (tls.cert_file.as_path(), tls.key_file.as_path()),
            ("/etc/web/a.crt".as_ref(), "/b.key".as_ref())
        );
        assert!(config.knows_clients() && config.basic_auth_users["ada"].cost == 4);
        for empty in ["", "# nothing\n", "{}", "http_server_config:\n  http2: false\n"] {
            assert!(!WebConfig::parse(empty, Path::new(".")).unwrap().knows_clients(), "{empty}");
        }
    }

    #[test]
    fn mistakes_and_what_is_not_supported_are_named_with_their_line() {
        let tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
        for (text, line, says) in [
            (format!("{tls}  cipher_suites: [x]\n"), Some(4), "does not support the key 'cipher_suites'"),
            (format!("{tls}  max_version: TLS13\n"), Some(4), "does not support the key 'max_version'"),
            (
                format!("{tls}  min_version: TLS10\n"),
                Some(4),
                "does not support 'TLS10'; write TLS12 or TLS13",
            ),
            (
                format!("{tls}  client_auth_type: RequestClientCert\n"),
                Some(4),
                "does not support 'RequestClientCert'",
            ),
            (format!("{tls}  client_auth_type: RequireAndVerifyClientCert\n"), None, "needs client_ca_file"),
            (format!("{tls}  client_ca_file: c\n"), None, "has no effect without client_auth_type"),
            (
                format!("{tls}  certfile: c\n"),
                Some(4),
                "'certfile' is not a key here, expected one of `cert_file`",
            ),
            ("tls_server_config:\n  cert_file: a\n".to_owned(), Some(2), "missing field `key_file`"),
            (
                "http_server_config:\n  headers:\n    A: b\n".to_owned(),
                Some(2),
                "does not support the key 'headers'",
            ),
            ("http_server_config:\n  http2: true\n".to_owned(), Some(2), "does not support HTTP/2"),
            ("\nrate_limit:\n  burst: 1\n".to_owned(), Some(2), "does not support the key 'rate_limit'"),
            ("basic_auth_user:\n  a: b\n".to_owned(), Some(1), "'basic_auth_user' is not a key here"),
            (
                "basic_auth_users:\n  ada: secret\n".to_owned(),
                Some(2),
                "no bcrypt hash; make one by `htpasswd",
            ),
            (format!("basic_auth_users:\n  ada: {}\n", HASH.replace("$04", "$31")), Some(2), "the cost 31"),
            (format!("basic_auth_users:\n  ada: {HASH}\n  ada: {HASH}\n"), Some(2), "'ada' is there twice"),
            ("basic_auth_users: [ada]\n".to_owned(), Some(1), "expected users with bcrypt hashes"),
        ] {
            let mistake = WebConfig::parse(&text, Path::new(".")).unwrap_err();
            assert!(mistake.what.contains(says), "{text}: {}", mistake.what);
            assert!(
                !mistake.what.contains("secret") && !mistake.what.contains(" at line "),
                "{}",
                mistake.what
            );
            assert_eq!(mistake.line, line, "{text}: {}", mistake.what);
        }
    }
}
