//! Pages, looked at in a real browser.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::{npm_package, skip};

/// A browser that takes longer hangs.
const MAX_TIME: Duration = Duration::from_secs(200);

/// Names a folder in which to leave pictures of every page.
const SCREENSHOTS: &str = "FOREWORD_TEST_SCREENSHOTS";

/// Opens a page in Chromium, in light and dark, on a narrow screen, with the keyboard and without
/// JavaScript, and returns what a person would notice as JSON (`browser/look.mjs`). Skips the test if
/// there is no browser.
pub fn look_at_page(page: &Path) -> Option<String> {
    let chromium = browser()?;
    npm_package("axe-core")?;
    let playwright = npm_package("playwright-core")?;
    let npm = playwright.parent()?.parent()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/look.mjs");
    let mut look = Command::new("node");
    look.arg(script).arg(npm).arg(chromium).arg(page);
    if let Some(folder) = std::env::var_os(SCREENSHOTS) {
        look.arg(Path::new(&folder).join(page.file_stem()?));
    }
    look.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match run(&mut look) {
        Ok((Some(status), answer, _)) if status.success() => Some(answer),
        Ok((_, _, complaints)) => panic!("cannot look at {}: {complaints}", page.display()),
        Err(error) => panic!("cannot look at {}: {error}", page.display()),
    }
}

/// Runs a command until it ends or hangs; its status and what it wrote.
fn run(command: &mut Command) -> io::Result<(Option<ExitStatus>, String, String)> {
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both are read while it runs, so that a long answer cannot block it.
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| read(stdout));
        let complaints = scope.spawn(|| read(stderr));
        let status = wait(&mut child)?;
        let text = |read: std::thread::Result<String>| read.unwrap_or_default();
        Ok((status, text(answer.join()), text(complaints.join())))
    })
}

/// Waits for a child, and kills it if it hangs. Its browser ends with the pipe between them.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + MAX_TIME;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn read(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|directory| ["chromium", "chromium-browser"].map(|name| directory.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        skip("chromium", "not installed; `cargo xtask test` installs it");
    }
    found
}
