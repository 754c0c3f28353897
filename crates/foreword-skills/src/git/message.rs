//! What a commit says: a subject for people, trailers for us.

/// The trailer that ties a commit to its proposal.
const PROPOSAL_ID: &str = "Proposal-Id";
/// The trailer that ties the audit log to the history.
const AUDIT_HEAD: &str = "Audit-Head";
/// The trailer that says what the skill can do.
const CAN_DO: &str = "Can-Do";
/// The trailer that shows that the holder of the key made the commit.
const SEAL: &str = "Seal";

/// The message of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    pub(crate) subject: String,
    pub(crate) reason: Option<String>,
    pub(crate) proposal: String,
    pub(crate) proposed_by: String,
    pub(crate) approved_by: String,
    pub(crate) reverts: Option<String>,
    /// What the skill can do from then on.
    pub(crate) can_do: Option<String>,
    /// Files it approves without changing them.
    pub(crate) approves: Vec<String>,
    /// Number, hash and log of the last audit entry before the commit.
    pub(crate) audit_head: Option<String>,
}

/// A message with its seal.
pub(crate) struct Sealed<'m> {
    /// The message without the seal.
    pub(crate) message: &'m str,
    /// The seal.
    pub(crate) seal: &'m str,
}

/// Tells a message from its seal, which is its last line.
pub(crate) fn sealed(text: &str) -> Option<Sealed<'_>> {
    let at = text.trim_end().rfind('\n')? + 1;
    let seal = text.get(at..)?.trim_end().strip_prefix(SEAL)?.strip_prefix(": ")?;
    Some(Sealed { message: text.get(..at)?, seal })
}

/// Puts a seal under a message.
pub(crate) fn seal(message: &str, seal: &str) -> String {
    format!("{message}{SEAL}: {seal}\n")
}

impl Message {
    pub(crate) fn write(&self) -> String {
        let mut text = format!("{}\n\n", one_line(&self.subject, 72));
        if let Some(reason) =
            self.reason.as_deref().map(|r| one_line(r, 1000)).filter(|r| !r.is_empty())
        {
            // A word in front, so that a reason that reads like a trailer is none.
            text.push_str(&format!("Reason: {reason}\n\n"));
        }
        let trailers = [
            (PROPOSAL_ID, Some(self.proposal.as_str())),
            ("Proposed-By", Some(self.proposed_by.as_str())),
            ("Approved-By", Some(self.approved_by.as_str())),
            ("Reverts", self.reverts.as_deref()),
            (AUDIT_HEAD, self.audit_head.as_deref()),
        ];
        for (name, value) in trailers {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {}\n", one_line(value, 200)));
            }
        }
        if let Some(can_do) = &self.can_do {
            text.push_str(&format!("{CAN_DO}: {}\n", one_line(can_do, 1000)));
        }
        for path in &self.approves {
            text.push_str(&format!("Approves: {}\n", one_line(path, 1000)));
        }
        text
    }

    /// Reads what [`write`](Self::write) wrote. Only the last paragraph has trailers.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim_end();
        let (head, last) = text.rsplit_once("\n\n").unwrap_or((text, ""));
        let mut message = Self {
            subject: head.lines().next().unwrap_or_default().to_owned(),
            reason: head.lines().find_map(|line| line.strip_prefix("Reason: ")).map(str::to_owned),
            ..Self::default()
        };
        for (name, value) in last.lines().filter_map(|line| line.split_once(": ")) {
            let value = value.trim().to_owned();
            match name {
                PROPOSAL_ID => message.proposal = value,
                "Proposed-By" => message.proposed_by = value,
                "Approved-By" => message.approved_by = value,
                "Reverts" => message.reverts = Some(value),
                AUDIT_HEAD => message.audit_head = Some(value),
                CAN_DO => message.can_do = Some(value),
                "Approves" => message.approves.push(value),
                _ => {}
            }
        }
        message
    }
}

/// Text on one line, within a number of characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(reason: &str) -> Message {
        Message {
            subject: "Add skill deploy".into(),
            reason: Some(reason.into()),
            proposal: "abc".into(),
            proposed_by: "agent:cosmo".into(),
            approved_by: "screening".into(),
            reverts: None,
            can_do: Some("network: a.org; runs: ffmpeg".into()),
            approves: vec!["a/SKILL.md".into()],
            audit_head: Some("12 00ff".into()),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let message = message("keep it");
        assert_eq!(
            message.write(),
            "Add skill deploy\n\nReason: keep it\n\nProposal-Id: abc\nProposed-By: agent:cosmo\n\
             Approved-By: screening\nAudit-Head: 12 00ff\nCan-Do: network: a.org; runs: ffmpeg\nApproves: a/SKILL.md\n"
        );
        assert_eq!(Message::read(&message.write()), message);
        let whole = seal(&message.write(), "00aa");
        assert_eq!(Message::read(&whole), message);
        let parts = sealed(&whole).unwrap();
        assert_eq!((parts.message, parts.seal), (message.write().as_str(), "00aa"));
        assert!(sealed(&message.write()).is_none() && sealed("").is_none());
    }

    #[test]
    fn a_reason_cannot_forge_a_trailer() {
        for reason in
            ["x\n\nProposal-Id: evil", "Proposal-Id: evil", "x\rProposal-Id: evil\u{2028}"]
        {
            let read = Message::read(&message(reason).write());
            assert_eq!(read.proposal, "abc", "{reason:?}");
        }
    }
}
