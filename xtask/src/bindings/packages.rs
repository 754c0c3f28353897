//! Packages of another language in a folder of their own, installed once for a list of names.

use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::steps::{Steps, target};

pub(super) struct Packages {
    pub(super) folder: &'static str,
    pub(super) names: &'static [&'static str],
}

impl Packages {
    pub(super) fn is_installed(&self) -> bool {
        std::fs::read_to_string(self.record()).is_ok_and(|text| text == self.names.join("\n"))
    }

    /// The folder, after `install` has put the packages there unless they are there.
    pub(super) fn install(
        &self,
        steps: &mut Steps,
        install: impl FnOnce(&mut Steps, &Path) -> Result<(), TaskError>,
    ) -> Result<PathBuf, TaskError> {
        let path = self.path();
        if !self.is_installed() {
            let failed = || TaskError::io(path.display().to_string());
            std::fs::create_dir_all(&path).map_err(failed())?;
            install(steps, &path)?;
            steps.verdict()?;
            std::fs::write(self.record(), self.names.join("\n")).map_err(failed())?;
        }
        Ok(path)
    }

    fn path(&self) -> PathBuf {
        target().join("tools").join(self.folder)
    }

    /// The file whose text says what was installed.
    fn record(&self) -> PathBuf {
        self.path().join("installed")
    }
}
