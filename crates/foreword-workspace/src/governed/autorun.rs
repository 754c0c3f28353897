//! Files of a project that run: on their own, or when somebody calls them.
//!
//! This is the one list. An agent may write these files, unlike the ones that instruct the model. What
//! runs *on its own* (a hook, an editor's settings, a shell's start-up file) would act on the person's
//! machine without another word, so the host puts the old version back after a turn and asks. What
//! runs *when called* (a Makefile, a test) stays and is named, unless the turn held external content.
//!
//! A pattern counts in every directory and ignores the case of ASCII letters, because some file
//! systems do. `name` is a file, `dir/name` a file in such a directory, `dir/` everything below it,
//! a star in a name stands for anything.

use std::collections::HashMap;
use std::sync::OnceLock;

/// When a file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    /// As soon as a person opens the project, changes into it or uses git there.
    OnItsOwn,
    /// When a person or a service builds, tests or starts the project.
    WhenCalled,
}

/// A kind of file that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutorunRule {
    /// Which files; see the top of this module.
    pub pattern: &'static str,
    /// When they run.
    pub runs: Runs,
    /// What runs or reads them.
    pub by: &'static str,
}

macro_rules! rules {
    ($($runs:ident by $by:literal: $($pattern:literal)+;)+) => {
        &[$($(AutorunRule { pattern: $pattern, runs: Runs::$runs, by: $by },)+)+]
    };
}

