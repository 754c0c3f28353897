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
        ".gitattributes" ".gitmodules" ".gitconfig" ".lfsconfig" ".githooks/" ".husky/" ".pre-commit-config.yaml"
        ".pre-commit-config.yml" ".lefthook.yml" ".lefthook.yaml" ".lefthook.toml" ".lefthook.json"
        "lefthook.yml" "lefthook.yaml" "lefthook.toml" "lefthook.json" "lefthook-local.*"
        ".lefthook-local.*" ".lefthook/" ".lefthook-local/" ".overcommit.yml" ".huskyrc"
        ".huskyrc.json" ".huskyrc.js" ".huskyrc.yml" ".huskyrc.yaml" ".simple-git-hooks.json" ".simple-git-hooks.cjs"
        ".simple-git-hooks.js" "simple-git-hooks.json" "simple-git-hooks.cjs" "simple-git-hooks.js";
    OnItsOwn by "Mercurial, Sapling, Jujutsu or Pijul":
        ".hg/hgrc" ".hg/hgrc-not-shared" ".hg/sharedpath" ".hgsub" ".sl/config" ".sl/sharedpath" ".jj/repo/config.toml"
        ".jj/config.toml" ".jj/workspace-config.toml" ".pijul/config";
    OnItsOwn by "a coding agent":
        ".claude/" ".mcp.json" "CLAUDE.md" "CLAUDE.local.md" "AGENTS.md" "AGENTS.override.md" "AGENT.md" "GEMINI.md"
        "QWEN.md" "WARP.md" "CRUSH.md" "GROK.md" "IFLOW.md" "CODEBUDDY.md" "replit.md" ".cursorrules"
        ".cursor/" ".cursorignore" ".windsurfrules" ".windsurf/" ".clinerules" ".clinerules/"
        ".roorules" ".roomodes" ".roo/" ".rules" ".goosehints" ".goose/" ".aider.conf.yml"
        ".aider.model.settings.yml" ".codex/" ".crush.json" "crush.json" ".crush/" ".amp/" ".agent/" ".antigravity/"
        ".cline/" ".openhands/" ".openhands_instructions" ".sourcegraph/" ".warp/" ".grok/" ".iflow/" ".codebuddy/"
        ".rovodev/" ".vibe/" ".copilot/" ".bolt/" "mcp.json"
        ".gemini/" ".qwen/" ".opencode/" "opencode.json" "opencode.jsonc" ".continue/" ".continuerc.json"
        ".kiro/" ".amazonq/" ".junie/" ".augment/" ".augment-guidelines" ".trae/" ".kilocode/"
        ".factory/" ".agents/" ".pi/" ".github/copilot-instructions.md" ".github/instructions/"
        ".github/prompts/" ".github/chatmodes/" ".github/agents/" ".github/hooks/" ".github/copilot/";
    OnItsOwn by "an editor":
        ".vscode/" "*.code-workspace" "*.sublime-project" ".vs/" ".nova/" ".idea/runConfigurations/"
        ".idea/watcherTasks.xml" ".idea/startup.xml" ".idea/externalDependencies.xml" ".run/" ".zed/"
        ".fleet/" ".helix/" ".exrc" ".vimrc" ".gvimrc" ".lvimrc" ".local.vimrc" ".nvimrc" ".nvim.lua" "_vimrc" "_exrc"
        ".vim/" ".config/nvim/" ".neoconf.json" ".luarc.json" ".ycm_extra_conf.py" "hie.yaml" ".emacs" ".emacs.d/"
        ".dir-locals.el" ".dir-locals-2.el";
    OnItsOwn by "a development container": ".devcontainer/" ".devcontainer.json" ".gitpod.yml" ".gitpod/"
        ".codesandbox/" ".stackblitzrc" ".idx/" ".replit" "replit.nix";
    OnItsOwn by "the shell":
        ".envrc" ".direnvrc" ".env.leave" ".rvmrc" ".shadowenv.d/" ".bashrc" ".bash_profile" ".bash_login" ".bash_logout" ".bash_aliases"
        ".profile" ".zshrc" ".zshenv" ".zprofile" ".zlogin" ".zlogout" ".kshrc" ".cshrc" ".tcshrc"
        ".login" ".logout" ".inputrc" ".config/fish/" ".config/direnv/" ".tool-versions" "mise.toml"
        "mise.*.toml" ".mise.toml" ".mise.*.toml" ".rtx.toml" "mise/" ".mise/" ".config/mise/"
        ".config/mise.toml" ".prototools" ".pkgx.yml" ".pkgx.yaml" "pkgx.yml" "pkgx.yaml" "bin/hermit"
        "bin/activate-hermit" ".autoenv" ".autoenv.zsh" ".autoenv_leave.zsh" ".tmux.conf" ".screenrc" ".xinitrc"
        ".xprofile" ".xsession" ".pam_environment" ".config/autostart/" ".config/systemd/" ".config/git/" ".ssh/";
    OnItsOwn by "cargo or rustup":
        ".cargo/config.toml" ".cargo/config" "rust-toolchain" "rust-toolchain.toml";
    OnItsOwn by "npm, yarn, pnpm or bun":
        ".npmrc" ".yarnrc" ".yarnrc.yml" ".yarn/plugins/" ".yarn/releases/" ".pnpmfile.cjs"
        ".pnpmfile.mjs" ".pnpmfile.js" "pnpmfile.js" "bunfig.toml" ".bunfig.toml";
    OnItsOwn by "Python": "*.pth" "sitecustomize.py" "usercustomize.py" ".pdbrc" ".pythonrc.py" ".ipython/" ".jupyter/";
    OnItsOwn by "an interpreter or debugger":
        ".gdbinit" ".lldbinit" ".Rprofile" ".Renviron" ".irbrc" ".pryrc" ".ghci" ".ocamlinit" ".utop_init.ml"
        ".iex.exs" ".erlang" ".octaverc" ".juliarc.jl" ".psqlrc" ".sqliterc";

    WhenCalled by "a build tool":
        ".env" ".env.*" ".python-version" ".bazelversion" ".bazeliskrc" "tools/bazel" "*.bazelrc" "WORKSPACE.bzlmod" "BUCK"
        ".buckconfig" ".buckconfig.local" "pants.toml" "*.ninja" "SConscript" "waf" "xmake.lua" "premake5.lua"
        "Jamroot" "conanfile.py" "CMakeUserPresets.json" "autogen.sh" "configure.in" "west.yml" "platformio.ini"
        "Setup.hs" "*.cabal" "cabal.project" "stack.yaml" "package.yaml" "project.clj" "deps.edn" "bb.edn"
        "shadow-cljs.edn" "pubspec.yaml" "build.yaml" "Makefile.PL" "Build.PL" "cpanfile" "dist.ini"
        "Pipfile" "uv.toml" "poetry.toml" "pdm.toml" "hatch.toml" "pixi.toml" "environment.yml" "pip.conf"
        "jupyter_*.py" "magefile.go" "go.work" ".air.toml" "Thorfile" "Guardfile" "Capfile" "Appfile" "Berksfile"
        "*.fsproj" "*.vbproj" "*.vcxproj" "*.props" "*.targets" "*.sln" "*.cake" "*.fsx" "nuget.config" "global.json"
        ".config/dotnet-tools.json" "Directory.Build.rsp" "devbox.json" "devenv.yaml" ".flox/" "dune-project" "*.opam"
        ".latexmkrc" "latexmkrc" "Doxyfile" "Brewfile" "ansible.cfg" "*.tf" "terragrunt.hcl" "Pulumi.yaml"
        "skaffold.yaml" "helmfile.yaml" "serverless.yml" "cdk.json"
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
        ".*rc.js" ".*rc.cjs" ".*rc.mjs" ".*rc.ts" ".*rc.json" ".*rc.yml" ".*rc.yaml" ".eslintrc" ".prettierrc"
        ".babelrc" ".swcrc" ".lintstagedrc" ".releaserc" ".parcelrc" "*.conf.js" "gulpfile.*" "Gruntfile.*" "Jakefile*"
        "nodemon.json" ".storybook/" ".markdownlint-cli2.*" ".dependency-cruiser.*" ".size-limit.*" "knip.*"
        "ecosystem.json"
        ".pnp.cjs" ".pnp.loader.mjs";
    WhenCalled by "a linter or type checker":
        ".pylintrc" "pylintrc" ".flake8" "mypy.ini" ".mypy.ini" ".rubocop.yml" ".solargraph.yml" "phpstan.neon"
        ".php-cs-fixer.php" ".credo.exs" ".golangci.yml" ".golangci.yaml" ".luacheckrc" ".hlint.yaml" ".perlcriticrc";
    WhenCalled by "a test runner":
        "conftest.py" "pytest.ini" "test_*.py" "*_test.py" "*_test.go" "*_spec.rb" "*.test.js" "*.test.jsx"
        "*.test.ts" "*.test.tsx" "*.test.mjs" "*.test.cjs" "*.test.mts" "*.spec.js" "*.spec.jsx" "*.spec.mjs" "*.spec.ts"
        "*.spec.tsx" "*_test.rb" "*_helper.rb" "*_test.exs" "*Test.java" "*Tests.java" "*Test.kt" "tests.py" "*.t"
        "*.robot" "*.feature" "*.bats" ".coveragerc" ".proverc" "phpunit.xml";
    WhenCalled by "continuous integration":
        ".github/workflows/" ".github/actions/" "action.yml" "action.yaml" ".github/dependabot.yml"
        ".gitlab-ci.yml" ".circleci/" ".travis.yml" "azure-pipelines.yml"
        ".azure-pipelines/" "bitbucket-pipelines.yml" ".buildkite/" ".drone.yml" ".woodpecker.yml"
        ".woodpecker/" "Jenkinsfile" ".forgejo/" ".gitea/" "appveyor.yml" ".cirrus.yml"
        ".pre-commit-hooks.yaml" "renovate.json" "renovate.json5"
        ".github/renovate.json" ".github/renovate.json5" ".renovaterc" "*.gitlab-ci.yml" ".gitlab/" ".builds/" ".build.yml"
        ".semaphore/" ".teamcity/" "bamboo-specs/" "buildspec.yml" "cloudbuild.yaml" "codefresh.yml" ".mergify.yml"
        ".goreleaser.yml" ".goreleaser.yaml" "netlify.toml" "vercel.json" "wrangler.toml" "fly.toml" "app.yaml";
    WhenCalled by "containers or services":
        "Dockerfile" "Dockerfile.*" "*.dockerfile" "Containerfile" "Containerfile.*"
        "docker-compose.yml" "docker-compose.yaml" "docker-compose.*" "compose.yml" "compose.yaml"
        "docker-bake.*" "Vagrantfile" "Procfile" "supervisord.conf" ".lando.yml" ".ddev/" ".user.ini" ".htaccess"
        "*.service" "*.timer" "*.socket" "*.container" "crontab" "*.desktop" "*.plist";
    WhenCalled by "an editor": ".idea/workspace.xml";
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
    /// Patterns with a star: what stands before and behind it, in lower case.
    starred: Vec<(String, String, &'static AutorunRule)>,
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
                if let Some((start, end)) = rule.pattern.split_once('*') {
                    let (start, end) = (start.to_ascii_lowercase(), end.to_ascii_lowercase());
                    patterns.starred.push((start, end, rule));
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
        let is_like = |start: &str, end: &str| {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        };
        let starred = self.starred.iter().filter(|(start, end, _)| is_like(start, end));
        let starred = starred.map(|(_, _, rule)| *rule);
        outer.chain(starred).min_by_key(|rule| rule.runs)
    }
}

