//! The user of the process at the other end of a local TCP connection, as `/proc/net/tcp` shows it.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};

/// The state of a connection that is open at both ends. In every other state the kernel shows root as its user.
const ESTABLISHED: &str = "01";

/// Reads the user of the other end; `None` if it is on another host or in another network namespace, or has closed the
/// connection.
pub fn read_peer_user(stream: &TcpStream) -> io::Result<Option<u32>> {
    let ends = (plain_address(stream.peer_addr()?), plain_address(stream.local_addr()?));
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = match fs::read_to_string(table) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            text => text?,
        };
        if let Some(user) = text.lines().find_map(|line| find_user(line, ends)) {
            return Ok(Some(user));
        }
    }
    Ok(None)
}

/// The user in a line of the table, if the line is of this connection: its local address, then the remote one.
fn find_user(line: &str, ends: (SocketAddr, SocketAddr)) -> Option<u32> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, remote) = (parse_address(fields.next()?)?, parse_address(fields.next()?)?);
    let is_open = fields.next()? == ESTABLISHED;
    let user = fields.nth(3)?.parse().ok()?;
    (is_open && (local, remote) == ends).then_some(user)
}

/// An address of the table: words of 32 bits in the order of this machine, and the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(plain_address(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

/// The address without the form that IPv6 sockets have for IPv4, and without a scope.
fn plain_address(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_user_of_the_other_end_is_shown_while_it_is_open() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let mut caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            accepted.write_all(b"x").unwrap();
            caller.read_exact(&mut [0]).unwrap();
            assert_eq!(read_peer_user(&caller).unwrap(), Some(rustix::process::geteuid().as_raw()));
            // The kernel shows root for a socket that its process has closed.
            drop(accepted);
            caller.read_to_end(&mut Vec::new()).unwrap();
            assert_eq!(read_peer_user(&caller).unwrap(), None);
        }
    }
}
