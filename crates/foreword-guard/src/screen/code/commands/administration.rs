//! Commands that let others in, switch protections off, delete elsewhere or copy to a cloud; and the
//! small tools that only hand a text on.

use super::{has, has_address, operands};
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    /// Tools whose output is known, or is what someone types.
    pub(super) fn small_tool(
        &mut self,
        name: &str,
        rest: &[Value],
        stdin: Option<&Value>,
        line: u32,
    ) -> Option<Value> {
        let first = operands(rest).next();
        Some(match name {
            "new-inboxrule" | "set-inboxrule" | "set-mailbox" | "new-transportrule" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default().to_owned();
                if text.to_ascii_lowercase().contains("-auditenabled $false") {
                    self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
                }
                let forwards = |w: &&Value| {
                    w.as_text().is_some_and(|t| {
                        let t = t.to_ascii_lowercase();
                        t.starts_with("-forward")
                            || t.starts_with("-redirect")
                            || t.starts_with("-blindcopy")
                            || t.starts_with("-copyto")
                    })
                };
                let to = rest.iter().skip_while(|w| !forwards(w)).nth(1).and_then(Value::as_text);
                if let Some(to) = to.map(|to| to.trim_start_matches("smtp:").to_owned()) {
                    let mail = self.mark(Origin::Conversation, "the user's mail", line);
                    self.add(Act::Mail, &to, mail, line);
                }
                Value::default()
            }
            "useradd" | "net" | "net1" | "add-localgroupmember" => {
                let text = Value::joined(rest, " ");
                let text = text.as_text().unwrap_or_default().to_owned();
                let lower = text.to_ascii_lowercase();
                let root =
                    name == "useradd" && (lower.contains("-o -u 0") || lower.contains("-ou 0"));
                let group = name != "useradd" && lower.contains("administrators");
                if root || group && (!name.starts_with("net") || lower.contains("/add")) {
                    self.add(Act::Account, &format!("{name} {text}"), Marks::default(), line);
                }
                return None;
            }
            "mktemp" => Value::text(format!("/tmp/tmp.{line}")),
            "pwd" => Value::text("."),
            "dirname" => {
                let path = first?.as_text()?;
                Value::text(path.rsplit_once('/').map_or(".", |(above, _)| above))
            }
            "realpath" | "readlink" | "resolve-path" | "convert-path" => first?.clone(),
            "join-path" => {
                let parts: Vec<Value> = operands(rest).cloned().collect();
                Value::joined(&parts, "/")
            }
            "new-scheduledtaskaction" => {
                let mut action = Value::joined(rest, " ");
                let staged = self.staged_in(action.as_text().unwrap_or_default());
                action.marks.add(&staged);
                action
            }
            "new-object" => {
                let name = first?.as_text()?.to_ascii_lowercase();
                let name = name.strip_prefix("system.").unwrap_or(&name).to_owned();
                let mut marks = super::all_marks(rest, None);
                if name.contains("tcpclient") {
                    let host = rest.iter().filter_map(Value::as_text).skip(1);
                    let host = host.into_iter().find(|t| t.contains('.')).unwrap_or_default();
                    let host = host.to_owned();
                    self.add(Act::Connect, &host, Marks::default(), line);
                    marks.add(&self.mark(Origin::Fetched, host, line));
                }
                Value { marks, ..Value::path(name) }
            }
            "tar" | "bsdtar" | "unzip" | "expand-archive" if self.unpack(name, rest, stdin) => {
                Value::default()
            }
            "tar" | "bsdtar" | "zip" | "7z" | "compress-archive" => self.pack(name, rest, line)?,
            "read" => {
                let silent = rest
                    .iter()
                    .filter_map(Value::as_text)
                    .any(|t| t.starts_with('-') && !t.starts_with("--") && t.contains('s'));
                let typed = self.mark(Origin::Typed, "a typed password", line);
                let value = match stdin {
                    Some(stdin) => Value::marked(stdin.all_marks()),
                    None if silent => Value::marked(typed),
                    None => return None,
                };
                for word in operands(rest).filter_map(Value::as_text) {
                    let variable = word.split('?').next().unwrap_or_default();
                    if !variable.is_empty()
                        && variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    {
                        self.set_variable(variable, value.clone());
                    }
                }
                Value::default()
            }
            "read-host" if has(rest, &["-AsSecureString", "-assecurestring", "-MaskInput"]) => {
                Value::marked(self.mark(Origin::Typed, "a typed password", line))
            }
            "get-credential" => Value::marked(self.mark(Origin::Typed, "a typed password", line)),
            "zenity" | "kdialog" | "systemd-ask-password" | "ssh-askpass"
                if name.contains("ask") || has(rest, &["--password"]) =>
            {
                Value::marked(self.mark(Origin::Typed, "a typed password", line))
            }
            "history" | "fc" if rest.is_empty() || has(rest, &["-l", "-ln"]) => {
                Value::marked(self.mark(Origin::SecretFile, "shell history", line))
            }
            "get-history" => Value::marked(self.mark(Origin::SecretFile, "shell history", line)),
            _ => return None,
        })
    }

    /// Switches off, wipes, opens or uploads; `false` if the command does none of these.
    pub(super) fn administer(&mut self, name: &str, rest: &[Value], line: u32) -> bool {
        match name {
            "aws" | "gcloud" | "az" | "gsutil" | "gh" | "rclone" | "mc" => {
                matches!(name, "aws" | "gcloud" | "az") && self.blinds(name, rest, line)
                    || self.upload(name, rest, line)
            }
            "docker" | "podman" => self.opens_host(rest, line),
            "kubectl" | "oc" | "velero" | "vssadmin" | "wbadmin" | "tmutil" | "bcdedit"
            | "terraform" | "tofu" | "dropdb" | "restic" | "borg" => self.wipe(name, rest, line),
            // With an address it downloads.
            "certutil" if operands(rest).any(has_address) => false,
            "systemctl"
            | "service"
            | "pkill"
            | "killall"
            | "taskkill"
            | "wevtutil"
            | "networksetup"
            | "certutil"
            | "update-ca-certificates"
            | "clear-history"
            | "clear-eventlog" => self.disable(name, rest, line),
            _ => false,
        }
    }

    /// Another machine is let in.
    pub(super) fn tunnel(&mut self, name: &str, rest: &[Value], line: u32) {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let opens = match name {
            "ssh" | "autossh" => {
                format!(" {text}").contains(" -R") || text.contains("RemoteForward")
            }
            "cloudflared" => text.contains("tunnel") && !text.contains("login"),
            "tailscale" => text.contains("funnel"),
            "systemsetup" => text.contains("-setremotelogin on"),
            "ngrok" => ["http", "tcp", "start"].iter().any(|verb| text.starts_with(verb)),
            _ => !text.contains("--version") && !text.contains("--help") && !text.is_empty(),
        };
        if opens {
            self.add(Act::Tunnel, &format!("{name} {text}"), Marks::default(), line);
        }
    }

    /// Much is deleted that lies elsewhere.
    fn wipe(&mut self, name: &str, rest: &[Value], line: u32) -> bool {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        if text.contains("create clusterrolebinding") && text.contains("=cluster-admin") {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
            return true;
        }
        let wipes = match name {
            "kubectl" | "oc" => text.contains("delete") && text.contains("--all"),
            "velero" => text.contains("backup delete"),
            "vssadmin" | "wbadmin" => text.to_ascii_lowercase().contains("delete"),
            "tmutil" => text.contains("delete") || text.contains("disable"),
            "bcdedit" => text.to_ascii_lowercase().contains("recoveryenabled"),
            "terraform" | "tofu" => text.contains("destroy") && text.contains("-auto-approve"),
            "dropdb" => text.contains("--force"),
            _ => text.contains("forget") && text.contains("--prune") && text.contains("--all"),
        };
        if wipes {
            self.add(Act::Wipe, &format!("{name} {text}"), Marks::default(), line);
        }
        wipes
    }

    /// A protection is switched off.
    fn disable(&mut self, name: &str, rest: &[Value], line: u32) -> bool {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let lower = text.to_ascii_lowercase();
        let guards = [
            "auditd",
            "firewalld",
            "ufw",
            "apparmor",
            "falcon",
            "clamav",
            "defender",
            "rsyslog",
            "crowdstrike",
            "sentinel",
            "littlesnitch",
            "osquery",
            "fail2ban",
            "windefend",
        ];
        let stops = guards.iter().any(|guard| lower.contains(guard))
            && (matches!(name, "pkill" | "killall" | "taskkill")
                || ["stop", "disable", "mask"].iter().any(|verb| lower.contains(verb)));
        let off = stops
            || match name {
                "wevtutil" => lower.starts_with("cl"),
                "networksetup" => lower.contains("proxy") && lower.starts_with("-set"),
                "certutil" => lower.contains("-addstore") || lower.contains(" -a "),
                "update-ca-certificates" | "clear-history" | "clear-eventlog" => true,
                _ => false,
            };
        if off {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
        }
        off
    }

    /// A container that holds the whole machine.
    fn opens_host(&mut self, rest: &[Value], line: u32) -> bool {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let root = ["-v /:", "--volume /:", "--volume=/:", "source=/,"];
        let opens = root.iter().any(|mount| text.contains(mount));
        if opens {
            self.add(Act::Lower, &format!("docker {text}"), Marks::default(), line);
        }
        opens
    }

    /// The log or the watch of a cloud is switched off, or its highest right handed out.
    fn blinds(&mut self, name: &str, rest: &[Value], line: u32) -> bool {
        let text = Value::joined(rest, " ");
        let text = text.as_text().unwrap_or_default().to_owned();
        let asks = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let off = match name {
            "aws" => {
                asks(&["cloudtrail stop-logging", "cloudtrail delete-trail"])
                    || asks(&["guardduty delete-detector", "configservice stop-configuration"])
                    || asks(&["attach-user-policy", "attach-role-policy"])
                        && text.contains("AdministratorAccess")
            }
            "gcloud" => {
                asks(&["logging sinks delete"])
                    || text.contains("add-iam-policy-binding") && text.contains("roles/owner")
            }
            _ => asks(&["diagnostic-settings delete", "activity-log alert delete"]),
        };
        if off {
            self.add(Act::Lower, &format!("{name} {text}"), Marks::default(), line);
        }
        off
    }

    /// A copy to a cloud, or a text that everyone can read.
    fn upload(&mut self, name: &str, rest: &[Value], line: u32) -> bool {
        let words: Vec<&str> = rest.iter().filter_map(Value::as_text).take(3).collect();
        let (verb, skip) = match (name, words.as_slice()) {
            ("aws", ["s3", "cp" | "sync" | "mv", ..]) => ("aws s3", 2),
            ("gsutil" | "mc", ["cp" | "rsync" | "mirror", ..]) => (name, 1),
            ("rclone", ["copy" | "sync" | "move" | "copyto" | "rcat", ..]) => (name, 1),
            ("gcloud", ["storage", "cp", ..]) => ("gcloud storage", 2),
            ("gh", ["gist", "create", ..]) => ("gh gist", 2),
            _ => return false,
        };
        let list: Vec<&Value> = operands(rest.get(skip..).unwrap_or_default()).collect();
        let (target, sources) = match (verb, list.split_last()) {
            ("gh gist", _) => ("https://gist.github.com".to_owned(), list.as_slice()),
            (_, Some((last, sources))) => (last.as_text().unwrap_or_default().to_owned(), sources),
            (_, None) => return false,
        };
        let mut marks = Marks::default();
        for source in sources {
            marks.add(&self.read_path(source, line).marks);
        }
        // From the cloud to this machine.
        if verb != "gh gist" && !target.contains(':') && !target.is_empty() {
            return false;
        }
        self.add(Act::Copy, &target, marks, line);
        true
    }
}
