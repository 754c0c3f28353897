//! The proxy between real sockets: what it passes on, what it refuses, and how it ends.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use foreword_watch::{Callers, MAX_RECORDED_BODY, Proxy, ProxyConfig, Route, WatchError};

use crate::support::{
    Kept, answering, connect, exchange, post, proxy, proxy_with, read_bytes, read_request, upstream,
};

const OK: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nX-Odd-Case: 1\r\nContent-Length: 2\r\n\r\nok";
const PATH: &str = "/anthropic/v1/messages";

#[test]
fn an_answer_passes_byte_for_byte_and_is_recorded() {
    let (proxy, kept) = proxy(&answering(OK));
    let mut client = connect(&proxy);
    client.write_all(&post(&proxy, PATH, "x-api-key: secret-key\r\n", "{}")).unwrap();
    assert_eq!(read_bytes(&mut client, OK.len()), OK);
    let found = kept.next();
    assert_eq!((found.status, found.target.as_str()), (200, "/v1/messages"));
    assert_eq!(
        (found.request.bytes.as_slice(), found.response.bytes.as_slice()),
        (&b"{}"[..], &b"ok"[..])
    );
    assert_eq!((found.problem, found.route.as_str()), (None, "anthropic"));
}

/// The next request of a client may come over another connection, and must not be recorded before this one.
#[test]
fn an_exchange_is_recorded_before_the_client_has_its_last_byte() {
    let (proxy, kept) = proxy(&answering(OK));
    for done in 1..=50 {
        let mut client = connect(&proxy);
        client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
        read_bytes(&mut client, OK.len());
        assert_eq!(kept.count(), done);
    }
}

#[test]
fn the_upstream_gets_the_request_as_it_was_sent() {
    let (sender, receiver) = mpsc::channel();
    let address = upstream(move |mut stream| {
        let (head, body) = read_request(&mut stream).unwrap();
        sender.send((head, body)).unwrap();
        stream.write_all(OK).unwrap();
    });
    let (proxy, _) = proxy(&address);
    let mut client = connect(&proxy);
    let headers = "X-Api-Key: k\r\nanthropic-beta: a,b\r\nAccept-Encoding: gzip, br\r\nConnection: keep-alive\r\n";
    client
        .write_all(&post(&proxy, "/anthropic/v1/messages?beta=true", headers, "{\"a\": 1}"))
        .unwrap();
    let (head, body) = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
    let host = address.trim_start_matches("http://");
    assert_eq!(
        head,
        format!(
            "POST /v1/messages?beta=true HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: k\r\nanthropic-beta: a,b\r\nAccept-Encoding: gzip\r\nContent-Length: 8\r\n\r\n"
        )
    );
    assert_eq!(body, b"{\"a\": 1}");
}

#[test]
fn events_arrive_one_by_one() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let address = upstream(move |mut stream| {
        read_request(&mut stream).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n")
            .unwrap();
        wait.lock().unwrap().recv().unwrap();
        stream.write_all(b"7\r\ndata: 2\r\n0\r\n\r\n").unwrap();
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
    let first = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n";
    assert_eq!(read_bytes(&mut client, first.len()), first, "before the second is sent");
    go.send(()).unwrap();
    assert_eq!(read_bytes(&mut client, 17), b"7\r\ndata: 2\r\n0\r\n\r\n");
    assert_eq!(kept.next().response.bytes, b"data: 1data: 2");
}

#[test]
fn one_connection_serves_many_requests() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let address = upstream(move |mut stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        while read_request(&mut stream).is_some() {
            stream.write_all(OK).unwrap();
        }
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    for _ in 0..3 {
        client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
        assert_eq!(read_bytes(&mut client, OK.len()), OK);
        kept.next();
    }
    // Two at once: the second waits its turn.
    let both = [post(&proxy, PATH, "", "{}"), post(&proxy, PATH, "", "{}")].concat();
    client.write_all(&both).unwrap();
    assert_eq!(read_bytes(&mut client, 2 * OK.len()), [OK, OK].concat());
    assert_eq!(connections.load(Ordering::SeqCst), 1, "the upstream's connection is kept too");
}

#[test]
fn a_kept_connection_that_the_upstream_closed_is_replaced() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let address = upstream(move |mut stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        read_request(&mut stream).unwrap();
        stream.write_all(OK).unwrap();
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    for _ in 0..3 {
        client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
        assert_eq!(read_bytes(&mut client, OK.len()), OK);
        assert_eq!(kept.next().problem, None);
        thread::sleep(Duration::from_millis(30));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 3);
}

#[test]
fn clients_of_http_1_0_get_a_plain_body() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n";
    let (proxy, _) = proxy(&answering(chunked));
    let request = b"POST /anthropic/v1/messages HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(exchange(&proxy, request), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef");
}

