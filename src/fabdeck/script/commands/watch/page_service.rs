//! The pages of `watch --serve`: their address, and who may read them.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::system::http_server::HttpServer;
use crate::system::web_access::access_rules::{AccessError, WebAccess};

/// A server that is bound, with the rules of its clients.
#[derive(Debug)]
pub struct PageService {
    pub server: HttpServer,
    pub access: WebAccess,
}

impl PageService {
    /// Binds an address. One that other machines reach needs TLS, and passwords or certificates of clients.
    pub fn open(text: &str, web_config: Option<&Path>) -> Result<Self, Failure> {
        let refused = |why: &str, fix: &str| Failure::usage(format!("FD-7348: --serve {text}: {why}; {fix}"));
        let resolved = text.to_socket_addrs().map(|mut addresses| addresses.next());
        let address: SocketAddr = match resolved {
            Ok(Some(address)) => address,
            Ok(None) => return Err(refused("it has no address", LOCAL_HINT)),
            Err(error) => return Err(refused(&error.to_string(), LOCAL_HINT)),
        };
        let access =
            WebAccess::load(web_config, !address.ip().is_loopback()).map_err(|error| match error {
                AccessError::TooOpen(lacks) => {
                    let why = format!("other machines would reach it, and there is {lacks}");
                    refused(&why, PUBLIC_HINT)
                }
                error => Failure::new(Exit::BadInput, error.to_string()),
            })?;
        let server = HttpServer::bind(address).map_err(|error| {
            let what =
                format!("FD-7349: {address} cannot be served: {error}; another service may use the port");
            Failure::new(Exit::Failed, what)
        })?;
        Ok(Self { server, access })
    }

    /// The address as a client writes it.
    pub fn url(&self) -> Option<String> {
        let scheme = if self.access.current().tls.is_some() { "https" } else { "http" };
        self.server.address().ok().map(|address| format!("{scheme}://{address}"))
    }
}

const LOCAL_HINT: &str = "give an address of this machine with a port, as 127.0.0.1:9315";
const PUBLIC_HINT: &str = "give an address of this machine alone, as 127.0.0.1:9315, or --web-config with tls_server_config, \
                           and basic_auth_users or certificates of clients";
