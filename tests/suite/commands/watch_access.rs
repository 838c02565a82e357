//! `watch --serve --web-config`: TLS, passwords and certificates of clients, and every configuration that is refused.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use tempfile::TempDir;

use super::binary::{fabdeck, home};

const PATIENCE: Duration = Duration::from_secs(60);

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Certificate and key of a host, in PEM.
    pub fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// Writes a file that only its owner reads.
pub fn write_secret(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).unwrap();
}

/// A folder with the certificate of a server and the web configuration beside it.
fn folder(authority: &Authority, config: &str) -> TempDir {
    let folder = home();
    let (certificate, key) = authority.sign("127.0.0.1");
    write_secret(&folder.path().join("server.crt"), &certificate);
    write_secret(&folder.path().join("server.key"), &key);
    write_secret(&folder.path().join("ca.crt"), &authority.pem());
    write_secret(&folder.path().join("web.yml"), config);
    folder
}

const TLS: &str = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n";

fn users(password: &str) -> String {
    format!("basic_auth_users:\n  ada: {}\n", bcrypt::hash(password, 4).unwrap())
}

/// A service that ends with the test.
struct Service {
    process: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
    is_tls: bool,
}

impl Service {
    fn start(folder: &TempDir, serve: &str) -> Self {
        let mut process = fabdeck(folder)
            .args(["--source", "sim:kary,k=2,n=2", "watch", "--interval", "100ms", "--store", "no"])
            .args(["--serve", serve, "--web-config", "web.yml"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let (scheme, rest) = line.split_once("serving ").unwrap().1.split_once("://").unwrap();
        let port = rest.split_once('/').unwrap().0.rsplit_once(':').unwrap().1;
        let (is_tls, address) = (scheme == "https", format!("127.0.0.1:{port}"));
        Self { process, stderr, address, is_tls }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// The next line on stderr.
    fn message(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

static ALL_VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];
static OLD_VERSION: [&SupportedProtocolVersion; 1] = [&TLS12];

/// What a client trusts and shows.
struct Client {
    roots: Arc<RootCertStore>,
    versions: &'static [&'static SupportedProtocolVersion],
    /// Certificate and key.
    own: Option<(String, String)>,
}

impl Client {
    fn trusting(authority: &Authority) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
        Self { roots: Arc::new(roots), versions: &ALL_VERSIONS, own: None }
    }

    fn config(&self) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_root_certificates(self.roots.clone());
        match &self.own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![certificate], key).unwrap()
            }
        }
    }

    /// The answer to a request, with these credentials.
    fn ask(&self, service: &Service, path: &str, credentials: Option<&str>) -> io::Result<String> {
        let stream = service.connect();
        if !service.is_tls {
            return ask(stream, path, credentials);
        }
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = ClientConnection::new(Arc::new(self.config()), name).unwrap();
        ask(StreamOwned::new(connection, stream), path, credentials)
    }
}

