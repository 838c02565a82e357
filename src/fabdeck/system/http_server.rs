//! A server of pages that are ready: it answers GET and HEAD by what [`Routes`] has, one request a connection.
//!
//! Each connection has a thread, a bounded number of them, and a bounded time. So a client that sends nothing or reads
//! nothing delays no other. [`WebAccess`] decides whether a connection speaks TLS and who is answered.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::{ServerConnection, StreamOwned};

use super::deadline_stream::DeadlineStream;
use super::web_access::access_rules::{AccessRules, WebAccess};

/// Most connections at one time. Further ones are refused with status 503.
const MAX_CONNECTIONS: usize = 64;
/// Most bytes of the head of a request.
const MAX_HEAD: usize = 16 * 1024;
/// Most lines of the head of a request.
const MAX_LINES: usize = 64;
/// Time for a request to arrive, and in the next constant for its answer to be taken.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// First byte of a connection by TLS: a record of the handshake.
const TLS_HANDSHAKE: u8 = 22;
/// How often the stop flag is checked.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// A request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpRequest {
    /// The path without a query.
    pub path: String,
    /// The header `Accept`.
    pub accept: String,
    pub accepts_gzip: bool,
    /// The header `Authorization`.
    pub authorization: Option<String>,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpAnswer {
    pub status: HttpStatus,
    pub content_type: &'static str,
    /// Whether the body is packed by gzip.
    pub gzip: bool,
    pub body: Arc<[u8]>,
}

/// The states of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpStatus {
    Ok,
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    Timeout,
    HeadTooLarge,
    Unavailable,
}

impl HttpStatus {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Timeout => "408 Request Timeout",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

impl HttpAnswer {
    /// An answer of a line of text.
    pub fn text(status: HttpStatus, text: &str) -> Self {
        let body: Vec<u8> = format!("{text}\n").into_bytes();
        Self { status, content_type: "text/plain; charset=utf-8", gzip: false, body: body.into() }
    }
}

/// What a server answers.
pub trait Routes: Sync {
    fn answer(&self, request: &HttpRequest) -> HttpAnswer;
}

/// A server that is bound to an address.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
}

impl HttpServer {
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener })
    }

    /// The address with the port that the system chose, where port 0 was asked for.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until the flag is set. Connections that are open then are answered.
    pub fn run(&self, stop: &AtomicBool, routes: &dyn Routes, access: &WebAccess) {
        let open = AtomicUsize::new(0);
        thread::scope(|scope| {
            while !stop.load(Ordering::SeqCst) {
                let Some(stream) = self.next_connection() else { continue };
                if open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                    open.fetch_sub(1, Ordering::SeqCst);
                    refuse(stream, &access.current());
                    continue;
                }
                let open = &open;
                let started = thread::Builder::new().spawn_scoped(scope, move || {
                    // A client that went away is no matter of the server's.
                    let _ = serve(stream, routes, &access.current());
                    open.fetch_sub(1, Ordering::SeqCst);
                });
                if started.is_err() {
                    open.fetch_sub(1, Ordering::SeqCst);
                }
            }
        });
    }

    /// The next connection; `None` where none came for a moment.
    fn next_connection(&self) -> Option<TcpStream> {
        let mut waiting = [PollFd::new(&self.listener, PollFlags::IN)];
        let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(STOP_CHECK.subsec_nanos()) };
        match poll(&mut waiting, Some(&moment)) {
            Ok(1..) => self.listener.accept().ok().map(|(stream, _)| stream),
            Ok(0) => None,
            Err(_) => {
                thread::sleep(STOP_CHECK);
                None
            }
        }
    }
}

/// Refuses a connection without waiting for its request. One by TLS is closed: its handshake would have to be waited for.
fn refuse(mut stream: TcpStream, rules: &AccessRules) {
    if rules.tls.is_none() {
        let answer = HttpAnswer::text(HttpStatus::Unavailable, "too many connections; try again");
        let _ = stream.set_nonblocking(true).and_then(|()| stream.write_all(&head_of(&answer)));
    }
}

