//! `.foreword/`: state and private layers, kept from the eyes of other agents.

/// The folder of state and private layers.
pub const PRIVATE_DIR: &str = ".foreword";

/// The text of `.foreword/.gitignore`: nothing in the folder is committed.
pub const PRIVATE_GITIGNORE: &str = include_str!("text/private-gitignore");

/// The text of `.foreword/README.md`: a warning that tells other agents to keep out.
pub const PRIVATE_README: &str = include_str!("text/private-readme.md");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_ignores_itself_and_warns() {
        assert_eq!(PRIVATE_GITIGNORE, "*\n");
        assert!(PRIVATE_README.contains("Do not read"));
        assert!(PRIVATE_README.contains("AI agent"));
    }
}