fn ask(mut stream: impl Read + Write, path: &str, credentials: Option<&str>) -> io::Result<String> {
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n");
    if let Some(credentials) = credentials {
        head += &format!("Authorization: Basic {}\r\n", STANDARD.encode(credentials));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn status(answer: io::Result<String>) -> String {
    answer.unwrap().lines().next().unwrap()["HTTP/1.1 ".len()..].to_owned()
}

#[test]
fn a_service_with_tls_answers_users_with_their_password() {
    let authority = Authority::new();
    let folder = folder(&authority, &format!("{TLS}{}", users("right")));
    // Other machines reach this address.
    let service = Service::start(&folder, "0.0.0.0:0");
    assert!(service.is_tls);
    let client = Client::trusting(&authority);
    for (credentials, expected) in [
        (Some("ada:right"), "200 OK"),
        (Some("ada:wrong"), "401 Unauthorized"),
        (Some("bob:right"), "401 Unauthorized"),
        (None, "401 Unauthorized"),
        (Some("ada:right"), "200 OK"),
    ] {
        for path in ["/-/healthy", "/metrics", "/"] {
            assert_eq!(status(client.ask(&service, path, credentials)), expected, "{path} {credentials:?}");
        }
    }
    let refused = client.ask(&service, "/metrics", None).unwrap();
    assert!(refused.contains("\r\nWWW-Authenticate: Basic realm=\"fabdeck\"\r\n"), "{refused}");
    assert!(!refused.contains("fabdeck_up"), "{refused}");
    // The body arrives as a whole, also where the client closes by TLS alone.
    let metrics = client.ask(&service, "/metrics", Some("ada:right")).unwrap();
    let (head, body) = metrics.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    // A client that does not know the authority ends the connection itself.
    let stranger = Client::trusting(&Authority::new());
    let refused = stranger.ask(&service, "/metrics", Some("ada:right")).unwrap_err();
    assert!(refused.to_string().contains("invalid peer certificate"), "{refused}");
    // Without TLS there is a hint, and nothing is answered, whatever the password.
    let plain = ask(service.connect(), "/metrics", Some("ada:right")).unwrap();
    assert!(
        plain.starts_with("HTTP/1.1 400 ") && plain.ends_with("https:// in place of http://\n"),
        "{plain}"
    );
    // What is no handshake is closed.
    let mut noise = service.connect();
    noise.write_all(&[22, 3, 1, 0, 4, 1, 2, 3, 4]).unwrap();
    let mut answer = Vec::new();
    let _ = noise.read_to_end(&mut answer);
    assert!(answer.len() < 16, "{answer:?}");
    assert_eq!(status(client.ask(&service, "/-/healthy", Some("ada:right"))), "200 OK");
}

/// A client that begins a handshake and waits delays no other.
#[test]
fn a_handshake_that_hangs_delays_no_other() {
    let authority = Authority::new();
    let folder = folder(&authority, TLS);
    let service = Service::start(&folder, "127.0.0.1:0");
    let silent: Vec<TcpStream> = (0..20)
        .map(|number| {
            let mut stream = service.connect();
            stream.write_all(&[22, 3, 1][..number % 4]).unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(status(Client::trusting(&authority).ask(&service, "/-/healthy", None)), "200 OK");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    drop(silent);
}

#[test]
fn clients_show_a_certificate_and_speak_a_new_version_where_the_file_says_so() {
    let authority = Authority::new();
    let config = format!(
        "{TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n  min_version: TLS13\n"
    );
    let folder = folder(&authority, &config);
    let service = Service::start(&folder, "0.0.0.0:0");
    let mut client = Client::trusting(&authority);
    assert!(client.ask(&service, "/-/healthy", None).is_err());
    client.own = Some(Authority::new().sign("client"));
    assert!(client.ask(&service, "/-/healthy", None).is_err());
    client.own = Some(authority.sign("client"));
    assert_eq!(status(client.ask(&service, "/-/healthy", None)), "200 OK");
    client.versions = &OLD_VERSION;
    let refused = client.ask(&service, "/-/healthy", None).unwrap_err();
    assert!(refused.to_string().contains("ProtocolVersion"), "{refused}");
}

/// A password without TLS is allowed where no other machine reaches the address.
#[test]
fn a_local_address_may_have_a_password_alone() {
    let authority = Authority::new();
    let folder = folder(&authority, &users("right"));
    let service = Service::start(&folder, "127.0.0.1:0");
    let client = Client::trusting(&authority);
    assert!(!service.is_tls);
    assert_eq!(status(client.ask(&service, "/metrics", Some("ada:right"))), "200 OK");
    assert_eq!(status(client.ask(&service, "/metrics", Some("ada:wrong"))), "401 Unauthorized");
}

/// Files that change are in force with the next connection; those with a mistake are reported, and change nothing.
#[test]
fn files_are_read_again_when_they_change() {
    let authority = Authority::new();
    let folder = folder(&authority, &format!("{TLS}{}", users("first")));
    let mut service = Service::start(&folder, "0.0.0.0:0");
    let client = Client::trusting(&authority);
    let web = folder.path().join("web.yml");
    let admits = |client: &Client, service: &Service, password: &str| {
        status(client.ask(service, "/-/healthy", Some(&format!("ada:{password}")))) == "200 OK"
    };
    assert!(admits(&client, &service, "first"));
    write_secret(&web, &format!("{TLS}{}# new\n", users("second")));
    assert!(admits(&client, &service, "second") && !admits(&client, &service, "first"));
    assert!(service.message().contains("was read again"));
    for (text, says) in [
        ("nonsense: 1\n".to_owned(), "FD-7361"),
        (TLS.to_owned(), "neither a password nor certificates of clients"),
        (users("third"), "no TLS"),
    ] {
        write_secret(&web, &text);
        assert!(admits(&client, &service, "second"), "{text}");
        let message = service.message();
        assert!(message.contains(says) && message.contains("is not used"), "{message}");
    }
    write_secret(&web, &format!("{TLS}{}", users("fourth")));
    assert!(service.message().contains("was read again"), "also without a connection");
    // A certificate of another authority, and its key a moment later.
    let other = Authority::new();
    let (certificate, key) = other.sign("127.0.0.1");
    write_secret(&folder.path().join("server.crt"), &certificate);
    assert!(admits(&client, &service, "fourth"));
    assert!(service.message().contains("FD-7363"));
    write_secret(&folder.path().join("server.key"), &key);
    assert!(admits(&Client::trusting(&other), &service, "fourth"));
    assert!(client.ask(&service, "/-/healthy", Some("ada:fourth")).is_err());
}

/// Exit code and message of a service that does not start.
fn refusal(folder: &TempDir, serve: &str) -> (Option<i32>, String) {
    let begun = Instant::now();
    let ended = fabdeck(folder)
        .args(["--source", "sim:kary,k=2,n=2", "watch", "--count", "1", "--interval", "1s", "--store", "no"])
        .args(["--serve", serve, "--web-config", "web.yml"])
        .output()
        .unwrap();
    assert!(begun.elapsed() < PATIENCE);
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn configurations_that_protect_nothing_are_refused() {
    let authority = Authority::new();
    let with = |config: &str| folder(&authority, config);
    let tls_and_users = format!("{TLS}{}", users("right"));
    for (config, says) in [
        ("", "there is neither TLS nor a password; give an address of this machine alone"),
        (&users("right"), "there is no TLS, so passwords would be readable on the way"),
        (TLS, "there is neither a password nor certificates of clients"),
        (&format!("{TLS}basic_auth_users: {{}}\n"), "there is neither a password"),
    ] {
        let (exit, message) = refusal(&with(config), "0.0.0.0:0");
        assert!(
            exit == Some(64) && message.contains("FD-7348") && message.contains(says),
            "{exit:?} {message}"
        );
    }
    let (exit, message) =
        refusal(&with("tls_server_config: {cert_file: a, key_file: b, ciphers: c}"), "127.0.0.1:0");
    assert!(
        exit == Some(7) && message.contains("web.yml:1: 'ciphers' is not a key here"),
        "{exit:?} {message}"
    );
    let prepared = with(&tls_and_users);
    let in_folder = |name: &str| prepared.path().join(name);
    let restore = |name: &str, mode: u32| {
        std::fs::set_permissions(in_folder(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    for (name, mode, says) in [
        (
            "server.key",
            0o644,
            "FD-7362: server.key: other users can read the key (mode 644); run chmod o= server.key",
        ),
        (
            "server.crt",
            0o666,
            "FD-7362: server.crt: other users can write it (mode 666); run chmod go-w server.crt",
        ),
        ("web.yml", 0o620, "FD-7362: web.yml: other users can write it"),
    ] {
        restore(name, mode);
        let (exit, message) = refusal(&prepared, "127.0.0.1:0");
        assert!(exit == Some(7) && message.contains(says), "{exit:?} {message}");
        restore(name, 0o600);
    }
    for (name, text, says) in [
        ("server.key", Some("nothing"), "FD-7363: server.key: it has no private key"),
        ("server.crt", Some("nothing"), "FD-7363: server.crt: it has no certificate in PEM"),
        ("server.crt", None, "FD-7360: server.crt: it cannot be read"),
        ("web.yml", None, "FD-7360: web.yml: it cannot be read"),
    ] {
        let before = std::fs::read(in_folder(name)).unwrap();
        match text {
            Some(text) => std::fs::write(in_folder(name), text).unwrap(),
            None => std::fs::remove_file(in_folder(name)).unwrap(),
        }
        let (exit, message) = refusal(&prepared, "127.0.0.1:0");
        assert!(exit == Some(7) && message.contains(says), "{exit:?} {message}");
        std::fs::write(in_folder(name), before).unwrap();
        restore(name, 0o600);
    }
    assert_eq!(refusal(&prepared, "0.0.0.0:0").0, Some(0));
}
