//! Lines of bounded length out of a stream of bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

/// A line this long needs nothing of a [`LineBudget`].
const FREE_LINE_BYTES: usize = 64 << 10;
/// How much is read at once. Every agent of a host has two readers, so a larger buffer adds up.
const READ_BYTES: usize = 16 << 10;
/// In which steps a long line takes memory.
const LINE_STEP_BYTES: usize = 1 << 20;

/// Why no line came.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The line is longer than allowed. The rest of it is not read.
    #[error("a line is longer than {limit} bytes")]
    TooLong {
        /// The most a line may have.
        limit: usize,
    },
    /// The line is longer than a stranger's may be, and does not show who sends it.
    #[error("a line longer than {limit} bytes does not begin with the token")]
    NotAdmitted {
        /// The most a stranger's line may have.
        limit: usize,
    },
    /// Other readers hold all the memory there is for long lines.
    #[error("too many long lines at once; try again")]
    Busy,
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

/// The memory that several readers may use for long lines together.
#[derive(Debug)]
pub struct LineBudget {
    left: AtomicUsize,
}

impl LineBudget {
    /// A budget of this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { left: AtomicUsize::new(bytes) }
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = |left: usize| left.checked_sub(bytes);
        self.left.try_update(Ordering::SeqCst, Ordering::SeqCst, taken).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.left.fetch_add(bytes, Ordering::SeqCst);
    }
}

/// Reads lines; no line costs more memory than the limit.
#[derive(Debug)]
pub struct Frames<R> {
    inner: BufReader<R>,
    limit: usize,
    patience: Option<Duration>,
    line: Vec<u8>,
    budget: Option<Arc<LineBudget>>,
    /// What this reader has taken of the budget.
    taken: usize,
}

/// How much of a line is read before its sender is known.
#[derive(Clone, Copy)]
struct Admission<'a> {
    limit: usize,
    admits: &'a dyn Fn(&[u8]) -> bool,
}

impl<R> Drop for Frames<R> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<R> Frames<R> {
    fn give_back(&mut self) {
        if let Some(budget) = &self.budget {
            budget.give_back(std::mem::take(&mut self.taken));
        }
    }
}

impl<R: Read> Frames<R> {
    /// Lines of at most `limit` bytes.
    pub fn new(inner: R, limit: usize) -> Self {
        let inner = BufReader::with_capacity(READ_BYTES, inner);
        Self { inner, limit, patience: None, line: Vec::new(), budget: None, taken: 0 }
    }

    /// A line that was begun has to be finished in this time, however busily its bytes come in. The
    /// stream itself must not wait longer either: its own time-out is what is noticed.
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.set_patience(patience);
        self
    }

    /// As [`Frames::within`], from the next line on.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = Some(patience);
    }

    /// Long lines take their memory from a budget. What a line took is given back when the next one is
    /// read: until then its content may still be in use.
    #[must_use]
    pub fn sharing(mut self, budget: Arc<LineBudget>) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The next line without its line break; nothing at the end.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, FrameError> {
        self.read_line(None)
    }

    /// As [`Frames::next_line`], for a stranger: a line longer than `limit` is read on only if its
    /// beginning shows who sends it.
    pub fn next_line_of_stranger(
        &mut self,
        limit: usize,
        admits: &dyn Fn(&[u8]) -> bool,
    ) -> Result<Option<&[u8]>, FrameError> {
        self.read_line(Some(Admission { limit, admits }))
    }

    /// Frees the memory of the last line.
    pub fn forget_line(&mut self) {
        self.line = Vec::new();
    }

    fn read_line(
        &mut self,
        mut admission: Option<Admission<'_>>,
    ) -> Result<Option<&[u8]>, FrameError> {
        self.line.clear();
        // What a long line took is given back.
        self.line.shrink_to(FREE_LINE_BYTES);
        self.give_back();
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
            let length = self.line.len() + piece.len();
            if length > self.limit {
                self.inner.consume(used);
                return Err(FrameError::TooLong { limit: self.limit });
            }
            while length > FREE_LINE_BYTES + self.taken
                && let Some(budget) = &self.budget
            {
                if !budget.take(LINE_STEP_BYTES) {
                    return Err(FrameError::Busy);
                }
                self.taken += LINE_STEP_BYTES;
            }
            if length > self.line.capacity() {
                // Doubling would take more than the line is long.
                self.line.reserve_exact(piece.len().max(LINE_STEP_BYTES.min(length)));
            }
            self.line.extend_from_slice(piece);
            self.inner.consume(used);
            if let Some(Admission { limit, admits }) = admission
                && self.line.len() > limit
            {
                if !admits(&self.line) {
                    return Err(FrameError::NotAdmitted { limit });
                }
                admission = None;
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
    fn a_stranger_shows_who_it_is_before_a_long_line_is_read() {
        let admits = |line: &[u8]| line.starts_with(b"token");
        let read = |text: &str| {
            let mut frames = Frames::new(text.as_bytes(), 1 << 20);
            frames.next_line_of_stranger(100, &admits).map(|line| line.map(<[u8]>::len))
        };
        assert_eq!(read("short\n").unwrap(), Some(5));
        assert_eq!(read(&format!("token{}\n", "x".repeat(100_000))).unwrap(), Some(100_005));
        let long = format!("guess{}\n", "x".repeat(100_000));
        assert!(matches!(read(&long), Err(FrameError::NotAdmitted { limit: 100 })));
    }

    #[test]
    fn long_lines_share_a_budget() {
        let budget = Arc::new(LineBudget::new(4 << 20));
        let long = format!("{}\nshort\n", "x".repeat(3 << 20));
        let reader = || Frames::new(long.as_bytes(), 8 << 20).sharing(Arc::clone(&budget));
        let (mut first, mut second) = (reader(), reader());
        assert!(first.next_line().is_ok());
        assert!(matches!(second.next_line(), Err(FrameError::Busy)));
        first.forget_line();
        assert!(matches!(reader().next_line(), Err(FrameError::Busy)), "it is still in use");
        assert_eq!(first.next_line().unwrap(), Some(&b"short"[..]));
        assert!(reader().next_line().is_ok(), "what was taken is given back");
        assert!(reader().next_line().is_ok(), "also by a reader that is gone");
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