#[test]
fn chunked_requests_and_100_continue_work() {
    let address = upstream(|mut stream| {
        let mut all = Vec::new();
        let mut piece = [0; 1024];
        while !all.ends_with(b"0\r\n\r\n") {
            let count = stream.read(&mut piece).unwrap();
            all.extend_from_slice(&piece[..count]);
        }
        assert!(!String::from_utf8_lossy(&all).to_lowercase().contains("expect"));
        stream.write_all(OK).unwrap();
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
        proxy.address()
    );
    client.write_all(head.as_bytes()).unwrap();
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(read_bytes(&mut client, interim.len()), interim);
    client.write_all(b"2\r\n{}\r\n0\r\n\r\n").unwrap();
    assert_eq!(read_bytes(&mut client, OK.len()), OK);
    assert_eq!(kept.next().request.bytes, b"{}");
}

#[test]
fn what_is_not_for_this_proxy_is_refused() {
    let (proxy, _) = proxy(&answering(OK));
    let port = proxy.address().port();
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    for (request, status, reason) in [
        (format!("CONNECT api.anthropic.com:443 HTTP/1.1\r\n{host}\r\n"), 405, "CONNECT"),
        (
            format!("GET http://api.anthropic.com/v1/models HTTP/1.1\r\n{host}\r\n"),
            400,
            "absolute URIs",
        ),
        (format!("POST {PATH} HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403, "Host"),
        (format!("POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", port ^ 1), 403, "Host"),
        (format!("POST {PATH} HTTP/1.1\r\n\r\n"), 403, "Host"),
        (format!("POST {PATH} HTTP/1.1\r\n{host}{host}\r\n"), 403, "Host"),
        (format!("POST {PATH} HTTP/1.1\r\n{host}Origin: null\r\n\r\n"), 403, "web pages"),
        (format!("GET /favicon.ico HTTP/1.1\r\n{host}\r\n"), 404, "base URLs"),
        (
            format!(
                "POST {PATH} HTTP/1.1\r\n{host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
            400,
            "both",
        ),
        ("\x16\x03\x01\r\n\r\n".to_owned(), 400, "HTTP/1.1"),
        (format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "a".repeat(200_000)), 431, "more than"),
    ] {
        let answer = exchange(&proxy, request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.60}: {answer}");
        assert!(answer.contains(reason) && answer.contains("foreword watch: "), "{answer}");
    }
    let mut allowed = post(&proxy, PATH, "Connection: close\r\n", "{}");
    assert!(exchange(&proxy, &allowed).ends_with("ok"));
    let text = String::from_utf8(allowed).unwrap().replace("127.0.0.1", "localhost");
    allowed = text.into_bytes();
    assert!(exchange(&proxy, &allowed).ends_with("ok"));
}

#[test]
fn redirects_are_passed_on_and_not_followed() {
    let target = answering(OK);
    let redirect = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: {target}/x\r\nContent-Length: 0\r\n\r\n"
    );
    let redirect: &'static [u8] = Box::leak(redirect.into_bytes().into_boxed_slice());
    let (proxy, kept) = proxy(&answering(redirect));
    let mut client = connect(&proxy);
    client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
    assert_eq!(read_bytes(&mut client, redirect.len()), redirect);
    assert_eq!(kept.next().status, 307);
}

#[test]
fn a_token_guards_the_proxy_where_the_kernel_does_not_tell() {
    let callers = Callers::WithToken("0123456789abcdef".to_owned());
    let (proxy, _) = proxy_with(&answering(OK), callers, None);
    let route = Route::new("anthropic", "https://api.anthropic.com").unwrap();
    let base = proxy.base_url(&route);
    assert!(base.ends_with("/0123456789abcdef/anthropic"), "{base}");
    let close = "Connection: close\r\n";
    let refused = exchange(&proxy, &post(&proxy, PATH, close, "{}"));
    assert!(refused.contains("403") && refused.contains("token"), "{refused}");
    let wrong = exchange(&proxy, &post(&proxy, &format!("/0123456789abcdeX{PATH}"), close, "{}"));
    assert!(wrong.contains("403"), "{wrong}");
    let right = exchange(&proxy, &post(&proxy, &format!("/0123456789abcdef{PATH}"), close, "{}"));
    assert!(right.ends_with("ok"), "{right}");
}

/// Only root can start a program as somebody else, so only root can see it refused.
#[test]
fn programs_of_other_users_are_refused() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (proxy, _) = proxy(&answering(OK));
    let address = proxy.address();
    let request =
        format!("POST {PATH} HTTP/1.1\\r\\nHost: {address}\\r\\nContent-Length: 0\\r\\n\\r\\n");
    let program = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}; printf '{request}' >&3; head -c 12 <&3",
        address.port()
    );
    let answer = |uid: u32| {
        let output = std::process::Command::new("bash").args(["-c", &program]).uid(uid).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(answer(65534), "HTTP/1.1 403");
    assert_eq!(answer(0), "HTTP/1.1 200");
}

