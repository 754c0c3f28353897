//! The HTTP embedder against a real server on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use foreword_embed::{ApiKey, EmbedError, Embedder, HttpEmbedder, HttpSettings};
use serde_json::{Value, json};

/// What a server does with one request.
#[derive(Clone)]
enum Act {
    /// Answers properly with vectors of this many numbers.
    Embed(usize),
    /// Answers with a status, a header and a body.
    Say(u16, &'static str, String),
    /// Embeds after a while.
    Late(Duration),
    /// Closes the connection.
    Close,
}

struct Server {
    url: String,
    /// The head and the body of every request.
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    /// A server that goes through its acts, the last one for ever.
    fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            let mut acts = acts.into_iter().peekable();
            for stream in listener.incoming() {
                let act = acts.next().unwrap();
                if acts.peek().is_none() {
                    acts = vec![act.clone()].into_iter().peekable();
                }
                let log = Arc::clone(&log);
                thread::spawn(move || serve(stream.unwrap(), &act, &log));
            }
        });
        Self { url, seen }
    }

    fn settings(&self) -> HttpSettings {
        let mut settings = HttpSettings::new(&self.url, "tiny");
        settings.backoff = Duration::from_millis(1);
        settings.timeout = Duration::from_secs(5);
        settings.dims = Some(3);
        settings
    }

    fn seen(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, act: &Act, log: &Mutex<Vec<(String, Value)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let length = head
        .to_lowercase()
        .lines()
        .find_map(|x| x.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let inputs: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
    log.lock().unwrap().push((head, body));
    let embed = |dims: usize| {
        // Backwards, so that the order of the indices matters.
        let entry = |(index, text): (usize, &String)| {
            let embedding: Vec<f32> =
                (0..dims).map(|i| if i == 0 { text.len() as f32 } else { 1.0 }).collect();
            json!({"object": "embedding", "index": index, "embedding": embedding})
        };
        json!({"data": inputs.iter().enumerate().rev().map(entry).collect::<Vec<_>>()}).to_string()
    };
    let (status, header, text) = match act {
        Act::Embed(dims) => (200, "", embed(*dims)),
        Act::Say(status, header, text) => (*status, *header, text.clone()),
        Act::Late(wait) => {
            thread::sleep(*wait);
            (200, "", embed(3))
        }
        Act::Close => return,
    };
    let length = text.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\n{header}Content-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
}

#[test]
fn vectors_come_back_in_order_and_one_text_is_one_request() {
    let server = Server::start(vec![Act::Embed(3)]);
    let mut settings = server.settings();
    settings.api_key = Some(ApiKey::new("k-123"));
    let embedder = HttpEmbedder::new(settings).unwrap();
    assert_eq!(
        embedder.id().to_string(),
        format!("http:tiny@{}:3", server.url.trim_start_matches("http://"))
    );
    embedder.embed(&["one"]).unwrap();
    assert_eq!(server.seen(), 1);

    let vectors = embedder.embed(&["a", "", "long text", " \n"]).unwrap();
    assert!(vectors[0].values()[0] < vectors[2].values()[0]);
    assert!(vectors[1].is_zero() && vectors[3].is_zero());
    let seen = server.seen.lock().unwrap();
    let (head, body) = seen.last().unwrap();
    assert!(head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer k-123\r\n"), "{head}");
    assert_eq!(
        body,
        &json!({"model": "tiny", "input": ["a", "long text"], "encoding_format": "float"})
    );
}

#[test]
fn the_length_of_vectors_is_asked_for() {
    let server = Server::start(vec![Act::Embed(7)]);
    let mut settings = server.settings();
    settings.dims = None;
    assert_eq!(HttpEmbedder::new(settings).unwrap().id().dims, 7);
}

#[test]
fn requests_stay_within_their_limits() {
    let server = Server::start(vec![Act::Embed(3)]);
    let mut settings = server.settings();
    (settings.max_batch, settings.max_batch_bytes, settings.max_text_bytes) = (2, 10, 12);
    let embedder = HttpEmbedder::new(settings).unwrap();
    let long = "é".repeat(100);
    let vectors = embedder.embed(&["a", "b", "c", "12345678", &long, "d"]).unwrap();
    assert_eq!(vectors.len(), 6);
    let seen = server.seen.lock().unwrap();
    let inputs: Vec<&Value> = seen.iter().map(|(_, body)| &body["input"]).collect();
    let cut = "é".repeat(6);
    assert_eq!(
        inputs,
        [&json!(["a", "b"]), &json!(["c", "12345678"]), &json!([cut]), &json!(["d"])]
    );
    assert!(embedder.embed(&[]).unwrap().is_empty());
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = Act::Say(429, "Retry-After: 0\r\n", "{}".into());
    let broken = Act::Say(503, "", "later".into());
    let server = Server::start(vec![busy, broken, Act::Close, Act::Embed(3)]);
    let embedder = HttpEmbedder::new(server.settings()).unwrap();
    assert_eq!(embedder.embed(&["x"]).unwrap().len(), 1);
    assert_eq!(server.seen(), 4);
}

#[test]
fn a_broken_server_is_given_up() {
    let server = Server::start(vec![Act::Say(
        500,
        "",
        "{\"error\": {\"message\": \"out of\\nmemory\"}}".into(),
    )]);
    let error = HttpEmbedder::new(server.settings()).unwrap().embed(&["x"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}/v1/embeddings: answered 500: out of memory", server.url)
    );
    assert_eq!(server.seen(), 4, "once and three times more");
}

#[test]
fn a_refusal_is_not_repeated_and_hides_the_key() {
    let server = Server::start(vec![Act::Say(401, "", format!("bad key {}", "x".repeat(10_000)))]);
    let mut settings = server.settings();
    settings.api_key = Some(ApiKey::new("k-123"));
    let error = HttpEmbedder::new(settings).unwrap().embed(&["x"]).unwrap_err().to_string();
    assert!(error.contains("answered 401: bad key xxx"), "{error}");
    assert!(error.len() < 400 && !error.contains("k-123"), "{error}");
    assert_eq!(server.seen(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::start(vec![Act::Embed(3)]);
    let location: &'static str =
        Box::leak(format!("Location: {}/v1/embeddings\r\n", other.url).into_boxed_str());
    let server = Server::start(vec![Act::Say(307, location, String::new())]);
    let error = HttpEmbedder::new(server.settings()).unwrap().embed(&["x"]).unwrap_err();
    assert!(matches!(error, EmbedError::Refused { status: 307, .. }), "{error}");
    assert_eq!(other.seen(), 0);
}

#[test]
fn an_odd_answer_is_named() {
    let vector = |index: usize| json!({"index": index, "embedding": [1.0, 2.0, 3.0]});
    let cases = [
        ("<html>".to_owned(), "expected value"),
        ("{}".to_owned(), "missing field `data`"),
        (json!({"data": []}).to_string(), "0 vectors for 2 texts"),
        (json!({"data": [vector(0), vector(0)]}).to_string(), "indices"),
        (json!({"data": [vector(0), vector(9)]}).to_string(), "indices"),
        (
            json!({"data": [vector(0), {"index": 1, "embedding": [1.0]}]}).to_string(),
            "a vector of 1 numbers, not 3",
        ),
        (
            json!({"data": [vector(0), {"index": 1, "embedding": "AAAA"}]}).to_string(),
            "invalid type",
        ),
    ];
    for (body, expected) in cases {
        let server = Server::start(vec![Act::Say(200, "", body)]);
        let error = HttpEmbedder::new(server.settings()).unwrap().embed(&["a", "b"]).unwrap_err();
        assert!(matches!(error, EmbedError::Answer { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(server.seen(), 1);
    }
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let server = Server::start(vec![Act::Late(Duration::from_secs(20))]);
    let mut settings = server.settings();
    settings.timeout = Duration::from_millis(200);
    let embedder = HttpEmbedder::new(settings).unwrap();
    let started = Instant::now();
    let error = embedder.embed(&["x"]).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(error.to_string(), format!("{}/v1/embeddings: no answer within 0.2 s", server.url));
}

#[test]
fn a_slow_server_is_waited_for() {
    let server = Server::start(vec![Act::Late(Duration::from_millis(150))]);
    assert!(HttpEmbedder::new(server.settings()).unwrap().embed(&["x"]).is_ok());
}

#[test]
fn nobody_there_is_said() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut settings = HttpSettings::new(format!("http://{address}"), "tiny");
    (settings.retries, settings.dims) = (1, Some(3));
    settings.backoff = Duration::from_millis(1);
    let error = HttpEmbedder::new(settings).unwrap().embed(&["x"]).unwrap_err();
    assert!(matches!(error, EmbedError::Unreachable { .. }), "{error}");
    assert!(matches!(
        HttpEmbedder::new(HttpSettings::new("nowhere", "m")),
        Err(EmbedError::Url { .. })
    ));
}
