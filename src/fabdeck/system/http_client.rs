//! A client that sends one document to one address: HTTP/1.1, a connection for each request, a bounded time for all of it.
//! Redirects are not followed: what is sent goes where the user said.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::deadline_stream::DeadlineStream;
use super::web_access::certificates::read_roots;

/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 64 * 1024;
/// Most lines of the head of an answer.
const MAX_LINES: usize = 64;

/// An address to send to.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl {
    is_tls: bool,
    /// The host, of IPv6 without brackets.
    host: String,
    port: u16,
    /// Path and query, which may have secrets.
    path: String,
}

/// The path is left out: it is the password of many receivers.
impl fmt::Display for HttpUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", if self.is_tls { "https" } else { "http" }, self.authority())
    }
}

impl fmt::Debug for HttpUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl HttpUrl {
    /// The reason of a refusal does not repeat the address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or("it does not begin with https:// or http://")?;
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            other => return Err(format!("fabdeck does not speak {other}, but https and http")),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains('#') {
            return Err("it has a space, a # or a sign that is not ASCII; write it as %20, %23".to_owned());
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("it has a user name, which is not supported; put a token into the path".to_owned());
        }
        let (host, port) = split_authority(authority).ok_or("it has no host, or a wrong port")?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { is_tls, host, port: port.unwrap_or(if is_tls { 443 } else { 80 }), path })
    }

    fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

fn split_authority(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() || (host.contains(':') && !authority.starts_with('[')) {
        return None;
    }
    let port = match port {
        None => None,
        Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port > 0)?),
    };
    Some((host.to_owned(), port))
}

/// Sends documents to an address.
#[derive(Debug)]
pub struct HttpClient {
    pub url: HttpUrl,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    timeout: Duration,
}

impl HttpClient {
    /// `ca`: the file of the authorities that are trusted; `None`: those of the system. `timeout` bounds a request as a
    /// whole.
    pub fn new(url: HttpUrl, ca: Option<&Path>, timeout: Duration) -> Result<Self, String> {
        if !url.is_tls {
            return match ca {
                Some(_) => Err("certificates belong to https://, and the address has http://".to_owned()),
                None => Ok(Self { url, tls: None, timeout }),
            };
        }
        let roots = match ca {
            Some(file) => read_roots(file, &mut Vec::new()).map_err(|error| error.to_string())?,
            None => system_roots()?,
        };
        let name =
            ServerName::try_from(url.host.clone()).map_err(|_| "the host has no valid name".to_owned())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { url, tls: Some((Arc::new(config), name)), timeout })
    }

    /// Sends JSON by POST. An answer with a status from 200 to 299 is a success; all else is an error with its reason.
    pub fn post_json(&self, body: &[u8]) -> Result<(), String> {
        let until = Instant::now() + self.timeout;
        let stream = self.connect(until)?;
        let status = match &self.tls {
            None => self.exchange(stream, body)?,
            Some((config, name)) => {
                let connection = ClientConnection::new(config.clone(), name.clone())
                    .map_err(|error| format!("TLS cannot begin: {error}"))?;
                self.exchange(StreamOwned::new(connection, stream), body)?
            }
        };
        match status {
            200..=299 => Ok(()),
            300..=399 => Err(format!("it answers with status {status}, and redirects are not followed")),
            _ => Err(format!("it answers with status {status}")),
        }
    }

    /// Connects to the first of the host's addresses that accepts.
    fn connect(&self, until: Instant) -> Result<DeadlineStream, String> {
        let addresses = (self.url.host.as_str(), self.url.port).to_socket_addrs();
        let addresses = addresses.map_err(|error| format!("its name has no address: {error}"))?;
        let mut why = "its name has no address".to_owned();
        for address in addresses {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("it does not answer in time".to_owned());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Ok(DeadlineStream::new(stream, until)),
                Err(error) => why = describe(&error),
            }
        }
        Err(why)
    }

    fn exchange(&self, mut stream: impl Read + Write, body: &[u8]) -> Result<u16, String> {
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: fabdeck/{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.url.path,
            self.url.authority(),
            env!("CARGO_PKG_VERSION"),
            body.len()
        );
        // An answer may come before the body was taken, as of a receiver that refuses it.
        let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let sent = sent.and_then(|()| stream.flush());
        match read_status(&mut stream) {
            Ok(status) => Ok(status),
            Err(error) => Err(describe(sent.as_ref().err().unwrap_or(&error))),
        }
    }
}

fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "it does not answer in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "it closes the connection without an answer".to_owned(),
        _ => error.to_string(),
    }
}

/// The authorities that the system trusts.
fn system_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    match usable {
        0 => Err(
            "the system has no certificates of authorities; install ca-certificates, or give --webhook-ca"
                .to_owned(),
        ),
        _ => Ok(roots),
    }
}

