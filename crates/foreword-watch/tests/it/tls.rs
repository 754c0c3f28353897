//! An upstream with TLS, whose root is in a file.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use foreword_watch::{Callers, Proxy, ProxyConfig, Route, Sink, WatchError};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{Kept, connect, exchange, post, read_bytes};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

/// Answers every request on a connection with what was asked, in chunks.
fn upstream() -> u16 {
    let certificate = CertificateDer::from_pem_file(data("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(data("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let mut asked = Vec::new();
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut piece) {
                    asked.extend_from_slice(&piece[..count]);
                    if asked.ends_with(b"{}") {
                        stream.write_all(ANSWER).unwrap();
                        stream.flush().unwrap();
                        asked.clear();
                    }
                }
            });
        }
    });
    port
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";

fn start(url: &str, roots: Option<&Path>) -> Result<(Proxy, Arc<Kept>), WatchError> {
    let kept = Arc::new(Kept::default());
    let config = ProxyConfig {
        port: 0,
        routes: vec![Route::new("anthropic", url).unwrap()],
        callers: Callers::SameUser,
        upstream_silence: None,
    };
    let proxy = Proxy::start(config, roots, Arc::clone(&kept) as Arc<dyn Sink>)?;
    Ok((proxy, kept))
}

#[test]
fn an_upstream_with_tls_is_reached_and_its_connection_kept() {
    let url = format!("https://localhost:{}", upstream());
    let (proxy, kept) = start(&url, Some(&data("ca.pem"))).unwrap();
    let mut client = connect(&proxy);
    for _ in 0..3 {
        client.write_all(&post(&proxy, "/anthropic/v1/messages", "", "{}")).unwrap();
        assert_eq!(read_bytes(&mut client, ANSWER.len()), ANSWER);
        let found = kept.next();
        assert_eq!((found.response.bytes.as_slice(), found.problem), (&b"hello"[..], None));
    }
}

#[test]
fn an_upstream_is_reached_through_a_proxy_of_the_network() {
    let port = upstream();
    let (sender, receiver) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    let network = crate::support::upstream(move |mut client| {
        let (head, _) = crate::support::read_request(&mut client).unwrap();
        sender.lock().unwrap().send(head).unwrap();
        let mut server = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        let _ = std::io::copy(&mut server, &mut client);
    });
    let proxy_url = network.replace("http://", "http://ada:secret@");
    let route = Route::new("anthropic", &format!("https://localhost:{port}")).unwrap();
    let kept = Arc::new(Kept::default());
    let config = ProxyConfig {
        port: 0,
        routes: vec![route.through(&proxy_url).unwrap()],
        callers: Callers::SameUser,
        upstream_silence: None,
    };
    let sink = Arc::clone(&kept) as Arc<dyn Sink>;
    let proxy = Proxy::start(config, Some(&data("ca.pem")), sink).unwrap();
    let mut client = connect(&proxy);
    client.write_all(&post(&proxy, "/anthropic/v1/messages", "", "{}")).unwrap();
    assert_eq!(read_bytes(&mut client, ANSWER.len()), ANSWER);
    let head = receiver.recv().unwrap();
    assert_eq!(
        head,
        format!(
            "CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\nProxy-Authorization: Basic YWRhOnNlY3JldA==\r\n\r\n"
        )
    );
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let url = format!("https://localhost:{}", upstream());
    let (proxy, kept) = start(&url, None).unwrap();
    let answer = exchange(&proxy, &post(&proxy, "/anthropic/v1/messages", "", "{}"));
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("certificate"), "{answer}");
    assert!(kept.next().problem.unwrap().contains("cannot reach"));
}

#[test]
fn a_file_without_certificates_is_named() {
    let missing = Path::new("/nonexistent/roots.pem");
    let error = start("https://localhost:1", Some(missing)).err().unwrap();
    assert!(error.to_string().contains("/nonexistent/roots.pem"), "{error}");
}
