//! Places that a program names itself, beside those that the user or the documents give: a mail box, a
//! bucket, an address that is a key, the source of a package, the host of a link.

use super::hosts::Standing;
use super::{Judge, short};
use crate::screen::code::effect::{Act, Effect};
use crate::screen::code::value::HOLE;
use crate::screen::verdict::Verdict;

impl Judge<'_> {
    /// Whether a destination of its own was found in what a program sends.
    pub(super) fn own_destination(&mut self, effect: &Effect) -> bool {
        if self.in_document(effect) {
            return false;
        }
        let sends = !effect.marks.is_empty();
        let told = match effect.act {
            Act::Mail => self.own_mail_box(effect).map(|to| format!("Sends mail to {to}")),
            Act::Copy if sends => {
                self.own_bucket(effect).map(|bucket| format!("Copies data to the bucket {bucket}"))
            }
            Act::Http if sends => {
                self.own_key_address(effect).map(|to| format!("Sends data to {to}"))
            }
            _ => None,
        };
        let Some(told) = told else { return false };
        let message = format!("{told}, which the skill's text does not name.");
        self.add(effect, "data-upload", Verdict::NeedsReview, message);
        true
    }

    /// A mail box that stands in the program.
    fn own_mail_box(&self, effect: &Effect) -> Option<String> {
        let mut boxes = effect.target.split([' ', ',', ';', '<', '>', '"', '\'', '(', ')']);
        let own = boxes.find(|word| {
            let Some((name, domain)) = word.split_once('@') else { return false };
            let domain = domain.trim_end_matches('.').to_ascii_lowercase();
            let sample = ["example.", "test", "localhost", "your", "domain.", "company.", "acme."]
                .iter()
                .any(|part| domain.starts_with(part) || domain.ends_with(".test"));
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            !name.is_empty()
                && !word.contains(HOLE)
                && domain.contains('.')
                && domain.chars().all(is_name)
                && !sample
                && !self.documents.name_host(&domain)
        })?;
        Some(short(own))
    }

    /// A bucket that stands in the program.
    fn own_bucket(&self, effect: &Effect) -> Option<String> {
        let bucket = ["s3://", "gs://"].iter().find_map(|s| effect.target.strip_prefix(s))?;
        let bucket = bucket.split('/').next().unwrap_or_default();
        let sample = ["example", "your", "my-", "my_", "bucket", "test", "<"]
            .iter()
            .any(|part| bucket.starts_with(part));
        let own = bucket.len() > 3
            && !bucket.contains([HOLE, '$', '{'])
            && !sample
            && !self.documents.name_file(&bucket.to_ascii_lowercase());
        own.then(|| short(bucket))
    }

    /// An address that is a key of its own: whoever wrote it reads what is sent there.
    fn own_key_address(&self, effect: &Effect) -> Option<String> {
        let target = effect.target.as_ref();
        let lower = target.to_ascii_lowercase();
        let rest_of = |start: &str| lower.split_once(start).map(|(_, rest)| rest);
        let constant = |rest: &str, least: usize| {
            let key: String = rest.chars().take_while(|c| !matches!(c, '?' | '#' | '&')).collect();
            key.len() >= least && !key.contains([HOLE, '$', '{', '<']) && !key.contains("xxx")
        };
        let hook = [
            "hooks.slack.com/services/",
            "discord.com/api/webhooks/",
            "discordapp.com/api/webhooks/",
            "webhook.office.com/webhookb2/",
            "chat.googleapis.com/v1/spaces/",
        ]
        .iter()
        .any(|start| rest_of(start).is_some_and(|rest| constant(rest, 20)));
        let bot = rest_of("api.telegram.org/bot").is_some_and(|rest| {
            let token = rest.split('/').next().unwrap_or_default();
            token.contains(':') && constant(token, 30)
        });
        let signed = ["x-amz-signature=", "x-goog-signature=", "&sig=", "?sig="]
            .iter()
            .any(|start| rest_of(start).is_some_and(|rest| constant(rest, 8)));
        let named = || {
            target
                .get(..target.len().min(60))
                .is_some_and(|start| self.documents.name_file(&start.to_ascii_lowercase()))
        };
        let standing = self.standing(effect, target);
        ((hook || bot || signed) && standing != Standing::Local && !named())
            .then(|| self.whereto(standing, target))
    }

    /// A package is replaced by another.
    pub(super) fn replaced(&mut self, effect: &Effect) {
        let by = effect.target.rsplit("://").next().unwrap_or_default();
        let by = by.split(['@', ' ']).next().unwrap_or_default().to_ascii_lowercase();
        if !self.in_document(effect) && !by.is_empty() && !self.documents.name_file(&by) {
            let message = format!("Replaces a package by another ({}).", short(&by));
            self.add(effect, "package-source", Verdict::NeedsReview, message);
        }
    }

    /// The links of a text lead to a host that the program names.
    pub(super) fn relinked(&mut self, effect: &Effect) {
        let standing = self.standing(effect, &effect.target);
        let strange = matches!(standing, Standing::Stranger | Standing::Weak(_) | Standing::Bad(_));
        if strange && !self.in_document(effect) {
            let to = self.whereto(standing, &effect.target);
            let message =
                format!("Makes links lead to {to}, which the skill's text does not name.");
            self.add(effect, "link-rewriting", Verdict::NeedsReview, message);
        }
    }

    /// A program copies skills into other projects and commits or pushes them there.
    pub(super) fn spreading(&mut self, effects: &[Effect]) {
        let commits = |file: usize| {
            effects.iter().any(|e| {
                e.file == file
                    && (e.target.starts_with("git push") || e.target.starts_with("git commit"))
            })
        };
        let is_skills = |e: &&Effect| {
            let path = e.target.to_ascii_lowercase();
            matches!(e.act, Act::Write | Act::Persist)
                && path.contains(HOLE)
                && ["/.claude/", "/.codex/", "/.cursor/", "/.gemini/", "/.agents/", "/skills/"]
                    .iter()
                    .any(|folder| path.contains(folder))
        };
        let mut found = effects.iter().filter(|e| !self.in_document(e)).filter(is_skills);
        if let Some(effect) = found.find(|e| commits(e.file)) {
            let message = format!("Spreads to other projects ({}).", short(&effect.target));
            self.add(effect, "agent-files", Verdict::NeedsReview, message);
        }
    }
}