/// Every kind of file that runs.
pub const AUTORUN: &[AutorunRule] = rules! {
    OnItsOwn by "git":
        ".gitattributes" ".gitmodules" ".gitconfig" ".githooks/" ".husky/" ".pre-commit-config.yaml"
        ".pre-commit-config.yml" ".lefthook.yml" ".lefthook.yaml" ".lefthook.toml" ".lefthook.json"
        "lefthook.yml" "lefthook.yaml" "lefthook.toml" "lefthook.json" "lefthook-local.yml"
        ".lefthook-local.yml" ".lefthook/" ".lefthook-local/" ".overcommit.yml" ".huskyrc"
        ".huskyrc.json" ".huskyrc.js" ".simple-git-hooks.json" ".simple-git-hooks.cjs"
        ".simple-git-hooks.js" "simple-git-hooks.json" "simple-git-hooks.cjs" "simple-git-hooks.js";
    OnItsOwn by "Mercurial or Jujutsu": ".hg/hgrc" ".hgsub" ".jj/repo/config.toml";
    OnItsOwn by "a coding agent":
        ".claude/" ".mcp.json" "CLAUDE.local.md" "GEMINI.md" "QWEN.md" "WARP.md" ".cursorrules"
        ".cursor/" ".cursorignore" ".windsurfrules" ".windsurf/" ".clinerules" ".clinerules/"
        ".roorules" ".roomodes" ".roo/" ".rules" ".goosehints" ".aider.conf.yml" ".codex/"
        ".gemini/" ".qwen/" ".opencode/" "opencode.json" "opencode.jsonc" ".continue/" ".continuerc.json"
        ".kiro/" ".amazonq/" ".junie/" ".augment/" ".augment-guidelines" ".trae/" ".kilocode/"
        ".factory/" ".agents/" ".pi/" ".github/copilot-instructions.md" ".github/instructions/"
        ".github/prompts/" ".github/chatmodes/" ".github/agents/" ".github/hooks/";
    OnItsOwn by "an editor":
        ".vscode/tasks.json" ".vscode/settings.json" ".vscode/launch.json" ".vscode/mcp.json"
        "*.code-workspace" ".idea/runConfigurations/"
        ".idea/watcherTasks.xml" ".idea/startup.xml" ".idea/externalDependencies.xml" ".run/" ".zed/"
        ".fleet/" ".helix/" ".exrc" ".vimrc" ".gvimrc" ".lvimrc" ".nvimrc" ".nvim.lua" ".dir-locals.el"
        ".dir-locals-2.el";
    OnItsOwn by "a development container": ".devcontainer/" ".devcontainer.json" ".gitpod.yml";
    OnItsOwn by "the shell":
        ".envrc" ".direnvrc" ".bashrc" ".bash_profile" ".bash_login" ".bash_logout" ".bash_aliases"
        ".profile" ".zshrc" ".zshenv" ".zprofile" ".zlogin" ".zlogout" ".kshrc" ".cshrc" ".tcshrc"
        ".login" ".logout" ".inputrc" ".config/fish/" ".config/direnv/" ".tool-versions" "mise.toml"
        "mise.local.toml" ".mise.toml" ".mise.local.toml" ".mise/" ".config/mise/"
        ".config/mise.toml" ".autoenv.zsh" ".autoenv_leave.zsh";
    OnItsOwn by "cargo or rustup":
        ".cargo/config.toml" ".cargo/config" "rust-toolchain" "rust-toolchain.toml";
    OnItsOwn by "npm, yarn, pnpm or bun":
        ".npmrc" ".yarnrc" ".yarnrc.yml" ".yarn/plugins/" ".yarn/releases/" ".pnpmfile.cjs"
        ".pnpmfile.mjs" "pnpmfile.js" "bunfig.toml";
    OnItsOwn by "Python": "*.pth" "sitecustomize.py" "usercustomize.py" ".pdbrc" ".pythonrc.py";
    OnItsOwn by "an interpreter or debugger":
        ".gdbinit" ".lldbinit" ".Rprofile" ".Renviron" ".irbrc" ".pryrc" ".ghci" ".ocamlinit" ".iex.exs";

    WhenCalled by "a build tool":
        "Makefile" "GNUmakefile" "makefile.am" "*.mk" "*.mak" "justfile" ".justfile" "*.just"
        "Taskfile.yml" "Taskfile.yaml" "Taskfile.dist.yml" "Rakefile" "*.rake" "Gemfile" ".bundle/config" ".rspec" "package.json"
        "Cargo.toml" "build.rs" "setup.py" "setup.cfg" "pyproject.toml" "tox.ini" "noxfile.py" "requirements*.txt"
        "fabfile.py" "tasks.py" "dodo.py" "manage.py" "CMakeLists.txt" "*.cmake" "CMakePresets.json"
        "configure" "configure.ac" "meson.build" "SConstruct" "wscript" "build.gradle"
        "build.gradle.kts" "settings.gradle" "settings.gradle.kts" "gradle.properties" "gradle/"
        "pom.xml" ".mvn/" "build.xml" "build.sbt" ".sbtopts" ".jvmopts" "project/build.properties" "project/plugins.sbt"
        "BUILD" "BUILD.bazel" "WORKSPACE" "WORKSPACE.bazel" "MODULE.bazel" ".bazelrc" "*.bzl"
        "build.zig" "mix.exs" "rebar.config" "Package.swift" "Podfile" "Fastfile" "composer.json"
        "deno.json" "deno.jsonc" "flake.nix" "shell.nix" "default.nix" "devenv.nix" "Earthfile"
        "Tiltfile" "Snakefile" "dune" "go.mod" "pnpm-workspace.yaml" "turbo.json" "nx.json"
        "lerna.json" "*.csproj" "Directory.Build.props" "Directory.Build.targets";
    WhenCalled by "a JavaScript tool":
        "*.config.js" "*.config.cjs" "*.config.mjs" "*.config.ts" "*.config.mts" "*.config.cts"
        ".eslintrc.js" ".eslintrc.cjs" ".eslintrc.json" ".eslintrc" ".prettierrc.js" ".prettierrc.cjs"
        ".babelrc" ".babelrc.js" ".mocharc.js" ".mocharc.cjs" ".lintstagedrc.js" ".lintstagedrc"
        ".pnp.cjs" ".pnp.loader.mjs";
    WhenCalled by "a test runner":
        "conftest.py" "pytest.ini" "test_*.py" "*_test.py" "*_test.go" "*_spec.rb" "*.test.js" "*.test.jsx"
        "*.test.ts" "*.test.tsx" "*.test.mjs" "*.spec.js" "*.spec.ts" "*.spec.tsx" "*.bats";
    WhenCalled by "continuous integration":
        ".github/workflows/" ".github/actions/" "action.yml" "action.yaml" ".github/dependabot.yml"
        ".gitlab-ci.yml" ".gitlab/ci/" ".circleci/" ".travis.yml" "azure-pipelines.yml"
        ".azure-pipelines/" "bitbucket-pipelines.yml" ".buildkite/" ".drone.yml" ".woodpecker.yml"
        ".woodpecker/" "Jenkinsfile" ".forgejo/" ".gitea/" "appveyor.yml" ".cirrus.yml"
        ".pre-commit-hooks.yaml" "renovate.json";
    WhenCalled by "containers or services":
        "Dockerfile" "Dockerfile.*" "*.dockerfile" "Containerfile" "Containerfile.*"
        "docker-compose.yml" "docker-compose.yaml" "docker-compose.*" "compose.yml" "compose.yaml"
        "Vagrantfile" "Procfile" "*.service" "*.timer" "crontab" "*.desktop" "*.plist";
    WhenCalled by "a person, as a script":
        "*.sh" "*.bash" "*.zsh" "*.fish" "*.ps1" "*.psm1" "*.bat" "*.cmd" "gradlew" "mvnw";
};

