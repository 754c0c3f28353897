//! Tar archives that depend only on what is in them: the same files give the same bytes on every machine.
//!
//! Names are sorted, times, owners and modes fixed, and the gzip header says nothing about who packed it
//! or when. Neither `tar` of macOS nor `gzip` everywhere can be told to do all of this.

use std::collections::BTreeMap;
use std::path::Path;

use miniz_oxide::deflate::compress_to_vec;

use crate::error::TaskError;

const BLOCK: usize = 512;
/// When everything in an archive was changed: 2020-01-01. Zero would look like a mistake to some programs.
const MTIME: u64 = 1_577_836_800;
/// The fields of a header that holds a name: 100 bytes, and a prefix of 155 in front of it.
const MAX_NAME: usize = 100;

/// The files of an archive.
#[derive(Default)]
pub(crate) struct Archive {
    files: BTreeMap<String, (Vec<u8>, Mode)>,
}

/// Whether a file can be run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Program,
    Plain,
}

impl Archive {
    /// Adds a file; the name has `/` between its parts.
    pub(crate) fn add(&mut self, name: impl Into<String>, content: Vec<u8>, mode: Mode) {
        self.files.insert(name.into(), (content, mode));
    }

    /// Adds a file of this machine.
    pub(crate) fn add_file(
        &mut self,
        name: impl Into<String>,
        from: &Path,
        mode: Mode,
    ) -> Result<(), TaskError> {
        let content = std::fs::read(from).map_err(TaskError::io(from.display().to_string()))?;
        self.add(name, content, mode);
        Ok(())
    }

    /// The archive, below one directory, compressed: level 1 is fast, level 9 small.
    pub(crate) fn gzip(&self, directory: &str, level: u8) -> Result<Vec<u8>, TaskError> {
        let mut tar = Vec::new();
        for (name, (content, mode)) in &self.files {
            let name = format!("{directory}/{name}");
            tar.extend(header(&name, content.len(), *mode)?);
            tar.extend(content);
            tar.resize(tar.len().next_multiple_of(BLOCK), 0);
        }
        tar.resize(tar.len() + 2 * BLOCK, 0);
        Ok(gzip(&tar, level))
    }
}

/// A header in the format of POSIX.1-1988 (`ustar`), which every tar reads.
fn header(name: &str, length: usize, mode: Mode) -> Result<Vec<u8>, TaskError> {
    if name.len() > MAX_NAME || !name.is_ascii() {
        return Err(TaskError::usage(format!("`{name}` is too long a name for an archive")));
    }
    let mode = if mode == Mode::Program { 0o755 } else { 0o644 };
    let render = |checksum: &str| {
        let mut block = Vec::with_capacity(BLOCK);
        let mut field = |text: &str, width: usize| {
            let end = block.len() + width;
            block.extend(text.bytes());
            block.resize(end, 0);
        };
        field(name, 100);
        field(&format!("{mode:07o}"), 8);
        field("0000000", 8);
        field("0000000", 8);
        field(&format!("{length:011o}"), 12);
        field(&format!("{MTIME:011o}"), 12);
        field(checksum, 8);
        field("0", 1);
        field("", 100);
        field("ustar\u{0}00", 8);
        field("root", 32);
        field("root", 32);
        field("0000000", 8);
        field("0000000", 8);
        field("", 167);
        block
    };
    // The checksum is computed as if its own field held spaces.
    let sum: u32 = render("        ").into_iter().map(u32::from).sum();
    Ok(render(&format!("{sum:06o}\u{0} ")))
}

/// A gzip file without name, time and operating system.
fn gzip(content: &[u8], level: u8) -> Vec<u8> {
    let mut file = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255];
    file.extend(compress_to_vec(content, level));
    file.extend(crc32(content).to_le_bytes());
    file.extend((content.len() as u32).to_le_bytes());
    file
}

/// The checksum of gzip (reflected, polynomial 0x04C11DB7), with a table of 256 entries.
fn crc32(content: &[u8]) -> u32 {
    let entry = |byte: u32| {
        (0..8).fold(byte, |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 })
    };
    let table: Vec<u32> = (0..256).map(entry).collect();
    !content.iter().fold(!0, |crc: u32, byte| {
        let index = (crc ^ u32::from(*byte)) & 0xFF;
        table.get(index as usize).copied().unwrap_or_default() ^ (crc >> 8)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::{Command, Stdio};

    use super::*;

    fn sample() -> Archive {
        let mut archive = Archive::default();
        archive.add("z.txt", b"last".to_vec(), Mode::Plain);
        archive.add("bin/run", vec![b'#'; 1000], Mode::Program);
        archive.add("empty", Vec::new(), Mode::Plain);
        archive
    }

    #[test]
    fn the_same_files_give_the_same_bytes_in_any_order() {
        let mut other = Archive::default();
        other.add("empty", Vec::new(), Mode::Plain);
        other.add("bin/run", vec![b'#'; 1000], Mode::Program);
        other.add("z.txt", b"last".to_vec(), Mode::Plain);
        let bytes = sample().gzip("x-1.0", 9).unwrap();
        assert!(bytes == other.gzip("x-1.0", 9).unwrap());
        other.add("z.txt", b"Last".to_vec(), Mode::Plain);
        assert!(bytes != other.gzip("x-1.0", 9).unwrap());
    }

    #[test]
    fn tar_reads_the_archive() {
        let directory =
            std::env::temp_dir().join(format!("foreword-archive-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("sample.tar.gz");
        std::fs::write(&file, sample().gzip("x-1.0", 9).unwrap()).unwrap();
        let mut tar = Command::new("tar");
        let unpacked =
            tar.arg("-C").arg(&directory).arg("-xzf").arg(&file).stderr(Stdio::inherit()).status();
        assert!(unpacked.unwrap().success());
        let read = |name: &str| std::fs::read(directory.join("x-1.0").join(name)).unwrap();
        assert_eq!(read("z.txt"), b"last");
        assert_eq!(read("bin/run"), vec![b'#'; 1000]);
        assert_eq!(read("empty"), b"");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |name: &str| {
                let about = std::fs::metadata(directory.join("x-1.0").join(name)).unwrap();
                about.permissions().mode() & 0o111
            };
            assert!(mode("bin/run") != 0 && mode("z.txt") == 0);
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_checksum_is_that_of_gzip() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_name_that_does_not_fit_is_an_error() {
        let mut archive = Archive::default();
        archive.add("a".repeat(100), Vec::new(), Mode::Plain);
        assert!(archive.gzip("x", 9).is_err());
    }
}