#[test]
fn an_upstream_that_cannot_be_reached_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (proxy, kept) = proxy(&format!("http://{free}"));
    let answer = exchange(&proxy, &post(&proxy, PATH, "", "{}"));
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains(&free.to_string()), "{answer}");
    assert!(kept.next().problem.unwrap().contains("cannot reach"));
}

#[test]
fn an_upstream_that_hangs_is_given_up_on_in_time() {
    let address = upstream(|mut stream| {
        read_request(&mut stream).unwrap();
        thread::sleep(Duration::from_secs(60));
    });
    let (proxy, kept) = proxy_with(&address, Callers::Anyone, Some(Duration::from_millis(300)));
    let answer = exchange(&proxy, &post(&proxy, PATH, "", "{}"));
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    assert_eq!(kept.next().status, 504);
}

#[test]
fn a_client_that_leaves_ends_the_request_at_the_upstream() {
    let (sender, receiver) = mpsc::channel();
    let address = upstream(move |mut stream| {
        read_request(&mut stream).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let ended = matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_));
        sender.send((ended, Instant::now())).unwrap();
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
    thread::sleep(Duration::from_millis(100));
    let left = Instant::now();
    drop(client);
    let (ended, at) = receiver.recv_timeout(Duration::from_secs(30)).unwrap();
    assert!(ended && at.duration_since(left) < Duration::from_secs(5));
    assert!(kept.next().problem.unwrap().contains("client disconnected"));
}

#[test]
fn a_stream_that_is_cut_is_cut_for_the_client_too() {
    for (head, body) in [
        ("Transfer-Encoding: chunked\r\n", "5\r\nabcde\r\n5\r\nab"),
        ("Content-Length: 100\r\n", "abcde"),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}");
        let sent = answer.clone();
        let address = upstream(move |mut stream| {
            read_request(&mut stream).unwrap();
            stream.write_all(sent.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Both).unwrap();
        });
        let (proxy, kept) = proxy(&address);
        let mut client = connect(&proxy);
        client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
        assert_eq!(read_bytes(&mut client, answer.len()), answer.as_bytes());
        assert!(!matches!(client.read(&mut [0; 1]), Ok(1..)), "the connection ends");
        let found = kept.next();
        assert!(found.problem.unwrap().contains("in the middle of its answer"));
        assert!(found.response.bytes.starts_with(b"abcde"), "what came is kept");
    }
}

