//! The last words of a program: what it wrote to standard error, within a bound.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Reads a stream on a thread of its own and keeps its end.
#[derive(Debug)]
pub(crate) struct KeptOutput {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl KeptOutput {
    /// Keeps at most so many bytes of a stream.
    pub(crate) fn of(mut stream: impl Read + Send + 'static, most: usize) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&kept);
        let read_all = move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let mut kept = written.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(buffer.get(..read).unwrap_or_default());
                let extra = kept.len().saturating_sub(most);
                kept.drain(..extra);
            }
        };
        let reader = thread::Builder::new().name("foreword-stderr".to_owned()).spawn(read_all)?;
        Ok(Self { kept, reader })
    }

    /// What was written so far. Waits for the end of the stream for a while: a program that has ended may
    /// not have been read yet, and one that it started may never close the stream.
    pub(crate) fn text(&self, patience: Duration) -> String {
        let since = Instant::now();
        while !self.reader.is_finished() && since.elapsed() < patience {
            thread::sleep(Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Slow(Vec<&'static [u8]>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            thread::sleep(Duration::from_millis(30));
            let piece = self.0.pop().unwrap_or_default();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn the_end_of_a_slow_stream_is_kept() {
        let output = KeptOutput::of(Slow(vec![b" library", b"no such"]), 11).unwrap();
        assert_eq!(output.text(Duration::from_secs(10)), "uch library");
    }

    #[test]
    fn a_stream_that_never_ends_is_not_waited_for() {
        let output = KeptOutput::of(io::repeat(b'x'), 8).unwrap();
        assert!(output.text(Duration::from_millis(50)).len() <= 8);
    }
}