/// Reads a request and answers it.
fn serve(stream: TcpStream, routes: &dyn Routes, rules: &AccessRules) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let mut plain = DeadlineStream::new(stream, Instant::now() + REQUEST_TIMEOUT);
    let Some(tls) = &rules.tls else {
        let answer = |request: &HttpRequest| answer_known(request, routes, rules);
        converse(&mut plain, DeadlineStream::set_deadline, &answer)?;
        return plain.finish();
    };
    if plain.peek()? != TLS_HANDSHAKE {
        const HINT: &str = "this port speaks TLS; write https:// in place of http://";
        let answer = |_: &HttpRequest| HttpAnswer::text(HttpStatus::BadRequest, HINT);
        converse(&mut plain, DeadlineStream::set_deadline, &answer)?;
        return plain.finish();
    }
    let connection = ServerConnection::new(tls.clone()).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, plain);
    let answer = |request: &HttpRequest| answer_known(request, routes, rules);
    converse(&mut stream, |stream, until| stream.sock.set_deadline(until), &answer)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    stream.sock.finish()
}

/// Answers clients that the rules admit.
fn answer_known(request: &HttpRequest, routes: &dyn Routes, rules: &AccessRules) -> HttpAnswer {
    match rules.admits(request.authorization.as_deref()) {
        true => routes.answer(request),
        false => HttpAnswer::text(
            HttpStatus::Unauthorized,
            "give the name of a user and the password (basic auth)",
        ),
    }
}

/// Reads a request from a stream and writes its answer, each within its time.
fn converse<S: Read + Write>(
    stream: &mut S,
    set_deadline: impl Fn(&mut S, Instant),
    answer: &dyn Fn(&HttpRequest) -> HttpAnswer,
) -> io::Result<()> {
    let (answer, with_body) = match read_request(stream) {
        Ok(RequestHead { request, is_head }) => (answer(&request), !is_head),
        Err(RequestError::Refused(status)) => (HttpAnswer::text(status, status.line()), true),
        Err(RequestError::Gone(error)) => return Err(error),
    };
    set_deadline(stream, Instant::now() + ANSWER_TIMEOUT);
    stream.write_all(&head_of(&answer))?;
    if with_body {
        stream.write_all(&answer.body)?;
    }
    stream.flush()
}

