//! Where a body ends: by its length, by its last chunk, or with the connection.

/// How a body is delimited, and how far it has been read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes are left.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// A reader of chunks, between two pieces of the body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    state: State,
    /// Bytes of the line that is being read, against lines without end.
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size {
        size: u64,
        digits: u8,
    },
    Extension {
        size: u64,
    },
    SizeEnd {
        size: u64,
    },
    Data {
        left: u64,
    },
    DataEnd {
        cr: bool,
    },
    /// In a line of the trailer; whether it has a byte yet.
    Trailer {
        empty: bool,
    },
    TrailerEnd {
        empty: bool,
    },
    Done,
}

/// The most bytes of the line before a chunk, and of a line of the trailer.
const MAX_LINE: usize = 16 << 10;

/// The body is not framed as its head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadChunk;

impl Framing {
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunks { state: State::Size { size: 0, digits: 0 }, line: 0 })
    }

    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunks) => chunks.state == State::Done,
            Self::UntilClose => false,
        }
    }

    /// Takes the bytes that belong to the body; gives how many do. `payload` gets those of the content.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        payload: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, BadChunk> {
        match self {
            Self::UntilClose => {
                payload(bytes);
                Ok(bytes.len())
            }
            Self::Length(left) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                payload(bytes.get(..count).unwrap_or_default());
                *left -= count as u64;
                Ok(count)
            }
            Self::Chunked(chunks) => chunks.take(bytes, payload),
        }
    }
}

impl Chunks {
    fn take(&mut self, bytes: &[u8], payload: &mut dyn FnMut(&[u8])) -> Result<usize, BadChunk> {
        let mut at = 0;
        while self.state != State::Done {
            let Some(&byte) = bytes.get(at) else { break };
            if let State::Data { left } = self.state {
                let rest = bytes.get(at..).unwrap_or_default();
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                payload(rest.get(..count).unwrap_or_default());
                at += count;
                let left = left - count as u64;
                self.state =
                    if left == 0 { State::DataEnd { cr: false } } else { State::Data { left } };
                continue;
            }
            self.state = self.after(byte)?;
            at += 1;
        }
        Ok(at)
    }

    /// The state after a byte that is not data.
    fn after(&mut self, byte: u8) -> Result<State, BadChunk> {
        self.line = if byte == b'\n' { 0 } else { self.line + 1 };
        if self.line > MAX_LINE {
            return Err(BadChunk);
        }
        Ok(match (self.state, byte) {
            (State::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                if digits >= 15 {
                    return Err(BadChunk);
                }
                State::Size { size: size * 16 + u64::from(digit), digits: digits + 1 }
            }
            (State::Size { digits: 0, .. }, _) => return Err(BadChunk),
            (State::Size { size, .. } | State::Extension { size }, b'\r') => {
                State::SizeEnd { size }
            }
            (State::Size { size, .. }, b';' | b' ' | b'\t') => State::Extension { size },
            (State::Extension { .. }, b'\n') => return Err(BadChunk),
            (State::Extension { size }, _) => State::Extension { size },
            (State::SizeEnd { size: 0 }, b'\n') => State::Trailer { empty: true },
            (State::SizeEnd { size }, b'\n') => State::Data { left: size },
            (State::DataEnd { cr: false }, b'\r') => State::DataEnd { cr: true },
            (State::DataEnd { cr: true }, b'\n') => State::Size { size: 0, digits: 0 },
            (State::Trailer { empty }, b'\r') => State::TrailerEnd { empty },
            (State::Trailer { .. }, b'\n') => return Err(BadChunk),
            (State::Trailer { .. }, _) => State::Trailer { empty: false },
            (State::TrailerEnd { empty: true }, b'\n') => State::Done,
            (State::TrailerEnd { empty: false }, b'\n') => State::Trailer { empty: true },
            _ => return Err(BadChunk),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a body in pieces of one size: its content, and how many bytes belong to it.
    fn read(bytes: &[u8], piece: usize) -> Result<(Vec<u8>, usize, bool), BadChunk> {
        let mut framing = Framing::chunked();
        let (mut content, mut taken) = (Vec::new(), 0);
        for piece in bytes.chunks(piece) {
            let count = framing.take(piece, &mut |part| content.extend_from_slice(part))?;
            taken += count;
            if count < piece.len() {
                break;
            }
        }
        Ok((content, taken, framing.is_done()))
    }

    #[test]
    fn chunks_are_the_same_however_they_are_cut() {
        let body = b"4;x=y\r\nWiki\r\nA \r\npedia in t\r\n0\r\nTrailer: 1\r\n\r\n";
        let mut with_next = body.to_vec();
        with_next.extend_from_slice(b"HTTP/1.1 200");
        for piece in 1..=with_next.len() {
            let (content, taken, done) = read(&with_next, piece).unwrap();
            assert_eq!(
                (content.as_slice(), taken, done),
                (&b"Wikipedia in t"[..], body.len(), true)
            );
        }
        assert_eq!(read(b"4\r\nWi", 9), Ok((b"Wi".to_vec(), 5, false)));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        let endless = [b"1;".as_slice(), &[b'a'; 20_000]].concat();
        for bad in [
            b"x\r\n".as_slice(),
            b"\r\n",
            b"4\nWiki",
            b"4\r\nWikiX",
            b"ffffffffffffffff\r\n",
            b"0\r\na\nb",
            &endless,
        ] {
            assert_eq!(read(bad, 7), Err(BadChunk), "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