/// The rule for a script that no pattern names: a file somebody may execute.
const EXECUTABLE: AutorunRule =
    AutorunRule { pattern: "executable", runs: Runs::WhenCalled, by: "a person, as a program" };

/// The rule that a file of the workspace falls under. The path is relative, with forward slashes.
#[must_use]
pub fn autorun_rule(path: &str, is_executable: bool) -> Option<&'static AutorunRule> {
    let found = Patterns::all().rule(path);
    // The one that runs on its own is asked about first.
    found.or_else(|| is_executable.then_some(&EXECUTABLE))
}

/// The rule of files that a directory would hold: a link at its name decides what those are.
#[must_use]
pub fn autorun_directory_rule(path: &str) -> Option<&'static AutorunRule> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let found = Patterns::all().directories.get(&name).into_iter().flatten();
    let found = found.filter(|(directory, _)| ends_with(path, directory));
    found.map(|(_, rule)| *rule).min_by_key(|rule| rule.runs)
}

/// Files that run on their own, by the names they have in a directory; a directory ends in a slash.
///
/// A pattern with a star has no name, so only the listing of a directory finds what it is for.
pub fn autorun_names() -> impl Iterator<Item = &'static str> {
    let rules = AUTORUN.iter().filter(|rule| rule.runs == Runs::OnItsOwn);
    rules.map(|rule| rule.pattern).filter(|pattern| !pattern.contains('*'))
}

/// The patterns, by what can be looked up.
struct Patterns {
    /// Files and directories by their last name, in lower case.
    names: HashMap<String, Vec<&'static AutorunRule>>,
    /// Directories that patterns begin with, by their last name, in lower case.
    directories: HashMap<String, Vec<(&'static str, &'static AutorunRule)>>,
    /// Patterns with a star.
    starred: Vec<&'static AutorunRule>,
}

impl Patterns {
    fn all() -> &'static Self {
        static PATTERNS: OnceLock<Patterns> = OnceLock::new();
        PATTERNS.get_or_init(|| {
            let mut patterns =
                Self { names: HashMap::new(), directories: HashMap::new(), starred: Vec::new() };
            for rule in AUTORUN {
                for directory in rule.pattern.match_indices('/').map(|(at, _)| at) {
                    let directory = rule.pattern.get(..directory).unwrap_or_default();
                    let name = directory.rsplit('/').next().unwrap_or(directory);
                    let known = patterns.directories.entry(name.to_ascii_lowercase()).or_default();
                    known.push((directory, rule));
                }
                if rule.pattern.contains('*') {
                    patterns.starred.push(rule);
                } else {
                    let path = rule.pattern.trim_end_matches('/');
                    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
                    patterns.names.entry(name).or_default().push(rule);
                }
            }
            patterns
        })
    }

    fn rule(&self, path: &str) -> Option<&'static AutorunRule> {
        let path = path.to_ascii_lowercase();
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let outer = ends.filter_map(|end| path.get(..end)).flat_map(|outer| {
            let name = outer.rsplit('/').next().unwrap_or(outer);
            let named = self.names.get(name).into_iter().flatten();
            let is_whole = outer.len() == path.len();
            named
                .copied()
                .filter(move |rule| is_whole || rule.pattern.ends_with('/'))
                .filter(move |rule| ends_with(outer, rule.pattern.trim_end_matches('/')))
        });
        let name = path.rsplit('/').next().unwrap_or(&path);
        let starred = self.starred.iter().copied().filter(|rule| is_like(name, rule.pattern));
        outer.chain(starred).min_by_key(|rule| rule.runs)
    }
}