/// The status of an answer; of interim ones the one that follows. The rest of the answer is read, as far as it is short,
/// so that the other side can finish.
fn read_status(stream: &mut impl Read) -> io::Result<u16> {
    let mut bytes = Vec::with_capacity(1024);
    let mut chunk = [0; 4096];
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "it answers with what is no HTTP");
    loop {
        while let Some((status, length)) = parse_status(&bytes).ok_or_else(invalid)? {
            if !(100..=199).contains(&status) {
                read_rest(stream, bytes.len());
                return Ok(status);
            }
            bytes.drain(..length);
        }
        if bytes.len() > MAX_ANSWER {
            return Err(invalid());
        }
        match stream.read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads on to the end. What comes does not matter, nor whether it ends.
fn read_rest(stream: &mut impl Read, mut length: usize) {
    let mut chunk = [0; 4096];
    while length <= MAX_ANSWER {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(read) => length += read,
        }
    }
}

/// Status and length of a head; `None` inside: it is not complete; `None`: it is no answer.
fn parse_status(bytes: &[u8]) -> Option<Option<(u16, usize)>> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
    let mut answer = httparse::Response::new(&mut lines);
    match answer.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => Some(answer.code.map(|code| (code, length))),
        Ok(httparse::Status::Partial) => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn addresses_are_those_of_http_and_https() {
        let of = |text: &str| HttpUrl::parse(text).map(|url| (url.to_string(), url.path));
        for (text, shown, path) in [
            ("https://alerts.site/hook/s3cret?x=1", "https://alerts.site:443", "/hook/s3cret?x=1"),
            ("HTTP://h:8080", "http://h:8080", "/"),
            ("http://[::1]:81?q", "http://[::1]:81", "/?q"),
            ("https://[fe80::1]", "https://[fe80::1]:443", "/"),
        ] {
            assert_eq!(of(text), Ok((shown.to_owned(), path.to_owned())), "{text}");
        }
        for (text, says) in [
            ("alerts.site/hook", "does not begin with https://"),
            ("ftp://h/", "does not speak ftp"),
            ("http://ada:s3cret@h/", "user name"),
            ("http:///s3cret", "no host"),
            ("http://h:0/", "wrong port"),
            ("http://h:70000/s3cret", "wrong port"),
            ("http://::1/", "no host"),
            ("http://[::1/", "no host"),
            ("http://h/a b", "space"),
            ("http://h/\r\nHost: x", "space"),
            ("http://h/#s3cret", "a #"),
        ] {
            let refused = of(text).unwrap_err();
            assert!(refused.contains(says) && !refused.contains("s3cret"), "{text}: {refused}");
        }
    }

    /// The result of a request whose receiver sends these bytes and hangs up, or waits where there are none.
    fn post(answer: &'static [u8]) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = HttpUrl::parse(&format!("http://{}/p", listener.local_addr().unwrap())).unwrap();
        let client = HttpClient::new(url, None, Duration::from_millis(500)).unwrap();
        let receiver = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = vec![0; 4096];
            let mut length = 0;
            while !request[..length].ends_with(b"{\"a\":1}") {
                length += stream.read(&mut request[length..]).unwrap();
            }
            request.truncate(length);
            stream.write_all(answer).unwrap();
            if answer.is_empty() {
                thread::sleep(Duration::from_millis(700));
            }
            String::from_utf8(request).unwrap()
        });
        let result = client.post_json(b"{\"a\":1}");
        let request = receiver.join().unwrap();
        assert!(request.starts_with("POST /p HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
        assert!(request.contains("\r\nContent-Length: 7\r\n"), "{request}");
        result
    }

    #[test]
    fn only_a_success_is_one() {
        for answer in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"[..],
            b"HTTP/1.0 204 No Content\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n",
        ] {
            assert_eq!(post(answer), Ok(()));
        }
        for (answer, says) in [
            (&b"HTTP/1.1 500 Oops\r\n\r\n"[..], "status 500"),
            (b"HTTP/1.1 301 Moved\r\nLocation: http://other/\r\n\r\n", "redirects are not followed"),
            (b"HTTP/1.1 404 Not Found\r\n\r\n", "status 404"),
            (b"SSH-2.0-x\r\n", "no HTTP"),
            (b"HTTP/1.1 200", "closes the connection"),
            (b"", "not answer in time"),
        ] {
            let refused = post(answer).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        let url = HttpUrl::parse("http://127.0.0.1:9/").unwrap();
        let client = HttpClient::new(url.clone(), None, Duration::from_secs(2)).unwrap();
        assert!(client.post_json(b"").unwrap_err().contains("refused"));
        assert!(HttpClient::new(url, Some(Path::new("x")), Duration::ZERO).unwrap_err().contains("http://"));
    }
}
