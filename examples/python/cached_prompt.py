"""Two turns of a conversation: what the provider can cache, and what is billed again."""

import foreword


def turn(minute: int) -> foreword.Prompt:
    return foreword.build(
        {
            "task": "plan my week",
            "identity_files": {"agent": "You are Pickle, a calm assistant."},
            "memories": ["Ada likes tea"],
            "now": f"2026-02-26T14:{minute}:00Z",
        }
    )


first, second = turn(30), turn(31)
assert first.system == second.system
difference = first.diff(second)
print(f"{difference['kept_bytes']} bytes stay cached")
print(f"{difference['billed_again_tokens']} of {second.tokens} tokens are billed again")
print(f"the first difference is in section {difference['section']}")
