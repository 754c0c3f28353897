//! Who has the other end of a loopback connection, according to the kernel.
//!
//! TCP has no credentials of the peer. On Linux the kernel tells the number of the socket at the other end
//! and its user: over netlink, or by a row of `/proc/net/tcp` where netlink is not to be had. Elsewhere
//! the lookup fails with [`io::ErrorKind::NotFound`], and the caller decides what else it asks for.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr, TcpStream};

/// The most rows of the kernel's table of connections that are read.
const MAX_ROWS: usize = 200_000;

/// The socket at the other end of a connection on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSocket {
    /// Its number, as in `/proc/PID/fd`.
    pub inode: u64,
    /// The user who opened it.
    pub uid: u32,
}

/// The other end of a connection; `None` if the kernel has none on this machine.
///
/// # Errors
///
/// With kind `NotFound` if this system has no such table.
pub fn peer_socket(stream: &TcpStream) -> io::Result<Option<PeerSocket>> {
    let (peer, own) = (stream.peer_addr()?, stream.local_addr()?);
    #[cfg(target_os = "linux")]
    if let Ok(Some(found)) = super::sock_diag::socket(peer, own) {
        return Ok(Some(found));
    }
    in_table(peer, own)
}

/// The row of the kernel's table of connections.
fn in_table(peer: SocketAddr, own: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let mut found = row_with("/proc/self/net/tcp", &(place(peer, false), place(own, false)))?;
    if found.is_none() {
        // A program may use an IPv6 socket for an IPv4 address.
        let places = (place(peer, true), place(own, true));
        found = row_with("/proc/self/net/tcp6", &places).unwrap_or(None);
    }
    Ok(found)
}

fn row_with(table: &str, (local, remote): &(String, String)) -> io::Result<Option<PeerSocket>> {
    let mut rows = BufReader::with_capacity(64 << 10, fs::File::open(table)?);
    let mut row = String::new();
    for _ in 0..MAX_ROWS {
        row.clear();
        if rows.read_line(&mut row)? == 0 {
            break;
        }
        let mut fields = row.split_ascii_whitespace().skip(1);
        if fields.next() == Some(local) && fields.next() == Some(remote) {
            // Behind the addresses: state, queues, timer, retransmits, user, timeout, inode.
            let uid = fields.nth(4).and_then(|uid| uid.parse().ok());
            let inode = fields.nth(1).and_then(|inode| inode.parse().ok());
            let socket = uid.zip(inode).map(|(uid, inode)| PeerSocket { inode, uid });
            return Ok(socket.filter(|socket| socket.inode != 0));
        }
    }
    Ok(None)
}

/// An address as the kernel writes it.
fn place(address: SocketAddr, mapped: bool) -> String {
    let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
    let ip = match address.ip() {
        IpAddr::V4(ip) if mapped => {
            format!("{}{}{}", "0".repeat(16), word([0, 0, 0xff, 0xff]), word(ip.octets()))
        }
        IpAddr::V4(ip) => word(ip.octets()),
        IpAddr::V6(ip) => {
            let octets = ip.octets();
            let (words, _) = octets.as_chunks::<4>();
            words.iter().map(|bytes| word(*bytes)).collect()
        }
    };
    format!("{ip}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::path::Path;

    use super::*;

    #[test]
    fn addresses_are_written_as_the_kernel_does() {
        if cfg!(target_endian = "little") {
            let address = SocketAddr::from(([127, 0, 0, 1], 8080));
            assert_eq!(place(address, false), "0100007F:1F90");
            assert_eq!(place(address, true), "0000000000000000FFFF00000100007F:1F90");
        }
    }

    #[test]
    fn the_other_end_of_a_connection_is_ours() {
        if !Path::new("/proc/self/net/tcp").exists() {
            return;
        }
        use std::os::unix::fs::MetadataExt as _;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let uid = fs::metadata("/proc/self").unwrap().uid();
        let found = peer_socket(&accepted).unwrap();
        assert_eq!(found.map(|peer| peer.uid), Some(uid));
        let (peer, own) = (accepted.peer_addr().unwrap(), accepted.local_addr().unwrap());
        assert_eq!(in_table(peer, own).unwrap(), found, "both ways find the same socket");
    }
}