/// The status line and the headers of an answer.
fn head_of(answer: &HttpAnswer) -> Vec<u8> {
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nVary: Accept, Accept-Encoding\r\n",
        answer.status.line(),
        answer.content_type,
        answer.body.len()
    );
    if answer.gzip {
        head.push_str("Content-Encoding: gzip\r\n");
    }
    if answer.status == HttpStatus::Unauthorized {
        head.push_str("WWW-Authenticate: Basic realm=\"fabdeck\"\r\n");
    }
    if answer.status == HttpStatus::MethodNotAllowed {
        head.push_str("Allow: GET, HEAD\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Why a request is not answered by the routes.
enum RequestError {
    Refused(HttpStatus),
    Gone(io::Error),
}

struct RequestHead {
    request: HttpRequest,
    /// Whether the client wants the head of the answer alone.
    is_head: bool,
}

/// Reads the head of a request. A body is not read: no route takes one.
fn read_request(stream: &mut impl Read) -> Result<RequestHead, RequestError> {
    let mut bytes = Vec::with_capacity(1024);
    let mut chunk = [0; 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Err(RequestError::Gone(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(RequestError::Refused(HttpStatus::Timeout));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(RequestError::Gone(error)),
        }
        if let Some(head) = parse_request(&bytes).map_err(RequestError::Refused)? {
            return Ok(head);
        }
        if bytes.len() > MAX_HEAD {
            return Err(RequestError::Refused(HttpStatus::HeadTooLarge));
        }
    }
}

/// The request in these bytes; `None` where its head has not arrived as a whole.
fn parse_request(bytes: &[u8]) -> Result<Option<RequestHead>, HttpStatus> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
    let mut parsed = httparse::Request::new(&mut lines);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(HttpStatus::HeadTooLarge),
        Err(_) => return Err(HttpStatus::BadRequest),
    }
    let is_head = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(HttpStatus::MethodNotAllowed),
    };
    let path = parsed.path.unwrap_or("/");
    let header = |name: &str| {
        let found = parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let values: Vec<&str> = found.filter_map(|header| std::str::from_utf8(header.value).ok()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    };
    let request = HttpRequest {
        path: path.split(['?', '#']).next().unwrap_or("/").to_owned(),
        accept: header("accept").unwrap_or_default(),
        accepts_gzip: header("accept-encoding").is_some_and(|listed| accepts_gzip(&listed)),
        authorization: header("authorization"),
    };
    Ok(Some(RequestHead { request, is_head }))
}

/// Whether gzip is among the codings, and not with the weight 0.
fn accepts_gzip(listed: &str) -> bool {
    listed.split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let refused = parts.any(|part| {
            part.strip_prefix("q=")
                .and_then(|weight| weight.parse::<f32>().ok())
                .is_some_and(|weight| weight <= 0.0)
        });
        is_gzip && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Paths;

    impl Routes for Paths {
        fn answer(&self, request: &HttpRequest) -> HttpAnswer {
            match request.path.as_str() {
                "/large" => HttpAnswer {
                    status: HttpStatus::Ok,
                    content_type: "text/plain",
                    gzip: false,
                    body: vec![b'x'; 40_000_000].into(),
                },
                path => HttpAnswer::text(HttpStatus::Ok, path),
            }
        }
    }

    fn with_server(work: impl FnOnce(SocketAddr)) {
        let server = HttpServer::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, stop) = (server.address().unwrap(), AtomicBool::new(false));
        thread::scope(|scope| {
            let access = WebAccess::load(None, false).unwrap();
            let (server, stop) = (&server, &stop);
            scope.spawn(move || server.run(stop, &Paths, &access));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(address)));
            stop.store(true, Ordering::SeqCst);
            done.unwrap();
        });
    }

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn requests_are_answered_or_refused_by_their_status() {
        with_server(|address| {
            let answer = ask(address, "GET /a?b=1 HTTP/1.1\r\nHost: x\r\n\r\n");
            assert!(
                answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n/a\n"),
                "{answer}"
            );
            let head = ask(address, "HEAD /a HTTP/1.1\r\n\r\n");
            assert!(head.contains("Content-Length: 3\r\n") && head.ends_with("\r\n\r\n"), "{head}");
            for (request, status) in [
                ("POST /a HTTP/1.1\r\n\r\n".to_owned(), "405"),
                ("nonsense\r\n\r\n".to_owned(), "400"),
                (format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(100)), "431"),
                (format!("GET / HTTP/1.1\r\nA: {}", "b".repeat(20_000)), "431"),
            ] {
                let answer = ask(address, &request);
                assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
            }
        });
    }

    #[test]
    fn clients_that_hang_delay_no_other() {
        with_server(|address| {
            let mut silent: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(address).unwrap()).collect();
            for stream in &mut silent {
                stream.write_all(b"GET /large HTTP/1.1\r\n\r\n").unwrap();
            }
            let begun = Instant::now();
            assert!(ask(address, "GET /a HTTP/1.1\r\n\r\n").contains("200 OK"));
            assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        });
    }

    #[test]
    fn gzip_is_accepted_by_name_and_weight() {
        for (listed, accepted) in
            [("gzip", true), ("deflate, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false), ("", false)]
        {
            assert_eq!(accepts_gzip(listed), accepted, "{listed}");
        }
    }
}
