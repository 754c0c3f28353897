//! Lines of bounded length out of a stream of bytes.

use std::io::{self, BufRead, BufReader, Read};

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
    #[error("nothing came")]
    Idle,
    /// A line was begun and not finished in time.
    #[error("a line was begun and not finished in time")]
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
    line: Vec<u8>,
}

impl<R: Read> Frames<R> {
    /// Lines of at most `limit` bytes.
    pub fn new(inner: R, limit: usize) -> Self {
        Self { inner: BufReader::with_capacity(64 << 10, inner), limit, line: Vec::new() }
    }

    /// The next line without its line break; nothing at the end.
    ///
    /// # Errors
    ///
    /// If a line is too long, cut off, or the stream fails.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FrameError> {
        self.line.clear();
        // What a long line took is given back.
        self.line.shrink_to(64 << 10);
        let most = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        let read = match (&mut self.inner).take(most).read_until(b'\n', &mut self.line) {
            Ok(read) => read,
            Err(error) if is_timeout(&error) => {
                return Err(if self.line.is_empty() { FrameError::Idle } else { FrameError::Slow });
            }
            Err(error) => return Err(error.into()),
        };
        if read == 0 {
            return Ok(None);
        }
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            return Err(if self.line.len() > self.limit {
                FrameError::TooLong { limit: self.limit }
            } else {
                FrameError::Truncated
            });
        }
        self.line.pop_if(|last| *last == b'\r');
        Ok(Some(&self.line))
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
}
