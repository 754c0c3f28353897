//! One socket of the kernel's table of connections, asked for by its addresses.
//!
//! `/proc/net/tcp` walks the whole table, which takes milliseconds on a machine with much memory; the
//! netlink protocol that `ss` uses looks one connection up in microseconds. Where the kernel lacks it, or a
//! sandbox forbids netlink, the answer is an error and the caller reads the table.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::peer::PeerSocket;

/// Numbers of `linux/sock_diag.h`, `linux/netlink.h` and `net/tcp_states.h`.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const TCP: u8 = 6;
const LISTENING: u8 = 10;

/// The kernel answers at once; this is for one that never does.
const PATIENCE: Duration = Duration::from_secs(1);

/// The socket whose own address is `local` and that is connected to `remote`.
pub(super) fn socket(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<PeerSocket>> {
    let diag = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    set_socket_timeout(&diag, Timeout::Recv, Some(PATIENCE))?;
    send(&diag, &request(local, remote), SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&diag, &mut answer, RecvFlags::empty())?;
    let found = read(answer.get(..length).unwrap_or_default(), local, remote);
    Ok(found.filter(|socket| socket.inode != 0))
}

/// A `nlmsghdr` with an `inet_diag_req_v2`.
fn request(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let mut body = vec![u8::try_from(family.as_raw()).unwrap_or_default(), TCP, 0, 0];
    body.extend(u32::MAX.to_ne_bytes()); // in any state
    body.extend(ports(local, remote));
    body.extend(octets(local.ip()));
    body.extend(octets(remote.ip()));
    body.extend(0_u32.to_ne_bytes()); // on any interface
    body.extend([0xff; 8]); // whatever its cookie

    let length = u32::try_from(16 + body.len()).unwrap_or_default();
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]); // sequence and sender
    message.extend(body);
    message
}

/// The `inet_diag_msg` of an answer; `None` for an error, and for a socket that only listens at the port.
fn read(answer: &[u8], local: SocketAddr, remote: SocketAddr) -> Option<PeerSocket> {
    let word = |at: usize| {
        let bytes = answer.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*bytes))
    };
    let kind = u16::from_ne_bytes(*answer.get(4..)?.first_chunk()?);
    let is_connection = kind == SOCK_DIAG_BY_FAMILY
        && *answer.get(17)? != LISTENING
        && answer.get(20..24)? == ports(local, remote);
    is_connection.then_some(PeerSocket { uid: word(80)?, inode: u64::from(word(84)?) })
}

fn ports(local: SocketAddr, remote: SocketAddr) -> [u8; 4] {
    let ([a, b], [c, d]) = (local.port().to_be_bytes(), remote.port().to_be_bytes());
    [a, b, c, d]
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_connection_has_the_inode_that_its_file_has() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (local, remote) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
            let Some(found) = asked(local, remote) else { return };
            let file = std::fs::metadata(format!("/proc/self/fd/{}", fd(&client))).unwrap();
            assert_eq!(found.map(|found| found.inode), Some(file.ino()), "{address}");
        }
    }

    #[test]
    fn a_listener_is_not_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
        let Some(found) = asked(listener.local_addr().unwrap(), nobody) else { return };
        assert_eq!(found, None);
    }

    #[test]
    fn short_and_foreign_answers_are_no_socket() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        for length in [0, 5, 16, 40, 87] {
            assert_eq!(read(&vec![20; length], address, address), None);
        }
        assert_eq!(read(&[0; 200], address, address), None);
    }

    /// What the kernel says, or nothing where it may not be asked.
    fn asked(local: SocketAddr, remote: SocketAddr) -> Option<Option<PeerSocket>> {
        let answer = socket(local, remote);
        answer.inspect_err(|error| foreword_testing::skip("netlink", &error.to_string())).ok()
    }

    fn fd(stream: &TcpStream) -> i32 {
        use std::os::fd::AsRawFd as _;
        stream.as_raw_fd()
    }
}