#[test]
fn an_answer_that_comes_before_the_body_is_read_reaches_the_client() {
    let refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig";
    let address = upstream(move |mut stream| {
        let mut some = [0; 1024];
        let _ = stream.read(&mut some);
        stream.write_all(refusal).unwrap();
        // Reads no more, and closes the connection with the rest of the body unread.
        thread::sleep(Duration::from_millis(300));
    });
    let (proxy, kept) = proxy(&address);
    let body = "x".repeat(32 << 20);
    let request = post(&proxy, PATH, "", &body);
    let mut client = connect(&proxy);
    let mut writer = client.try_clone().unwrap();
    let sending = thread::spawn(move || {
        let _ = writer.write_all(&request);
    });
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(
        answer.starts_with("HTTP/1.1 413 Too Large\r\n") && answer.ends_with("big"),
        "{answer}"
    );
    drop(client);
    sending.join().unwrap();
    assert_eq!(kept.next().status, 413);
}

#[test]
fn bodies_of_64_mb_pass_and_larger_ones_too() {
    let address = upstream(|mut stream| {
        let (_, body) = read_request(&mut stream).unwrap();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(answer.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
    });
    let (proxy, kept) = proxy(&address);
    for (length, is_cut) in [(MAX_RECORDED_BODY, false), (MAX_RECORDED_BODY + 1, true)] {
        let body = "y".repeat(length);
        let request = post(&proxy, PATH, "Connection: close\r\n", &body);
        let mut client = connect(&proxy);
        client.write_all(&request).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert!(answer.len() > length && answer.ends_with(&body.as_bytes()[length - 1000..]));
        let found = kept.next();
        assert_eq!((found.request.is_cut(), found.response.is_cut()), (is_cut, is_cut));
        assert_eq!(found.request.length, length as u64);
    }
}

#[test]
fn two_hundred_streams_at_the_same_time() {
    let address = upstream(|mut stream| {
        let (_, body) = read_request(&mut stream).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        for _ in 0..5 {
            let piece = format!("{:x}\r\n{}\r\n", body.len(), String::from_utf8_lossy(&body));
            stream.write_all(piece.as_bytes()).unwrap();
            thread::sleep(Duration::from_millis(100));
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let (proxy, kept) = proxy(&address);
    thread::scope(|scope| {
        for number in 0..200 {
            let proxy = &proxy;
            scope.spawn(move || {
                let body = format!("{{\"n\": {number}}}");
                let request = post(proxy, PATH, "Connection: close\r\n", &body);
                let answer = exchange(proxy, &request);
                assert_eq!(answer.matches(&body).count(), 5, "{answer}");
                assert!(answer.ends_with("0\r\n\r\n"));
            });
        }
    });
    for _ in 0..200 {
        assert_eq!(kept.next().problem, None);
    }
}

#[test]
fn a_port_in_use_is_said_so() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let config = ProxyConfig {
        port,
        routes: vec![Route::new("anthropic", "http://127.0.0.1:1").unwrap()],
        callers: Callers::SameUser,
        upstream_silence: None,
    };
    let error = Proxy::start(config, None, Arc::new(Kept::default())).err().unwrap();
    assert!(matches!(error, WatchError::PortInUse { port: named } if named == port), "{error}");
}

#[test]
fn finishing_waits_for_what_is_under_way() {
    let address = upstream(|mut stream| {
        read_request(&mut stream).unwrap();
        thread::sleep(Duration::from_millis(300));
        stream.write_all(OK).unwrap();
    });
    let (proxy, kept) = proxy(&address);
    let mut client = connect(&proxy);
    let place = proxy.address();
    client.write_all(&post(&proxy, PATH, "", "{}")).unwrap();
    thread::sleep(Duration::from_millis(100));
    proxy.finish(Duration::from_secs(20));
    assert_eq!(kept.next().status, 200);
    thread::sleep(Duration::from_millis(50));
    let refused = TcpStream::connect(place).map(|mut stream| {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
        matches!(stream.read(&mut [0; 1]), Ok(1..))
    });
    assert!(!refused.unwrap_or(false), "no more connections are served");
}
