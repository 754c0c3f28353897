//! Lines of bounded length out of a stream of bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use thiserror::Error;

/// Why no line came.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The line is longer than allowed. The rest of it is not read.
    #[error("a line is longer than {limit} bytes")]
    TooLong {
        /// The most a line may have.
        limit: usize,
    },
    /// The stream ended in the middle of a line.
    #[error("the stream ended in the middle of a line")]
    Truncated,
    /// Nothing came for as long as the stream may be waited for; there may still be more.
    #[error("no data arrived in time")]
    Idle,
    /// A line was begun and not finished in time.
    #[error("a line was not completed in time")]
    Slow,
    /// The stream failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads lines; no line costs more memory than the limit.
#[derive(Debug)]
pub struct Frames<R> {
    inner: BufReader<R>,
    limit: usize,
    patience: Option<Duration>,
    line: Vec<u8>,
}

impl<R: Read> Frames<R> {
    /// Lines of at most `limit` bytes.
    pub fn new(inner: R, limit: usize) -> Self {
        let inner = BufReader::with_capacity(64 << 10, inner);
        Self { inner, limit, patience: None, line: Vec::new() }
    }

    /// A line that was begun has to be finished in this time, however busily its bytes come in. The
    /// stream itself must not wait longer either: its own time-out is what is noticed.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// The next line without its line break; nothing at the end.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FrameError> {
        self.line.clear();
        // What a long line took is given back.
        self.line.shrink_to(64 << 10);
        let mut begun = None;
        loop {
            let bytes = match self.inner.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_timeout(&error) => {
                    let nothing = self.line.is_empty();
                    return Err(if nothing { FrameError::Idle } else { FrameError::Slow });
                }
                Err(error) => return Err(error.into()),
            };
            if bytes.is_empty() {
                return if self.line.is_empty() { Ok(None) } else { Err(FrameError::Truncated) };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let used = piece.len() + usize::from(end.is_some());
            let fits = self.line.len() + piece.len() <= self.limit;
            if fits {
                self.line.extend_from_slice(piece);
            }
            self.inner.consume(used);
            if !fits {
                return Err(FrameError::TooLong { limit: self.limit });
            }
            if end.is_some() {
                self.line.pop_if(|last| *last == b'\r');
                return Ok(Some(&self.line));
            }
            if let Some(patience) = self.patience
                && begun.get_or_insert_with(Instant::now).elapsed() > patience
            {
                return Err(FrameError::Slow);
            }
        }
    }

    /// Whether bytes of a next line are already here.
    pub fn has_more(&self) -> bool {
        !self.inner.buffer().is_empty()
    }

    /// The stream itself.
    pub fn get_ref(&self) -> &R {
        self.inner.get_ref()
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_whole() {
        let mut frames = Frames::new(&b"one\r\n\ntwo\n"[..], 4);
        assert_eq!(frames.next_line().unwrap(), Some(&b"one"[..]));
        assert_eq!(frames.next_line().unwrap(), Some(&b""[..]));
        assert_eq!(frames.next_line().unwrap(), Some(&b"two"[..]));
        assert_eq!(frames.next_line().unwrap(), None);

        let long = Frames::new(&b"12345\n"[..], 4).next_line().map(|_| ()).unwrap_err();
        assert!(matches!(long, FrameError::TooLong { limit: 4 }));
        let exact = Frames::new(&b"1234\n"[..], 4).next_line().map(|line| line.map(<[u8]>::len));
        assert_eq!(exact.unwrap(), Some(4));
        let cut = Frames::new(&b"123"[..], 4).next_line().map(|_| ()).unwrap_err();
        assert!(matches!(cut, FrameError::Truncated));
    }

    #[test]
    fn a_line_that_drips_is_too_slow() {
        struct Drip;
        impl Read for Drip {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                std::thread::sleep(Duration::from_millis(2));
                buffer[0] = b'x';
                Ok(1)
            }
        }
        let mut frames = Frames::new(Drip, 1 << 20).within(Duration::from_millis(50));
        assert!(matches!(frames.next_line(), Err(FrameError::Slow)));
    }
}