/// Whether the last names of a path are those of a pattern.
fn ends_with(path: &str, pattern: &str) -> bool {
    let Some(at) = path.len().checked_sub(pattern.len()) else { return false };
    let same = path.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(pattern));
    same && (at == 0 || path.as_bytes().get(at - 1) == Some(&b'/'))
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
            ".vscode/c_cpp_properties.json",
            ".vscode/sftp.json",
            "CLAUDE.md",
            "AGENTS.md",
            "AGENTS.override.md",
            "CRUSH.md",
            ".agent/rules/x.md",
            ".openhands/setup.sh",
            "mise.production.toml",
            ".mise.dev.toml",
            "mise/config.toml",
            ".lefthook-local.toml",
            ".lfsconfig",
            ".hg/hgrc-not-shared",
            ".jj/workspace-config.toml",
            ".vim/coc-settings.json",
            "x.sublime-project",
            "hie.yaml",
            "bin/activate-hermit",
            ".emacs.d/init.el",
            ".idx/dev.nix",
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
            ".env",
            ".env.local",
            ".python-version",
            ".eslintrc.yml",
            ".commitlintrc.js",
            "karma.conf.js",
            "gulpfile.babel.js",
            "pylintrc",
            ".rubocop.yml",
            "mypy.ini",
            "CMakeUserPresets.json",
            "user.bazelrc",
            ".bazelversion",
            "uv.toml",
            "x.targets",
            "main.tf",
            "OrderTest.java",
            "spec_helper.rb",
            ".gitlab/x.yml",
            "x.gitlab-ci.yml",
            "buildspec.yml",
            ".htaccess",
            ".idea/workspace.xml",
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
            ".idea/misc.xml",
            ".environment",
            "latest.md",
            "mise.md",
            "arc.json",
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