/// Whether the last names of a path are those of a pattern.
fn ends_with(path: &str, pattern: &str) -> bool {
    let Some(at) = path.len().checked_sub(pattern.len()) else { return false };
    let same = path.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(pattern));
    same && (at == 0 || path.as_bytes().get(at - 1) == Some(&b'/'))
}

/// Whether a name in lower case is like a pattern with one star.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((start, end)) = pattern.split_once('*') else { return false };
    let Some((given_start, rest)) = name.split_at_checked(start.len()) else { return false };
    let at = rest.len().checked_sub(end.len());
    let given_end = at.and_then(|at| rest.get(at..));
    given_start.eq_ignore_ascii_case(start)
        && given_end.is_some_and(|given| given.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(path: &str) -> Option<Runs> {
        autorun_rule(path, false).map(|rule| rule.runs)
    }

    #[test]
    fn each_file_is_found_in_any_directory_and_any_case() {
        let own = [
            ".claude/settings.json",
            ".claude/hooks/x/y.sh",
            ".mcp.json",
            ".envrc",
            ".vscode/tasks.json",
            ".cargo/config.toml",
            ".npmrc",
            ".yarnrc.yml",
            "GEMINI.md",
            ".pre-commit-config.yaml",
            "CLAUDE.local.md",
            ".cursorrules",
            ".bashrc",
            ".clinerules",
            ".clinerules/a.md",
            ".husky/pre-commit",
            ".husky",
            "x.pth",
            "sitecustomize.py",
            ".github/copilot-instructions.md",
            ".ENVRC",
            ".VSCode/Tasks.json",
            "My.code-workspace",
        ];
        for path in own {
            assert_eq!(runs(path), Some(Runs::OnItsOwn), "{path}");
            assert_eq!(runs(&format!("a/b c/{path}")), Some(Runs::OnItsOwn), "a/b c/{path}");
        }
        let called = [
            "Makefile",
            "justfile",
            "package.json",
            "conftest.py",
            "build.rs",
            "setup.py",
            ".github/workflows/ci.yml",
            "Dockerfile",
            "Dockerfile.dev",
            "run.sh",
            "test_a.py",
        ];
        for path in called {
            assert_eq!(runs(path), Some(Runs::WhenCalled), "{path}");
            assert_eq!(runs(&format!("a/{path}")), Some(Runs::WhenCalled), "a/{path}");
        }
    }

    #[test]
    fn what_only_resembles_a_pattern_is_not_one() {
        let other = [
            "src/main.rs",
            "README.md",
            ".editorconfig",
            "envrc",
            "x.envrc",
            ".envrc/below",
            "a.vscode/tasks.json",
            ".vscode/snippets.json",
            "tasks.json",
            "Makefile/x",
            ".github/x",
            "husky/pre-commit",
            "pth",
            "test_data",
            "é.md",
            "",
        ];
        for path in other {
            assert_eq!(runs(path), None, "{path}");
        }
        let rule = autorun_rule("bin/tool", true).unwrap();
        assert_eq!(rule.runs, Runs::WhenCalled);
        let script = autorun_rule(".husky/run.sh", true).unwrap();
        assert_eq!(script.runs, Runs::OnItsOwn, "the stricter rule counts");
    }

    #[test]
    fn directories_of_patterns_are_known() {
        for path in [".vscode", "a/.github", ".github/workflows", ".HUSKY", ".config/fish"] {
            assert!(autorun_directory_rule(path).is_some(), "{path}");
        }
        for path in ["vscode", "fish", "workflows", ".envrc", ""] {
            assert!(autorun_directory_rule(path).is_none(), "{path}");
        }
    }

    #[test]
    fn patterns_are_well_formed() {
        for rule in AUTORUN {
            let stars = rule.pattern.matches('*').count();
            assert!(stars == 0 || stars == 1 && !rule.pattern.contains('/'), "{}", rule.pattern);
            assert!(!rule.pattern.starts_with('/') && !rule.by.is_empty(), "{}", rule.pattern);
        }
        assert!(autorun_names().any(|name| name == ".husky/"));
        assert!(autorun_names().all(|name| !name.contains('*') && name != "Makefile"));
    }
}
