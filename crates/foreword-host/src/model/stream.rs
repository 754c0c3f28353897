//! Streaming a model's answer to the agent.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Instant;

use foreword_protocol::{ErrorCode, Failure, StreamPart, UsageReader, Utf8Pieces};

use crate::model::proxy::{Answer, AnswerUsage, Sink, TICK, cancelled, content_type, gone};
use crate::model::upstream::Upstream;
use crate::turn::agent_tree::AgentTree;

const MAX_ANSWER_BYTES: usize = 64 << 20;
const PIECE_BYTES: usize = 16 << 10;
/// Pieces that may wait for a slow agent.
const MAX_WAITING_PIECES: usize = 16;

type Piece = io::Result<Vec<u8>>;

/// Passes an answer on, piece by piece.
pub(super) fn forward(
    upstream: &Upstream,
    response: Answer,
    tree: &AgentTree,
    sink: Sink<'_>,
    used: &mut AnswerUsage,
) -> Result<u16, Failure> {
    used.answered = true;
    let mut usage = UsageReader::new(upstream.provider);
    let status = pass_on(upstream, response, tree, sink, &mut usage, &mut used.bytes);
    used.reported = usage.finish();
    status
}

fn pass_on(
    upstream: &Upstream,
    response: Answer,
    tree: &AgentTree,
    sink: Sink<'_>,
    usage: &mut UsageReader,
    total: &mut usize,
) -> Result<u16, Failure> {
    let status = response.status().as_u16();
    sink(StreamPart::Head { status, content_type: content_type(&response) }).map_err(gone)?;
    let pieces = read_pieces(response)?;
    let mut text = Utf8Pieces::default();
    let mut last_piece = Instant::now();
    loop {
        match pieces.recv_timeout(TICK) {
            Ok(Ok(piece)) => {
                last_piece = Instant::now();
                *total = total.saturating_add(piece.len());
                if *total > MAX_ANSWER_BYTES {
                    return Err(broken(&format!("it is longer than {MAX_ANSWER_BYTES} bytes")));
                }
                usage.push(&piece);
                let piece = text.push(&piece);
                if !piece.is_empty() {
                    sink(StreamPart::Data(piece)).map_err(gone)?;
                }
            }
            Ok(Err(error)) => return Err(broken(&error.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                tree.check().map_err(|_| cancelled())?;
                if last_piece.elapsed() > upstream.timeout {
                    let seconds = upstream.timeout.as_secs();
                    return Err(Failure::new(
                        ErrorCode::TimedOut,
                        format!(
                            "the model server sent nothing for {seconds} s in the middle of its answer"
                        ),
                    ));
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let rest = text.finish();
    if !rest.is_empty() {
        sink(StreamPart::Data(rest)).map_err(gone)?;
    }
    Ok(status)
}

/// Reads an answer on its own thread, so that a server that stops in the middle is noticed.
fn read_pieces(response: Answer) -> Result<Receiver<Piece>, Failure> {
    let (sender, pieces) = mpsc::sync_channel(MAX_WAITING_PIECES);
    let mut reader = response.into_body().into_reader();
    let read = move || send_pieces(&mut reader, &sender);
    let spawned = thread::Builder::new().name("foreword-model".to_owned()).spawn(read);
    spawned.map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?;
    Ok(pieces)
}

fn send_pieces(reader: &mut dyn io::Read, sender: &SyncSender<Piece>) {
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let piece = match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => Ok(buffer.get(..read).unwrap_or_default().to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = piece.is_err();
        if sender.send(piece).is_err() || failed {
            return;
        }
    }
}

fn broken(reason: &str) -> Failure {
    Failure::new(ErrorCode::Unavailable, format!("the model's answer broke off: {reason}"))
}
