//! Whatever comes in on a session's socket, the host answers or hangs up, and stays up.

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::support::{Line, World, call, status};
use foreword_protocol::{Action, Client, ClientError, ErrorCode, ModelCall, Nothing};
use serde_json::json;

#[test]
fn what_is_no_call_is_refused_and_the_connection_goes_on() {
    let world = World::new("");
    let socket = world.socket("s");
    let token = socket.token();
    let mut line = Line::to(&socket.path());
    let with = |rest: &str| format!("{{\"id\":1,\"token\":\"{token}\",{rest}}}");
    for (bytes, expected) in [
        (Vec::new(), "bad_request"),
        (b"\0\x01\x02".to_vec(), "bad_request"),
        (b"\xff\xfe\xfd".to_vec(), "bad_request"),
        (b"{".to_vec(), "bad_request"),
        (b"[]".to_vec(), "bad_request"),
        (b"null".to_vec(), "bad_request"),
        ("[".repeat(4000).into_bytes(), "bad_request"),
        (br#"{"id":1,"action":"session_status"}"#.to_vec(), "bad_request"),
        (with(r#""action":"session_statu""#).into(), "unknown_action"),
        (with(r#""action":"rm -rf /""#).into(), "unknown_action"),
        (with(r#""action":"session_status","more":1"#).into(), "bad_request"),
        (with(r#""action":"session_status","args":{"more":1}"#).into(), "bad_request"),
        (with(r#""action":"session_status","args":[]"#).into(), "bad_request"),
        (with(r#""action":"skill_read","args":{"name":7}"#).into(), "bad_request"),
        (with(r#""action":"session_status","id":2"#).into(), "bad_request"),
        (call(1, token, "web_fetch", &json!({"url": "http://a"})).into(), "refused"),
    ] {
        assert_eq!(line.code(&bytes), expected, "{}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(line.code(status(2, token)), "");
    world.eventually("every one is on record", |world| world.rejected().len() == 15);
}

#[test]
fn a_wrong_token_says_nothing_and_ends_the_connection() {
    let world = World::new("");
    let (socket, other) = (world.socket("one"), world.socket("two"));
    for line in [
        status(1, ""),
        status(1, "0"),
        status(1, other.token()),
        status(1, &socket.token().to_uppercase()),
        // What else is wrong is not said.
        call(1, "guess", "no_such_action", &json!({})),
    ] {
        let mut connection = Line::to(&socket.path());
        assert_eq!(connection.code(&line), "bad_token", "{line}");
        assert!(connection.is_closed(), "{line}");
    }
    assert_eq!(Line::to(&socket.path()).code(status(1, socket.token())), "");
    assert_eq!(Line::to(&other.path()).code(status(1, other.token())), "");
    world.eventually("each is on record", |world| world.rejected() == ["bad_token"; 5]);
}

#[test]
fn an_id_is_used_once() {
    let world = World::new("");
    let socket = world.socket("s");
    let mut line = Line::to(&socket.path());
    for (id, expected) in
        [(5, ""), (5, "replayed_id"), (4, "replayed_id"), (0, "replayed_id"), (6, "")]
    {
        assert_eq!(line.code(status(id, socket.token())), expected, "{id}");
    }
    assert_eq!(line.code(status(u64::MAX, socket.token())), "");
    assert_eq!(line.code(status(u64::MAX, socket.token())), "replayed_id");
}

#[test]
fn a_call_is_bounded() {
    let world = World::new("");
    let socket = world.socket("s");
    let mut line = Line::to(&socket.path());
    let large = json!({"event": "x".repeat(1 << 20)});
    assert_eq!(line.code(status(0, socket.token())), "");
    assert_eq!(line.code(call(1, socket.token(), "audit_report", &large)), "too_large");
    assert_eq!(line.code(status(2, socket.token())), "");
    // A line without end is not even kept.
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..40 {
        if line.stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let reply = line.reply();
    assert_eq!(reply["error"]["code"], "too_large", "{reply}");
    assert!(line.is_closed());
    assert_eq!(Line::to(&socket.path()).code(status(1, socket.token())), "");
}

/// The memory of this process, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

#[test]
fn a_stranger_cannot_make_the_host_remember_long_lines() {
    let world = World::new("calls_per_second = 100000");
    let socket = world.socket("s");
    let before = memory();
    // A long line with a wrong token at its beginning, at its end, and without one.
    let starts = ["{\"id\":1,\"token\":\"guess\",\"action\":\"", "{\"action\":\"", ""];
    let chunk = vec![b'x'; 1 << 20];
    let mut lines: Vec<Line> = (0..30).map(|_| Line::to(&socket.path())).collect();
    for (line, start) in lines.iter_mut().zip(starts.iter().cycle()) {
        let _ = line.stream.write_all(start.as_bytes());
    }
    for _ in 0..31 {
        for line in &mut lines {
            let _ = line.stream.write_all(&chunk);
        }
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 50 << 20, "{grown} bytes");
    for line in &mut lines {
        assert_eq!(line.reply()["error"]["code"], "bad_token");
        assert!(line.is_closed());
    }
    // Whoever shows the token first may send a long line at once.
    let body = json!({"model": "m", "messages": ["x".repeat(2 << 20)]}).to_string();
    let mut client = Client::connect(&socket.path(), socket.token()).unwrap();
    let call = Action::ModelCall(ModelCall::new("/v1/messages", body).unwrap());
    assert!(matches!(client.call(call), Err(ClientError::Failed(failure))
        if failure.code != ErrorCode::BadToken && failure.code != ErrorCode::TooLarge));
    // And whoever says nothing at all is not waited for.
    let mut silent = Line::to(&socket.path());
    let since = Instant::now();
    assert!(silent.is_closed());
    assert!(since.elapsed() < Duration::from_secs(9), "{:?}", since.elapsed());
}

#[test]
fn half_a_line_is_not_waited_for_and_whoever_does_not_read_is_left() {
    let world = World::new("calls_per_second = 1000000");
    let socket = world.socket("s");
    let mut cut = Line::to(&socket.path());
    cut.stream.write_all(b"{\"id\":1,").unwrap();
    drop(cut);
    world.eventually("a cut line is on record", |world| world.rejected() == ["bad_request"]);

    let (path, token) = (socket.path(), socket.token().to_owned());
    let began = Instant::now();
    std::thread::scope(|scope| {
        let deaf = scope.spawn(|| {
            // Replies pile up until the host waits no longer.
            let line = Line::to(&path);
            line.stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
            let mut out = &line.stream;
            (1..).find(|id| writeln!(out, "{}", status(*id, &token)).is_err())
        });
        let drip = scope.spawn(|| {
            let mut line = Line::to(&path);
            while line.stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(100));
                if began.elapsed() > Duration::from_secs(25) {
                    panic!("the line may drip for ever");
                }
            }
            line.reply()
        });
        let mut half = Line::to(&path);
        half.stream.write_all(b"{\"id\":1,\"tok").unwrap();
        let reply = half.reply();
        assert_eq!(reply["error"]["code"], "timed_out", "{reply}");
        assert!(half.is_closed());
        assert_eq!(drip.join().unwrap()["error"]["code"], "timed_out");
        assert!(deaf.join().unwrap().is_some());
    });
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    assert_eq!(Line::to(&socket.path()).code(status(1, socket.token())), "");
}

#[test]
fn a_flood_is_slowed_down_and_the_host_stays_up() {
    let world = World::new("calls_per_second = 50");
    let socket = world.socket("s");
    let mut flood = Line::to(&socket.path());
    let (mut served, mut refused) = (0, 0);
    for id in 1..=300 {
        match flood.code(status(id, socket.token())).as_str() {
            "" => served += 1,
            "rate_limited" => refused += 1,
            other => panic!("{other}"),
        }
    }
    // 300 calls take at least a second and a half, because being refused takes its time.
    assert!(served >= 100 && served + refused == 300 && refused > 50, "{served} {refused}");
    // Lines that are no calls are no way around it, and end the connection.
    let mut junk = Line::to(&socket.path());
    let mut out = junk.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        (0..1000).take_while(|_| out.write_all(b"junk\n").is_ok()).count()
    });
    assert_eq!(junk.replies_until_the_end(), 200);
    writer.join().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(flood.code(status(1000, socket.token())), "");
    let on_record = world.rejected().len();
    assert!((1..200).contains(&on_record), "a flood must not fill the log: {on_record}");
}

#[test]
fn a_hundred_connections_are_too_many_and_those_that_ended_are_forgotten() {
    let world = World::new("calls_per_second = 100000");
    let socket = world.socket("s");
    let token = socket.token();
    let mut served = 0;
    let mut lines: Vec<Line> = (0..100).map(|_| Line::to(&socket.path())).collect();
    for line in &mut lines {
        // Whoever is refused may be told before they can ask.
        let _ = writeln!(line.stream, "{}", status(1, token));
        let reply = line.reply();
        match reply["error"]["code"].as_str() {
            None => served += 1,
            Some(code) => assert_eq!(code, "limit", "{reply}"),
        }
    }
    assert_eq!(served, 32);
    drop(lines);
    let handles = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let ask = || {
        for _ in 0..100 {
            let mut line = Line::to(&socket.path());
            let _ = writeln!(line.stream, "{}", status(1, token));
            if line.reply()["result"].is_object() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no connection is free again");
    };
    ask();
    let before = handles();
    (0..300).for_each(|_| ask());
    // Other tests of this process have handles too.
    assert!(handles() < before + 150, "{} handles, {before} before", handles());
}

#[test]
fn a_call_of_the_model_carries_the_prompt() {
    let world = World::new("");
    let socket = world.socket("s");
    let mut client = Client::connect(&socket.path(), socket.token()).unwrap();
    let mut ask = |system: &str, path: &str| {
        let body = json!({"model": "test-model", "system": system, "messages": []}).to_string();
        let call = ModelCall::new(path, body).unwrap();
        match client.call(Action::ModelCall(call)) {
            Ok(result) => Ok(result["status"].as_u64().unwrap()),
            Err(ClientError::Failed(failure)) => Err(failure.code),
            Err(error) => panic!("{error}"),
        }
    };
    let asked = world.model.calls.load(Ordering::SeqCst);
    let system = socket.system();
    assert_eq!(ask("You are free.", "/v1/messages"), Err(ErrorCode::Refused));
    assert_eq!(ask(&system[..system.len() - 1], "/v1/messages"), Err(ErrorCode::Refused));
    assert_eq!(ask(&system.to_uppercase(), "/v1/messages"), Err(ErrorCode::Refused));
    assert_eq!(ask(system, "/v1/models"), Err(ErrorCode::Refused));
    let more = format!("{system}\nBe brief.");
    assert_eq!(ask(&more, "/v1/messages"), Err(ErrorCode::Refused), "our own loop adds nothing");
    assert_eq!(world.model.calls.load(Ordering::SeqCst), asked, "nobody was called");
    assert_eq!(ask(system, "/v1/messages?beta=true"), Ok(200));
    let status = client.call(Action::SessionStatus(Nothing {})).unwrap();
    assert_eq!(status["session"], "s");
}

#[test]
fn nothing_is_left_of_a_socket() {
    let world = World::new("");
    let socket = world.socket("s");
    let path = socket.path();
    let mut line = Line::to(&path);
    assert_eq!(line.code(status(1, socket.token())), "");
    assert_eq!(world.run_dirs(), 1);
    drop(socket);
    assert!(line.is_closed());
    assert_eq!(world.run_dirs(), 0);
    assert!(!path.exists());
}
