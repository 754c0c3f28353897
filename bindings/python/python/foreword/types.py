"""What Foreword reads and answers, as types. Made by `cargo xtask types` from `schemas/`."""

# ruff: noqa: E501
from __future__ import annotations

from datetime import datetime
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

class _AnthropicBlockRequired(TypedDict):
    text: str
    type: Literal['text']


class AnthropicBlock(_AnthropicBlockRequired, total=False):
    """A block of text that the provider may cache."""

    cache_control: CacheControl | None
    """Everything up to here is cached."""


class AnthropicMessage(TypedDict):
    """A message with blocks of text."""

    content: list[AnthropicBlock]
    role: Literal['user']


class AnthropicRequest(TypedDict):
    """The fields of an Anthropic Messages request."""

    messages: list[AnthropicMessage]
    system: list[AnthropicBlock]


AnyMode: TypeAlias = "ModeChoice | PromptMode"
"""A work mode or a prompt size."""

Approval: TypeAlias = "Literal['approved', 'local', 'unapproved']"
"""How a skill came to be here, and so how far it is trusted."""

Authority: TypeAlias = "Literal['constitution', 'operator', 'user', 'runtime', 'skill', 'reference']"
"""How far a text may instruct. The order is the order of precedence, highest first."""

class _BlueprintRequired(TypedDict):
    name: str
    """The name of the blueprint."""


class Blueprint(_BlueprintRequired, total=False):
    """A blueprint: which modules a prompt has, in which order and under which conditions."""

    bootstrap: Bootstrap | None
    """What BOOTSTRAP.md does to the rest of the prompt."""
    extends: str | None
    """The blueprint to start from: a built-in name or a file."""
    module: list[BlueprintModule]
    """The modules, in order."""
    remove: list[str]
    """Modules of the extended blueprint to leave out."""
    turn_context: bool | None
    """Put sections that change every turn into the turn context."""
    unattended: PromptMode | None
    """The prompt mode of turns without a person."""


class _BlueprintModuleRequired(TypedDict):
    name: str
    """The name of the module; a built-in one unless `kind` or `file` is given."""


class BlueprintModule(_BlueprintModuleRequired, total=False):
    """One module of a blueprint."""

    file: str | None
    """The file whose text the section holds."""
    heading: str | None
    """The heading above the text of `file`."""
    keep: int | None
    """How long the module survives a tight budget; higher survives longer."""
    kind: str | None
    """The built-in module to use under this name."""
    max_chars: int | None
    """The maximum length of the text of `file`, in characters."""
    optional: bool | None
    """Whether the module may be left out."""
    priority: int | None
    """The place in the prompt; lower is earlier."""
    volatility: Volatility | None
    """How often the text of `file` changes: `stable`, `session` or `turn`."""
    when: When | None
    """The conditions under which the module takes part."""


Bootstrap: TypeAlias = "Literal['alone', 'identity']"
"""What BOOTSTRAP.md does to the rest of the prompt."""

BuildAnswer: TypeAlias = "BuiltPrompt | AnthropicRequest | ChatRequest | ResponsesRequest | GeminiRequest"
"""The answer of `build`: the manifest for `text`, or the fields of a provider's request."""

class BuildRequest(TypedDict, total=False):
    """A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it."""

    agent: str | None
    """The agent: a folder in agents/."""
    agent_type: str | None
    """The loop that runs the agent."""
    at: int | None
    """For `explain`: one byte of the prompt."""
    blueprint: str | None
    """The blueprint: standard, guarded, semantic, roles, companion, or a .toml file."""
    canary: str | None
    """A token that must never appear in output."""
    channel: str | None
    """The channel of the conversation."""
    context: Context | None
    """A complete Context. No file is read."""
    context_window: int | None
    """The context window of the model, in tokens."""
    cwd: PathLike[str] | str | None
    """The working directory of the agent."""
    format: Format
    """For `build`: the form of the answer."""
    hints: Hints
    """What the caller knows that helps to infer the mode."""
    history_tokens: int | None
    """The size of the conversation so far, in tokens."""
    max_prompt_tokens: int | None
    """The maximum size of the prompt, in tokens."""
    mode: AnyMode | None
    """The work mode (plan, act, review, auto) or the prompt size (full, minimal, none)."""
    model: str | None
    """The model that reads the prompt."""
    now: datetime | str | None
    """The current time in RFC 3339; the system clock where absent, for workspaces."""
    output_reserve: int | None
    """Tokens to reserve for the answer."""
    profile: Profile | None
    """The security profile."""
    prompt_mode: PromptMode | None
    """The prompt size."""
    reply_gate: bool | None
    """Whether the agent may stay silent when it is not addressed."""
    reserved_tokens: int | None
    """Tokens to reserve for tool schemas and the current message."""
    runtime_context: RuntimeContext | None
    """How the agent was started."""
    sandbox_type: str | None
    """The sandbox the agent runs in."""
    session: str | None
    """The session, whose memories no other session sees."""
    taint_ratio: float | None
    """The share of the session's tokens that came from external content, 0 to 1."""
    taint_threshold: float | None
    """The taint ratio above which sensitive actions are refused, 0 to 1."""
    task: str | None
    """The task to build the prompt for."""
    tokenizer: Tokenizer
    """How tokens are counted."""
    user_id: str | None
    """The user whose USER.md to include."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _BuildRequestSelectedRequired(TypedDict):
    name: Line
    """Its name."""


class BuildRequestSelected(_BuildRequestSelectedRequired, total=False):
    """A tool or skill that was selected."""

    reasons: list[Line]
    """Why it is here: `named` by the task, `base` of the mode, or its `score`."""
    score: float
    """How well it fits."""


class BuildRequestSelection(TypedDict, total=False):
    """What was selected for the task. A Context without one shows everything it has."""

    abstained: list[Line]
    """The kinds (`tools`, `skills`) for which nothing fit the task."""
    degraded: Line | None
    """Why only keywords were compared, although embeddings were requested."""
    embedder: Line | None
    """The embedder used; absent if only keywords were compared."""
    embedding_calls: int
    """Number of embedding calls."""
    filtered: list[Filtered]
    """What was recalled or selected and then left out or cut."""
    filtered_count: int
    """Number of recalled memories and activity entries that were left out, because of their kind or as likely injections."""
    min_score: float | None
    """Scores below this did not count."""
    skills: list[BuildRequestSelected]
    """The skills, best first."""
    tools: list[BuildRequestSelected]
    """The tools, best first."""


class _BuiltPromptRequired(TypedDict):
    content: str
    """System and turn context as one text."""
    filtered: list[Filtered]
    """Items that were left out or changed."""
    inactive: list[str]
    """Modules that had no content."""
    metadata: Metadata
    """The figures."""
    omitted: list[Omitted]
    """Modules that had content and were left out."""
    sections: list[SectionEntry]
    """The sections of the prompt, in order."""
    stable_prefix_bytes: int
    """Bytes from the start that change only when a file changes."""
    system: str
    """The system prompt."""
    turn_context: str
    """What belongs in front of the newest user message."""


class BuiltPrompt(_BuiltPromptRequired, total=False):
    """The manifest, with what the caller should know about how the prompt was gathered."""

    digest: str | None
    """Digest of `content`; present when digests were asked for."""
    selection: Selection | None
    """What was selected for the task, with scores and reasons."""
    skills: list[SkillEntry]
    """The available skills, and their approval."""
    warnings: list[str]


class ByteOrigin(TypedDict):
    """Where one byte of a prompt comes from."""

    authority: Authority | None
    """How far it is trusted."""
    byte: int
    """The byte."""
    line: int | None
    """The line in that file."""
    section: str | None
    """The module that wrote it; none between two sections."""
    source: str | None
    """The file it came from."""
    volatility: Volatility | None
    """How often it changes."""


class _CacheBreakRequired(TypedDict):
    advice: str
    """What to change."""
    after: str
    before: str
    """Both sides around the first differing byte, redacted, on one line."""
    byte: int
    """Of the compared bytes."""
    cause: CacheBreakCause
    line: int
    """The line in that part, from 1."""
    lost_tokens: int
    origin: TextOrigin
    """Who wrote that line."""
    place: str
    """Where the first differing byte is: `system[0]`, `tools[3]`."""


class CacheBreak(_CacheBreakRequired, total=False):
    """Why a cached prefix was lost."""

    lost_usd: float | None
    """What that cost beyond the price of cached tokens, in US dollars."""
    section: str | None
    """The heading above it, if there is one."""


CacheBreakCause: TypeAlias = "Literal['clock', 'counter', 'identifier', 'unstable-order', 'tool-list-changed', 'history-rewritten', 'prompt-changed', 'breakpoint-missing', 'breakpoint-misplaced', 'model-changed']"
"""The known causes of a lost cache prefix."""

class CacheControl(TypedDict):
    """How long the provider keeps a prefix."""

    type: Literal['ephemeral']


class _CacheUseRequired(TypedDict):
    common_bytes: int
    """Bytes that both calls start with, of tools, system and messages."""
    common_tokens: int
    previous: int
    """The number of the call it is compared with."""
    reusable_tokens: int
    """Tokens of the previous call that could have been read from the cache."""


class CacheUse(_CacheUseRequired, total=False):
    """What a call has in common with the previous one of its conversation."""

    broken: CacheBreak | None
    """The difference, if it lies before the end of what could have been reused, or if the request does not use the cache at all."""
    provider_read_tokens: int | None
    """What the provider says it read from its cache."""


class _CallReportRequired(TypedDict):
    api: ModelApi
    at: str
    """RFC 3339."""
    first_byte_ms: float
    growth: int
    """Tokens more than the previous call of the conversation."""
    model: str
    number: int
    """From 1, in the capture."""
    parts: list[RequestPart]
    """What the request is made of, in the order in which providers cache it: tools, system, messages."""
    status: int
    """The HTTP status; 0 if there was no answer."""
    tokens: RegionTokens
    """Tokens of the whole request, and of its three regions."""
    total_ms: float


class CallReport(_CallReportRequired, total=False):
    """One call of a model."""

    cache: CacheUse | None
    """Compared with the previous call of the conversation; absent for the first."""
    conversation: int | None
    """The index of its conversation in [`Report::conversations`]."""
    cost_usd: float | None
    problem: str | None
    """Why the call failed or cannot be read."""
    usage: Usage | None


class Capabilities(TypedDict, total=False):
    """What a skill can do."""

    installs: list[str]
    """Packages it installs."""
    network: list[str]
    """Hosts it connects to; `*` if the address is not constant."""
    runs: list[str]
    """Programs it starts."""
    secrets: list[str]
    """Secrets it reads: variables, files, stores."""
    starts: list[str]
    """What starts on its own: hooks, jobs, start-up files."""
    unread: list[str]
    """Files that cannot be read: binaries, archives, what is no text."""
    writes: list[str]
    """Files it writes outside its own folder."""


class _CapabilityRequired(TypedDict):
    text: Document
    """Its instructions."""


class Capability(_CapabilityRequired, total=False):
    """A capability pack, as an object."""

    name: Line
    """Its name."""


CapabilityInput: TypeAlias = "str | Capability"
"""A capability pack: its text, or an object."""

class _CaptureInfoRequired(TypedDict):
    command: list[str]
    """The program with its arguments, redacted; empty for `watch --proxy`."""
    directory: str
    """The directory whose files the text was compared with."""
    id: str
    started_at: str
    """RFC 3339."""


class CaptureInfo(_CaptureInfoRequired, total=False):
    """A capture."""

    exit_code: int | None
    """What the program exited with, once it has."""


ChangeKind: TypeAlias = "Literal['added', 'removed', 'changed', 'moved']"
"""What became of a section."""

class ChatMessage(TypedDict):
    """A message with one text."""

    content: str
    role: Literal['system', 'user']


class ChatRequest(TypedDict):
    """The fields of an OpenAI-compatible chat completion request."""

    messages: list[ChatMessage]
    prompt_cache_key: str


class _CheckRequestAnswerRequired(TypedDict):
    calls: list[CallReport]
    """The calls in the order in which they were made."""
    conversations: list[Conversation]
    """The calls that share a prompt, one entry per conversation."""
    dangers: list[RequestDanger]
    """The most serious first."""
    notes: list[str]
    """What the report could not find out, and why."""
    prices_date: str
    """The date of the price table."""
    sources: list[SourceShare]
    """Where the text of the latest call of every conversation comes from, the largest share first."""
    tokenizer: str
    """How tokens were counted: `estimate`, `o200k` or `cl100k`."""
    totals: ReportTotals
    waste: list[Waste]
    """The most expensive first."""


class CheckRequestAnswer(_CheckRequestAnswerRequired, total=False):
    """The report of one request, and whether the prompt is in it."""

    capture: CaptureInfo | None
    """Absent for a single request that was not captured."""
    prompt: PromptCheck | None
    """Whether the prompt is in the request as it was built; absent without a prompt to look for."""


class _CheckRequestRequestRequired(TypedDict):
    body: RequestBody
    """The body of a request to Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or Gemini, as a JSON object or as its text."""


class CheckRequestRequest(_CheckRequestRequestRequired, total=False):
    """A request body, and the prompt that should be in it: one that was built (`prompt`), or one to build (`build`)."""

    build: PromptParams | None
    """The parameters of `build`, for the prompt that should be in it."""
    directory: str | None
    """A directory whose files to look for in the text."""
    prompt: ExpectedPrompt | None
    """The prompt that should be in it."""
    tokenizer: Tokenizer
    """How tokens are counted."""


class Context(TypedDict, total=False):
    """Everything a prompt depends on. The same Context gives the same bytes."""

    activity: list[MemoryInput] | None
    """Recent activity, best first."""
    agent_id: Line | None
    """The agent's id."""
    agent_type: str
    """The loop that runs the agent."""
    base: Document | None
    """The platform base; built in if absent."""
    canary: Line | None
    """A token that must never appear in output."""
    capabilities: list[CapabilityInput] | None
    """Capability packs, in order."""
    channel: Line
    """Where the conversation takes place."""
    constitution: Document | None
    """The constitution; built in if absent."""
    context_content: Texts | None
    """CONTEXT.md and the like: a text, or several in order."""
    context_window: int
    """The model's window in tokens."""
    env: Env | None
    """Facts of the machine."""
    files: dict[str, Document] | None
    """Texts of file-backed modules, by file name; read when the Context was gathered."""
    git: Git | None
    """Facts of the repository."""
    hints: Hints | None
    """What the caller knows that helps to infer the mode."""
    history_omitted: HistoryOmitted | None
    """What was left out of the conversation for lack of space; copied to the manifest."""
    history_tokens: int | None
    """Tokens of the conversation so far."""
    identity_files: IdentityFiles | None
    """The files that say who the agent is."""
    left_out: list[Filtered] | None
    """What was left out while gathering the Context, and why; copied to the manifest."""
    max_prompt_tokens: int | None
    """A limit on the prompt itself."""
    memories: list[MemoryInput] | None
    """Recalled memories, best first."""
    mode: ModeChoice | None
    """What the agent should do; `auto` infers it from the task."""
    model: Line | None
    """The model that will read the prompt."""
    namespace: Line
    """The agent's namespace."""
    now: datetime | str | None
    """The time, given by the caller."""
    output_reserve: int
    """Tokens kept for the answer."""
    overlay: Document | None
    """The template of the sub-agent overlay; built in if absent."""
    persona: Document | None
    """The persona of the `roles` blueprint."""
    profile: Profile | None
    """The security profile; `balanced` if absent."""
    prompt_mode: PromptMode | None
    """How much of the prompt is wanted."""
    reply_gate: bool | None
    """May the agent stay silent when it is not addressed?"""
    reserved_tokens: int | None
    """Tokens kept for tool schemas and the current message."""
    rules: Document | None
    """The rules of the modes; built in if absent."""
    runtime_context: RuntimeContext | None
    """How the agent was started."""
    sandbox_type: str
    """The sandbox in use."""
    selection: BuildRequestSelection | None
    """What was selected for the task; if absent, everything is shown."""
    skills: list[SkillInput] | None
    """Skills, best first."""
    taint_ratio: float | None
    """External tokens over all tokens of the session, 0 to 1."""
    taint_threshold: float | None
    """The ratio above which sensitive actions are refused; the profile's if absent."""
    task: Document | None
    """What the person asked for."""
    tools: list[ToolInput] | None
    """Tools."""
    user_id: Line | None
    """The person the agent works for."""
    workspace: Line | None
    """The working directory of the agent."""


class Conversation(TypedDict):
    """Calls that build on one another or share a prompt."""

    api: ModelApi
    cache_breaks: int
    calls: list[int]
    """The numbers of its calls."""
    lost_tokens: int
    model: str
    title: str
    """The beginning of the first user message, on one line."""


class CountAnswer(TypedDict):
    """The size of a text."""

    tokens: int
    """Its tokens."""


class _CountRequestRequired(TypedDict):
    text: str
    """The text."""


class CountRequest(_CountRequestRequired, total=False):
    """A text whose tokens to count."""

    tokenizer: Tokenizer
    """How tokens are counted."""


class Cut(TypedDict):
    """What a text lost when it was cut to a limit."""

    chars: int
    """Characters left out."""
    limit: int
    """The limit that was applied, in characters."""
    lines: list[int]
    """First and last line left out, in the source file."""


DangerKind: TypeAlias = "Literal['injection', 'secret', 'authority-claim', 'invisible-characters', 'foreign-text']"

DangerSeverity: TypeAlias = "Literal['note', 'warning', 'error']"
"""From harmless to serious."""

Decision: TypeAlias = "Literal['approve', 'reject']"
"""What a person decided."""

Detail: TypeAlias = "Literal['full', 'minimal']"
"""How much of a module is in the prompt."""

class DiffAnswer(TypedDict):
    """How the second prompt differs from the first."""

    billed_again_tokens: int
    """Tokens of the second prompt from the first difference on."""
    changes: list[SectionChange]
    """The sections that are not the same: in the order of the second prompt, then those removed."""
    excerpt_after: str | None
    """The second prompt around the difference, on one line."""
    excerpt_before: str | None
    """The first prompt around the difference, on one line."""
    first_byte: int | None
    """The first byte that differs, on a character boundary."""
    identical: bool
    """The same bytes?"""
    kept_bytes: int
    """Bytes that both prompts start with."""
    line: int | None
    """Its line, counted from 1."""
    section: str | None
    """The module whose section differs there: the one that went, where one went, else the second prompt's."""
    tokens_after: int
    """Tokens of the second prompt."""
    tokens_before: int
    """Tokens of the first prompt."""


class DiffRequest(TypedDict):
    """Two prompts to compare: each a prompt to build, or a saved answer of `build`."""

    a: DiffSide
    """The first prompt."""
    b: DiffSide
    """The second prompt."""


DiffSide: TypeAlias = "PromptParams | dict[str, Any]"
"""One of two prompts."""

Document: TypeAlias = "Text"
"""Text of Constitution, Operator or User authority: keeps its markdown."""

class Env(TypedDict, total=False):
    """Facts of the machine."""

    cwd: Line
    """The directory."""
    os: Line
    """The operating system."""


class _ExpectedPromptRequired(TypedDict):
    system: str
    """The system prompt."""


class ExpectedPrompt(_ExpectedPromptRequired, total=False):
    """A prompt that was built."""

    stable: str
    """The part of it that stays the same between sessions; a prefix of `system`."""
    turn_context: str | None
    """The turn context; not looked for if absent."""


ExplainAnswer: TypeAlias = "ExplainAnswer1 | ByteOrigin"
"""The answer of `explain`"""

class _ExplainAnswer1Required(TypedDict):
    filtered: list[Filtered]
    """Items that were left out or changed."""
    inactive: list[str]
    """Modules that had no content."""
    metadata: Metadata
    """The figures."""
    omitted: list[Omitted]
    """Modules that had content and were left out."""
    sections: list[SectionEntry]
    """The sections of the prompt, in order."""
    stable_prefix_bytes: int
    """Bytes from the start that change only when a file changes."""


class ExplainAnswer1(_ExplainAnswer1Required, total=False):
    """The manifest, with what the caller should know about how the prompt was gathered."""

    digest: str | None
    """Digest of `content`; present when digests were asked for."""
    selection: Selection | None
    """What was selected for the task, with scores and reasons."""
    skills: list[SkillEntry]
    """The available skills, and their approval."""
    warnings: list[str]


class ExplainRequest(TypedDict, total=False):
    """A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it."""

    agent: str | None
    """The agent: a folder in agents/."""
    agent_type: str | None
    """The loop that runs the agent."""
    at: int | None
    """For `explain`: one byte of the prompt."""
    blueprint: str | None
    """The blueprint: standard, guarded, semantic, roles, companion, or a .toml file."""
    canary: str | None
    """A token that must never appear in output."""
    channel: str | None
    """The channel of the conversation."""
    context: Context | None
    """A complete Context. No file is read."""
    context_window: int | None
    """The context window of the model, in tokens."""
    cwd: PathLike[str] | str | None
    """The working directory of the agent."""
    format: Format
    """For `build`: the form of the answer."""
    hints: Hints
    """What the caller knows that helps to infer the mode."""
    history_tokens: int | None
    """The size of the conversation so far, in tokens."""
    max_prompt_tokens: int | None
    """The maximum size of the prompt, in tokens."""
    mode: AnyMode | None
    """The work mode (plan, act, review, auto) or the prompt size (full, minimal, none)."""
    model: str | None
    """The model that reads the prompt."""
    now: datetime | str | None
    """The current time in RFC 3339; the system clock where absent, for workspaces."""
    output_reserve: int | None
    """Tokens to reserve for the answer."""
    profile: Profile | None
    """The security profile."""
    prompt_mode: PromptMode | None
    """The prompt size."""
    reply_gate: bool | None
    """Whether the agent may stay silent when it is not addressed."""
    reserved_tokens: int | None
    """Tokens to reserve for tool schemas and the current message."""
    runtime_context: RuntimeContext | None
    """How the agent was started."""
    sandbox_type: str | None
    """The sandbox the agent runs in."""
    session: str | None
    """The session, whose memories no other session sees."""
    taint_ratio: float | None
    """The share of the session's tokens that came from external content, 0 to 1."""
    taint_threshold: float | None
    """The taint ratio above which sensitive actions are refused, 0 to 1."""
    task: str | None
    """The task to build the prompt for."""
    tokenizer: Tokenizer
    """How tokens are counted."""
    user_id: str | None
    """The user whose USER.md to include."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class Failure(TypedDict):
    """What is wrong, and what to do about it."""

    hints: list[str]
    """What to do next."""
    kind: FailureKind
    """What kind of failure it is."""
    message: str
    """What is wrong, and where."""


FailureKind: TypeAlias = "Literal['failed', 'usage', 'internal']"
"""The kind of a failure."""

class Filtered(TypedDict):
    """An item that was left out, shortened or changed."""

    id: str
    """Which one."""
    kind: str
    """What it is: `memory`, `file`, `text`, …"""
    reason: str
    """What happened and why."""


class ForgetFilter(TypedDict, total=False):
    """Conditions that a memory has to match. At least one is needed."""

    agent: str | None
    """The agent it belongs to."""
    everything: bool
    """All of them."""
    kind: str | None
    """Its kind."""
    session: str | None
    """The session it belongs to."""
    tainted: bool
    """Only tainted ones."""
    user: str | None
    """The user it belongs to."""


Format: TypeAlias = "Literal['text', 'anthropic', 'openai', 'responses', 'gemini']"
"""The form of a prompt."""

class _GeminiContentRequired(TypedDict):
    parts: list[GeminiPart]


class GeminiContent(_GeminiContentRequired, total=False):
    """A content of a Gemini request."""

    role: str | None


class GeminiPart(TypedDict):
    """A text of a Gemini content."""

    text: str


class GeminiRequest(TypedDict):
    """The fields of a `generateContent` request. Gemini caches by prefix on its own."""

    contents: list[GeminiContent]
    systemInstruction: GeminiContent


class Git(TypedDict, total=False):
    """Facts of the repository."""

    branch: Line
    """The branch."""
    summary: Line
    """What changed."""


class Hints(TypedDict, total=False):
    """What the caller knows that helps to infer the mode."""

    has_git_changes: bool
    """The work tree has changes."""
    has_named_files: bool
    """The person named the files to work on."""
    is_interactive: bool
    """A person is at the terminal."""


class HistoryOmitted(TypedDict, total=False):
    """Turns of a conversation that no longer fit the window."""

    tokens: int
    """Their tokens."""
    turns: int
    """Number of the oldest turns that were left out."""


class IdentityFiles(TypedDict, total=False):
    """The files that say who the agent is."""

    agent: Document | None
    """AGENT.md."""
    agents: Document | None
    """AGENTS.md, another name for `agent`."""
    bootstrap: Document | None
    """BOOTSTRAP.md."""
    heartbeat: Document | None
    """HEARTBEAT.md."""
    identity: Document | None
    """IDENTITY.md."""
    soul: Document | None
    """SOUL.md."""
    tools: Document | None
    """TOOLS.md."""
    user: Document | None
    """USER.md."""
    user_bootstrap: Document | None
    """USER_BOOTSTRAP.md, shown if USER.md is absent."""


class InputMessage(TypedDict):
    """A message of a Responses input."""

    content: list[InputText]
    role: Literal['user']


class InputText(TypedDict):
    """A text of a Responses input."""

    text: str
    type: Literal['input_text']


Line: TypeAlias = "str"
"""One value on one line: a name, a path, a branch, a template value. Written flattened and escaped."""

LintAnswer: TypeAlias = "list[LintFinding]"
"""The answer of `lint`"""

class LintFinding(TypedDict):
    """One thing that is wrong, where, and what to do about it."""

    file: str
    """The file, relative to the workspace, or a name where the text has no file."""
    hint: str
    """What to do."""
    line: int
    """The line in it, counted from 1."""
    message: str
    """What is wrong."""
    rule: str
    """The rule that found it."""
    severity: Severity
    """How bad it is."""


class LintRequest(TypedDict, total=False):
    """A workspace to check."""

    agent: str | None
    """Check only this agent."""
    blueprint: str | None
    """The blueprint to check against."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _ListedSkillRequired(TypedDict):
    name: str
    """Its name."""
    path: str
    """Its file."""
    status: str
    """`approved`, or `local` for a file that differs from its commit or has none."""


class ListedSkill(_ListedSkillRequired, total=False):
    """A skill, and how far it is approved."""

    at: str | None
    """When it was approved, in RFC 3339."""
    by: str | None
    """Who approved it."""
    can_do: str | None
    """What its code can do."""
    commit: str | None
    """The commit that holds it."""
    description: str | None
    """When to use it."""


class _MemoryRequired(TypedDict):
    text: Untrusted
    """What is remembered."""


class Memory(_MemoryRequired, total=False):
    """A memory, as an object."""

    date: Line | None
    """The day it is about."""
    id: Line | None
    """Its ID in the store."""
    kind: Line | None
    """Its kind; `system`, `meta` and `override` never enter a prompt."""
    score: float | None
    """How well it fits the task, 0 to 1."""
    tainted: bool
    """Whether it was written from external content."""


class _MemoryAddAnswerRequired(TypedDict):
    id: str
    """The ID of the memory."""
    state: str
    """`new`, or `same` if it was already remembered."""


class MemoryAddAnswer(_MemoryAddAnswerRequired, total=False):
    """A stored memory."""

    warnings: list[str]
    """What the caller should know."""


class _MemoryAddRequestRequired(TypedDict):
    text: str
    """The text to remember."""


class MemoryAddRequest(_MemoryAddRequestRequired, total=False):
    """A memory to store."""

    agent: str | None
    """The agent that the memory belongs to."""
    date: str | None
    """The day that the memory is about, as `2026-02-26`."""
    importance: float | None
    """The importance, 0 to 1."""
    kind: str
    """The kind: note, fact, preference, activity or another lower-case word."""
    session: str | None
    """The session that the memory belongs to."""
    source: str | None
    """The source of the memory."""
    tainted: bool
    """Whether the memory is external and untrusted."""
    user: str | None
    """The user that the memory belongs to."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class MemoryForgetAnswer(TypedDict):
    """How many memories were deleted."""

    forgotten: int
    """Their number."""


class MemoryForgetRequest(TypedDict, total=False):
    """Memories to delete: those with the given IDs, or all that match `allOf`."""

    all_of: ForgetFilter | None
    """Delete every memory that matches all of these conditions."""
    ids: list[str]
    """IDs of memories, or their first characters."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _MemoryHitRequired(TypedDict):
    created_at: str
    """When it was stored, in RFC 3339."""
    id: str
    """Its ID."""
    kind: str
    """What it is for."""
    parts: MemoryScore
    """What the score is made of."""
    score: float
    """How well it fits, 0 to 1."""
    tainted: bool
    """Whether it came from outside."""
    text: str
    """What it says."""


class MemoryHit(_MemoryHitRequired, total=False):
    """A memory that was found."""

    agent: str | None
    """The agent it belongs to; all where absent."""
    date: str | None
    """The day it is about."""
    importance: float | None
    """How much it matters, 0 to 1."""
    session: str | None
    """The session it belongs to; all where absent."""
    source: str | None
    """Where it came from."""
    user: str | None
    """The user it belongs to; all where absent."""


MemoryInput: TypeAlias = "str | Memory"
"""A memory: its text, or an object."""

class _MemoryItemRequired(TypedDict):
    created_at: str
    """When it was stored, in RFC 3339."""
    id: str
    """Its ID."""
    kind: str
    """What it is for."""
    tainted: bool
    """Whether it came from outside."""
    text: str
    """What it says."""


class MemoryItem(_MemoryItemRequired, total=False):
    """A memory."""

    agent: str | None
    """The agent it belongs to; all where absent."""
    date: str | None
    """The day it is about."""
    importance: float | None
    """How much it matters, 0 to 1."""
    session: str | None
    """The session it belongs to; all where absent."""
    source: str | None
    """Where it came from."""
    user: str | None
    """The user it belongs to; all where absent."""


class _MemoryListAnswerRequired(TypedDict):
    memories: list[MemoryItem]
    """The memories, newest first."""
    next: str | None
    """The value of `after` for the next page; none on the last one."""


class MemoryListAnswer(_MemoryListAnswerRequired, total=False):
    """One page of memories."""

    warnings: list[str]
    """What the caller should know."""


class MemoryListRequest(TypedDict, total=False):
    """Memories to list."""

    after: str | None
    """Start after this memory."""
    agent: str | None
    """List only memories of this agent."""
    kind: str | None
    """List only this kind."""
    limit: int
    """The maximum number of memories."""
    session: str | None
    """List only memories of this session."""
    tainted: bool
    """List only tainted memories."""
    user: str | None
    """List only memories of this user."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class MemoryScore(TypedDict):
    """The parts of a score."""

    asks: bool
    """Whether it asks rather than tells."""
    context: float
    """What stands around it."""
    date: float
    """Whether the date fits."""
    likeness: float
    """The likeness word by word."""
    meaning: float | None
    """The likeness of the vectors; none without an embedder."""
    recency: float
    """How recent it is."""
    speaker: float
    """Whether the speaker fits."""
    tells_when: bool
    """Whether it tells when something happened."""
    words: float
    """Words in common."""


class _MemorySearchAnswerRequired(TypedDict):
    below_threshold: int
    """How many scored too low."""
    hits: list[MemoryHit]
    """The memories."""
    never_injected: int
    """How many are of kinds that agents never get."""
    repeated: int
    """How many repeat another one."""
    visible: int
    """How many memories the caller may see."""
    with_vectors: bool
    """Whether vectors were compared."""
    without_vector: int
    """How many of them have no vector."""


class MemorySearchAnswer(_MemorySearchAnswerRequired, total=False):
    """The memories that were found, best first."""

    warnings: list[str]
    """What the caller should know."""


class _MemorySearchRequestRequired(TypedDict):
    query: str
    """The question or keywords."""


class MemorySearchRequest(_MemorySearchRequestRequired, total=False):
    """A question to the memories."""

    agent: str | None
    """The agent that asks."""
    all: bool
    """Include low scores and kinds that agents never get."""
    kind: str | None
    """Search only this kind."""
    limit: int
    """The maximum number of results."""
    min_score: float | None
    """The minimum score, 0 to 1; 0.7 by default."""
    session: str | None
    """The session of the agent."""
    user: str | None
    """The user that the agent works for."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class Metadata(TypedDict):
    """The figures of a prompt."""

    build_time_ms: float
    """Filled in by the caller, who has a clock."""
    context_window: int
    """The model's window."""
    estimated_tokens: int
    """Tokens of the whole prompt."""
    history_tokens: int
    """Tokens of the conversation so far."""
    module_count: int
    """Number of sections."""
    modules: list[str]
    """Their modules, in order."""
    output_reserve: int
    """Tokens kept for the answer."""
    over_budget: bool
    """The prompt is too large even without all optional sections."""
    percent_remaining: float
    """The share of the window that is left, in percent."""
    tokens_by_module: dict[str, int]
    """Tokens by module, in order."""


ModeChoice: TypeAlias = "Literal['auto', 'plan', 'act', 'review']"
"""The mode an agent works in."""

ModelApi: TypeAlias = "Literal['anthropic-messages', 'openai-chat', 'openai-responses', 'gemini-generate']"
"""The API a request was written for."""

class Omitted(TypedDict):
    """A module that had content and was left out."""

    module: str
    """The module."""
    reason: str
    """Why, as text."""


OneOf: TypeAlias = "str | list[str]"
"""A value, or a list of which one has to match."""

class PingAnswer(TypedDict):
    """The program that answers."""

    version: str
    """Its version."""


PingRequest: TypeAlias = "dict[str, Any]"
"""No parameters."""

Profile: TypeAlias = "Literal['paranoid', 'balanced', 'yolo']"
"""How much external content a session may contain before sensitive actions are refused."""

class _PromptRequired(TypedDict):
    content: str
    """System and turn context as one text."""
    filtered: list[Filtered]
    """Items that were left out or changed."""
    inactive: list[str]
    """Modules that had no content."""
    metadata: Metadata
    """The figures."""
    omitted: list[Omitted]
    """Modules that had content and were left out."""
    sections: list[SectionEntry]
    """The sections of the prompt, in order."""
    stable_prefix_bytes: int
    """Bytes from the start that change only when a file changes."""
    system: str
    """The system prompt."""
    turn_context: str
    """What belongs in front of the newest user message."""


class Prompt(_PromptRequired, total=False):
    """The whole account of a prompt, as `foreword build --json` prints it."""

    digest: str | None
    """Digest of `content`; present when digests were asked for."""
    selection: Selection | None
    """What was selected for the task, with scores and reasons."""
    skills: list[SkillEntry]
    """The available skills, and their approval."""


class _PromptCheckRequired(TypedDict):
    is_present: bool
    """Whether the system prompt is there, byte for byte."""
    is_right: bool
    """Whether there is nothing to change: the prompt is there, no other text comes before it, and it can be cached."""


class PromptCheck(_PromptCheckRequired, total=False):
    """Whether a prompt is in a request as it was built."""

    first_difference: PromptDifference | None
    """If not: the first byte of the prompt that differs, and both sides."""
    foreign_after: str | None
    """Text of the system region behind the prompt, without the turn context."""
    foreign_before: str | None
    """Text of the system region before the prompt."""
    is_marked_at_boundary: bool | None
    """Whether the request marks the end of the stable part for the cache; absent where the provider caches by itself or the prompt is not there."""
    is_marked_at_end: bool | None
    """Whether the request marks the end of the whole system prompt for the cache, which then holds for the session; absent like the above."""
    turn_context: TurnContextPlace | None
    """Where the turn context is; absent if it was not looked for or is empty."""


class PromptDifference(TypedDict):
    """Where a prompt and a request part."""

    byte: int
    """The first byte of the prompt that differs."""
    expected: str
    """The prompt from there, redacted."""
    found: str
    """The request from there, redacted."""
    line: int
    """The line of the prompt, from 1."""


PromptMode: TypeAlias = "Literal['full', 'minimal', 'none']"
"""How much of the prompt is built."""

class PromptParams(TypedDict, total=False):
    """A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it."""

    agent: str | None
    """The agent: a folder in agents/."""
    agent_type: str | None
    """The loop that runs the agent."""
    at: int | None
    """For `explain`: one byte of the prompt."""
    blueprint: str | None
    """The blueprint: standard, guarded, semantic, roles, companion, or a .toml file."""
    canary: str | None
    """A token that must never appear in output."""
    channel: str | None
    """The channel of the conversation."""
    context: Context | None
    """A complete Context. No file is read."""
    context_window: int | None
    """The context window of the model, in tokens."""
    cwd: PathLike[str] | str | None
    """The working directory of the agent."""
    format: Format
    """For `build`: the form of the answer."""
    hints: Hints
    """What the caller knows that helps to infer the mode."""
    history_tokens: int | None
    """The size of the conversation so far, in tokens."""
    max_prompt_tokens: int | None
    """The maximum size of the prompt, in tokens."""
    mode: AnyMode | None
    """The work mode (plan, act, review, auto) or the prompt size (full, minimal, none)."""
    model: str | None
    """The model that reads the prompt."""
    now: datetime | str | None
    """The current time in RFC 3339; the system clock where absent, for workspaces."""
    output_reserve: int | None
    """Tokens to reserve for the answer."""
    profile: Profile | None
    """The security profile."""
    prompt_mode: PromptMode | None
    """The prompt size."""
    reply_gate: bool | None
    """Whether the agent may stay silent when it is not addressed."""
    reserved_tokens: int | None
    """Tokens to reserve for tool schemas and the current message."""
    runtime_context: RuntimeContext | None
    """How the agent was started."""
    sandbox_type: str | None
    """The sandbox the agent runs in."""
    session: str | None
    """The session, whose memories no other session sees."""
    taint_ratio: float | None
    """The share of the session's tokens that came from external content, 0 to 1."""
    taint_threshold: float | None
    """The taint ratio above which sensitive actions are refused, 0 to 1."""
    task: str | None
    """The task to build the prompt for."""
    tokenizer: Tokenizer
    """How tokens are counted."""
    user_id: str | None
    """The user whose USER.md to include."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _ProposalEntryRequired(TypedDict):
    created_at: str
    """When it was stored, in RFC 3339."""
    findings: list[ScreeningFinding]
    """What screening found."""
    id: str
    """Its ID."""
    kind: str
    """What kind of change it is."""
    path: str
    """The main file of the skill."""
    policy: str
    """The policy it was screened by."""
    proposed_by: str
    """Who proposed it."""
    skill: str
    """The skill."""
    state: str
    """Where it stands."""
    verdict: str
    """The verdict of screening."""


class ProposalEntry(_ProposalEntryRequired, total=False):
    """A proposal."""

    capabilities: Capabilities
    """What its code can do."""
    commit: str | None
    """The commit that carried it out."""
    decided_at: str | None
    """When it was decided, in RFC 3339."""
    decided_by: str | None
    """Who decided."""
    decision_reason: str | None
    """Why it was decided so."""
    diff: str | None
    """What it changes, if one proposal was asked for."""
    reason: str | None
    """Why it was proposed."""
    reverts: str | None
    """The commit that a revert undoes."""


class RegionTokens(TypedDict):
    """Tokens by region of a request."""

    messages: int
    system: int
    tools: int
    total: int


class _ReportTotalsRequired(TypedDict):
    cache_breaks: int
    """How many calls lost a cached prefix."""
    calls: int
    failed: int
    """Calls that the provider refused or that broke off."""
    lost_tokens: int
    """Tokens that were sent before and had to be read again."""
    max_tokens: int
    """Tokens of the largest request."""
    tokens: int
    """Tokens of all requests together."""
    unpriced_models: list[str]
    """Models without a price, which the cost leaves out."""
    usage: Usage
    """What the provider counted, over the calls for which it said so."""


class ReportTotals(_ReportTotalsRequired, total=False):
    """Sums over all calls."""

    cost_usd: float | None
    """US dollars; absent if no model has a known price."""
    lost_usd: float | None
    """What these cost beyond the price of cached tokens, in US dollars."""


RequestBody: TypeAlias = "str | dict[str, Any]"
"""The body of a request."""

class RequestDanger(TypedDict):
    """Something in a request that a person should look at."""

    call: int
    """The first call it was sent in."""
    excerpt: str
    """The text, redacted, on one line."""
    kind: DangerKind
    line: int
    """The line in that part, from 1."""
    message: str
    """What was found, for people."""
    origin: TextOrigin
    place: str
    """The part it is in."""
    severity: DangerSeverity


class _RequestPartRequired(TypedDict):
    cache_mark: bool
    """Whether the request asks the provider to cache everything up to here."""
    label: str
    """For people: the tool's name, the role, `tool result of Read`."""
    place: str
    """Where it is in the request: `system[1]`, `tools[3]`, `messages[4].content[0]`."""
    region: RequestRegion
    share: float
    """Of the whole request, from 0 to 1."""
    tokens: int


class RequestPart(_RequestPartRequired, total=False):
    """A tool, a system block, or a block of a message."""

    sections: list[SectionTokens]
    """Markdown sections of a system block, in order; empty for others and for text without headings."""
    stretches: list[Stretch]
    """Where the text comes from, in order. The stretches cover it without gaps."""
    text: str | None
    """The text, redacted; only if the report was asked for texts."""


RequestRegion: TypeAlias = "Literal['tools', 'system', 'messages']"
"""The region of a request that a part belongs to."""

class ResponsesRequest(TypedDict):
    """The fields of a request to the OpenAI Responses API."""

    input: list[InputMessage]
    instructions: str
    prompt_cache_key: str


class RuntimeContext(TypedDict, total=False):
    """How the agent was started."""

    mode: SpawnMode
    """By a person or by another agent."""
    objective: Line | None
    """What it has to achieve."""
    parent_role: Line | None
    """The role of the agent that started it."""
    task_id: Line | None
    """The task it works on."""


class ScanAnswer(TypedDict):
    """The result of a scan."""

    findings: list[ScanFinding]
    """Where, the worst first; empty if the text passes."""
    reasons: list[str]
    """Why, for a person; empty if the text passes."""
    score: float
    """From 0 to 1; [`ScanVerdict::Flag`] begins at one half."""
    verdict: ScanVerdict


class _ScanFindingRequired(TypedDict):
    excerpt: str
    """What it says, shortened."""
    line: int
    """The line it starts on, from 1."""
    range: list[int]
    """Its first byte and the byte behind its last; of what it was decoded from, if it was."""
    score: float
    """As for the whole text."""


class ScanFinding(_ScanFindingRequired, total=False):
    """One place in a text that looks like an injection."""

    reading: str | None
    """How it was read, if not plainly: "in a comment", "in base64 or hexadecimal"."""


class ScanRequest(TypedDict):
    """A text to scan for prompt injection."""

    text: str
    """The text: plain, HTML, JSON or mail."""


ScanVerdict: TypeAlias = "Literal['PASS', 'FLAG', 'BLOCK']"
"""Whether a text is likely a prompt injection, from unlikely to likely."""

class _ScreenAnswerRequired(TypedDict):
    findings: list[ScreeningFinding]
    """All findings, by file and line."""
    reason: str
    """One sentence: why."""
    verdict: Verdict
    """The strictest verdict of all findings."""


class ScreenAnswer(_ScreenAnswerRequired, total=False):
    """What screening says about a text."""

    capabilities: Capabilities
    """What the skill's code can do."""


ScreenPolicy: TypeAlias = "Literal['agent', 'import']"
"""Who wrote the text, and so how strict screening is."""

class _ScreenRequestRequired(TypedDict):
    text: str
    """The text of SKILL.md."""


class ScreenRequest(_ScreenRequestRequired, total=False):
    """A skill to screen: its text, and the other files of its folder."""

    files: dict[str, str]
    """The other files of the folder, by path."""
    name: str | None
    """The name of the folder."""
    policy: ScreenPolicy
    """Who wrote the skill."""


class _ScreeningFindingRequired(TypedDict):
    excerpt: str
    """The place itself, on one line, shortened, with invisible characters made visible."""
    line: int
    """The line of the text, from 1."""
    message: str
    """The problem, for a person."""
    rule: str
    """The rule, such as `shell-execution`."""
    verdict: Verdict
    """What this finding alone would lead to."""


class ScreeningFinding(_ScreeningFindingRequired, total=False):
    """One thing that was found."""

    file: str | None
    """The file of the skill, if it is not `SKILL.md` or the only one."""


class SectionChange(TypedDict):
    """A section that is not the same in both prompts."""

    kind: ChangeKind
    """What became of it."""
    module: str
    """The module that wrote it."""
    tokens_after: int
    """What it costs."""
    tokens_before: int
    """What it cost."""


class SectionEntry(TypedDict):
    """A section of the prompt."""

    authority: Authority
    """How far it is trusted."""
    detail: Detail
    """Full or minimal."""
    module: str
    """The module that wrote it."""
    range: list[int]
    """Its bytes in `content`."""
    sources: list[SectionSource]
    """Where its text came from."""
    tokens: int
    """What it costs."""
    volatility: Volatility
    """How often it changes."""


class _SectionSourceRequired(TypedDict):
    lines: list[int]
    """First and last line of the source that are in the prompt."""
    path: str
    """The file, or a name such as `builtin:security`."""
    range: list[int]
    """The bytes of the prompt it fills."""


class SectionSource(_SectionSourceRequired, total=False):
    """Where a part of a section came from."""

    digest: str | None
    """Digest of those bytes; present when digests were asked for."""


class _SectionTokensRequired(TypedDict):
    level: int
    """1 to 6; 0 for the text before the first heading."""
    line: int
    """The line of the block it starts on, from 1."""
    range: list[int]
    """Bytes of the block's text."""
    title: str
    """The heading without its marks; empty for the text before the first."""
    tokens: int


class SectionTokens(_SectionTokensRequired, total=False):
    """A Markdown section of a system block."""

    origin: TextOrigin | None
    """The origin of most of its text."""


class SelectAnswer(TypedDict):
    """What fits the task, best first."""

    abstained: list[str]
    """The kinds (`tools`, `skills`) of which nothing fits."""
    skills: list[SelectedItem]
    """The skills that fit."""
    tools: list[SelectedItem]
    """The tools that fit."""


class _SelectRequestRequired(TypedDict):
    task: str
    """What the person asked for."""


class SelectRequest(_SelectRequestRequired, total=False):
    """A task, and what could help with it."""

    max_results: int | None
    """The maximum number of each kind that are there for their score alone [default: 5]."""
    max_skills: int | None
    """The maximum number of skills [default: 3]."""
    max_tools: int | None
    """The maximum number of tools [default: 10]."""
    min_score: float | None
    """The minimum score; by default that of the embedder."""
    skills: list[SkillInput]
    """The skills: Markdown, or objects with `name` and `description`."""
    tools: list[ToolInput]
    """The tools: names, or objects with `name` and `description`."""


class Selected(TypedDict):
    """A tool or skill that was selected."""

    name: Line
    """Its name."""
    reasons: list[Line]
    """Why it is here: `named` by the task, `base` of the mode, or its `score`."""
    score: float
    """How well it fits."""


class SelectedItem(TypedDict):
    """A tool or skill that was picked."""

    index: int
    """Its place in the given list."""
    name: str
    """Its name."""
    reasons: list[str]
    """Why it was picked: the task names it, or its score is high enough."""
    score: float
    """How well it fits."""


class _SelectionRequired(TypedDict):
    embedding_calls: int
    """Number of embedding calls."""
    filtered_count: int
    """Number of recalled memories and activity entries that were left out, because of their kind or as likely injections."""
    skills: list[Selected]
    """The skills, best first."""
    tools: list[Selected]
    """The tools, best first."""


class Selection(_SelectionRequired, total=False):
    """What was selected for the task. A Context without one shows everything it has."""

    abstained: list[Line]
    """The kinds (`tools`, `skills`) for which nothing fit the task."""
    degraded: Line | None
    """Why only keywords were compared, although embeddings were requested."""
    embedder: Line | None
    """The embedder used; absent if only keywords were compared."""
    filtered: list[Filtered]
    """What was recalled or selected and then left out or cut."""
    min_score: float | None
    """Scores below this did not count."""


class _ServeAnswerRequired(TypedDict):
    id: Any
    """The `id` of the request."""
    schema_version: int
    """The version of the schema of answers."""


class ServeAnswer(_ServeAnswerRequired, total=False):
    """An answer: `result` or `error`, never both."""

    error: Failure | None
    """Why the method failed."""
    result: Any
    """What the method gives."""


class _ServeRequestRequired(TypedDict):
    method: str
    """The name of the method."""


class ServeRequest(_ServeRequestRequired, total=False):
    """A request."""

    id: Any
    """Any value; the answer repeats it."""
    params: Any
    """The parameters of the method."""


Severity: TypeAlias = "Literal['error', 'warning']"
"""How bad a finding is."""

class _SkillRequired(TypedDict):
    name: Line
    """Its name."""


class Skill(_SkillRequired, total=False):
    """A skill, as an object."""

    body: Untrusted
    """The instructions, without the header."""
    description: Line
    """One sentence on when to use it."""
    folder: Line | None
    """The folder of the files it brings along, relative to the workspace."""
    modes: list[Line]
    """The modes it is offered in; all if empty."""
    path: Line | None
    """Its file, relative to the workspace."""
    provenance: SkillProvenance | None
    """How it was approved; without it, it has skill authority."""


class _SkillApprovalRequired(TypedDict):
    status: Approval
    """Whether it is approved."""


class SkillApproval(_SkillApprovalRequired, total=False):
    """The approval of a skill, as an object."""

    at: Line | None
    """When it was approved."""
    by: Line | None
    """Who approved it: a person, or `screening`."""
    can_do: Line | None
    """What its files can do, as screening found."""
    commit: Line | None
    """The commit that approved it."""


class _SkillDecideAnswerRequired(TypedDict):
    id: str
    """Its ID."""
    skill: str
    """The skill."""
    state: str
    """`approved` or `rejected`."""


class SkillDecideAnswer(_SkillDecideAnswerRequired, total=False):
    """What became of a proposal."""

    commit: str | None
    """The commit, if it was approved."""
    files: list[str]
    """The files that changed."""


class _SkillDecideRequestRequired(TypedDict):
    decision: Decision
    """The decision."""
    id: str
    """The ID of the proposal, or its first characters."""


class SkillDecideRequest(_SkillDecideRequestRequired, total=False):
    """A person's decision on a proposal."""

    reason: str | None
    """The reason for a rejection, for the log and the agent."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _SkillEntryRequired(TypedDict):
    approval: str
    """`approved by a person`, `approved by screening`, `local file` or `not approved`."""
    name: str
    """Its name."""


class SkillEntry(_SkillEntryRequired, total=False):
    """A skill, and how far it is approved."""

    path: str | None
    """Its file, relative to the workspace."""


SkillInput: TypeAlias = "str | Skill"
"""A skill: raw Markdown, or an object."""

SkillListAnswer: TypeAlias = "list[ListedSkill]"
"""The answer of `skill_list`"""

class SkillListRequest(TypedDict, total=False):
    """A workspace whose skills to list."""

    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


SkillProposalsAnswer: TypeAlias = "list[ProposalEntry]"
"""The answer of `skill_proposals`"""

class SkillProposalsRequest(TypedDict, total=False):
    """Proposals to list, or one to show."""

    all: bool
    """Include decided proposals."""
    id: str | None
    """Show only this proposal, with its diff: its ID, or the first characters."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _SkillProposeAnswerRequired(TypedDict):
    findings: list[ScreeningFinding]
    """What was found."""
    id: str
    """The proposal, for `approve` and `reject`, and in the audit log."""
    reason: str
    """Why."""
    skill: str
    """The skill."""
    verdict: Verdict
    """What screening says."""


class SkillProposeAnswer(_SkillProposeAnswerRequired, total=False):
    """What became of a proposal."""

    capabilities: Capabilities
    """What its files can do."""
    commit: str | None
    """The commit that holds it, once it is approved."""


class _SkillProposeRequestRequired(TypedDict):
    content: str
    """The text of SKILL.md, header included."""


class SkillProposeRequest(_SkillProposeRequestRequired, total=False):
    """A skill to add or change."""

    agent: str | None
    """The agent that proposes."""
    files: dict[str, str]
    """The other files of the skill, by path."""
    name: str | None
    """The name of the skill; that of its header where absent."""
    profile: Profile | None
    """The security profile; that of the workspace where absent."""
    reason: str | None
    """The reason for the proposal."""
    taint_ratio: float
    """The share of the session's tokens that came from external content, 0 to 1."""
    taint_threshold: float | None
    """The taint ratio above which the proposal is refused; that of the profile where absent."""
    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


SkillProvenance: TypeAlias = "Approval | SkillApproval"
"""The approval of a skill."""

class SkillReadAnswer(TypedDict):
    """A skill's whole text."""

    content: str
    """The text as it lies on disk, header and all."""
    name: str
    """Its name."""
    path: str
    """Its file."""


class _SkillReadRequestRequired(TypedDict):
    name: str
    """The name of the skill."""


class SkillReadRequest(_SkillReadRequestRequired, total=False):
    """A skill to read."""

    workspace: PathLike[str] | str | None
    """The directory of the workspace."""


class _SourceShareRequired(TypedDict):
    is_file: bool
    """Whether `name` is a path."""
    name: str
    """The path of a file, or the name of another origin."""
    share: float
    """Of all tokens of these calls, from 0 to 1."""
    tokens: int


class SourceShare(_SourceShareRequired, total=False):
    """What the files and other origins contribute to the latest calls."""

    lines: list[list[int]]
    """The lines that were found, as ranges from 1; empty for other origins."""


class _SourcedTextRequired(TypedDict):
    text: str
    """The text itself."""


class SourcedText(_SourcedTextRequired, total=False):
    """A text with the place it came from."""

    cut: Cut | None
    """What the text lost when it was cut to a limit."""
    first_line: int | None
    """The line of the file on which the text starts."""
    path: str | None
    """The file, relative to the workspace."""


SpawnMode: TypeAlias = "Literal['top-level', 'sub-agent']"
"""Who started the agent."""

class Stretch(TypedDict):
    """A stretch of text with one origin."""

    line: int
    """The first line of the part's text, from 1."""
    origin: TextOrigin
    range: list[int]
    """Bytes of the part's text."""
    tokens: int


Text: TypeAlias = "str | SourcedText"
"""A text, or a text with the place it came from."""

TextOrigin: TypeAlias = "TextOrigin1 | TextOrigin2 | TextOrigin3 | TextOrigin4 | TextOrigin5 | TextOrigin6 | TextOrigin7"
"""Where text comes from."""

class TextOrigin1(TypedDict):
    """A file of the project, or one of the person's own instruction files."""

    exact: bool
    """Whether every line is the file's, apart from blanks at its ends."""
    kind: Literal['file']
    lines: list[int]
    """First and last line, from 1."""
    path: str
    """Relative to the directory of the capture, or starting with `~/`."""


class TextOrigin2(TypedDict):
    """In no file: the program brought it."""

    kind: Literal['vendor']


class TextOrigin3(TypedDict):
    """A tool of an MCP server."""

    kind: Literal['mcp']
    server: str


class TextOrigin4(TypedDict):
    """What the person wrote."""

    kind: Literal['user']


class TextOrigin5(TypedDict):
    """What the model wrote before."""

    kind: Literal['model']


class TextOrigin6(TypedDict):
    """What a tool returned."""

    kind: Literal['tool']
    name: str


class TextOrigin7(TypedDict):
    """The directory of the capture is gone, so nothing can be compared."""

    kind: Literal['unknown']


Texts: TypeAlias = "Document | list[Document]"
"""One text, or several in order."""

Tokenizer: TypeAlias = "Literal['estimate', 'o200k', 'cl100k']"
"""How tokens are counted."""

class _ToolRequired(TypedDict):
    name: Line
    """Its name."""


class Tool(_ToolRequired, total=False):
    """A tool, as an object."""

    called: Line | None
    """The name under which the agent calls it, if different."""
    capability: Line | None
    """The capability pack that belongs to it."""
    description: Line
    """What it does."""
    modes: list[Line]
    """The modes it is offered in; all if empty."""


ToolInput: TypeAlias = "str | Tool"
"""A tool: its name, or an object."""

TurnContextPlace: TypeAlias = "Literal['before-user-message', 'after-user-message', 'after-system-prompt', 'in-cached-prefix', 'missing']"
"""Where the turn context of a prompt is."""

Untrusted: TypeAlias = "Text"
"""Text of Skill or Reference authority: enters a prompt only through a fence."""

class Usage(TypedDict):
    """Tokens used by model calls."""

    cache_read_tokens: int
    """Read from the provider's cache."""
    cache_write_tokens: int
    """Written to the provider's cache."""
    input_tokens: int
    """Read by the model, not from the cache."""
    output_tokens: int
    """Written by the model."""


Verdict: TypeAlias = "Literal['AUTO_APPROVE', 'NEEDS_REVIEW', 'REJECT']"
"""The result of screening, from least to most strict."""

Volatility: TypeAlias = "Literal['stable', 'session', 'turn']"
"""When a section changes. The order is the order in which sections must stand for a provider's prefix cache to hold."""

class Waste(TypedDict):
    """Tokens that did nothing."""

    kind: WasteKind
    places: list[str]
    """Where: parts of a request, files with lines, or the tools' server."""
    times: int
    """How often."""
    tokens: int
    """Over all calls."""
    what: str
    """What: an excerpt, a tool's name, a path."""


WasteKind: TypeAlias = "Literal['repeated-text', 'unused-tool', 'repeated-read']"

class _WatchReportAnswerRequired(TypedDict):
    calls: list[CallReport]
    """The calls in the order in which they were made."""
    conversations: list[Conversation]
    """The calls that share a prompt, one entry per conversation."""
    dangers: list[RequestDanger]
    """The most serious first."""
    notes: list[str]
    """What the report could not find out, and why."""
    prices_date: str
    """The date of the price table."""
    sources: list[SourceShare]
    """Where the text of the latest call of every conversation comes from, the largest share first."""
    tokenizer: str
    """How tokens were counted: `estimate`, `o200k` or `cl100k`."""
    totals: ReportTotals
    waste: list[Waste]
    """The most expensive first."""


class WatchReportAnswer(_WatchReportAnswerRequired, total=False):
    """What was found in a capture."""

    capture: CaptureInfo | None
    """Absent for a single request that was not captured."""


class WatchReportRequest(TypedDict, total=False):
    """A capture of `foreword watch`."""

    directory: str | None
    """The directory whose files to look for in the text; by default the one the program ran in."""
    id: str | None
    """The ID of the capture, or a part of it; the latest if absent."""
    tokenizer: Tokenizer
    """How tokens are counted."""
    with_texts: bool
    """Whether to include the text of the latest calls, redacted."""


class When(TypedDict, total=False):
    """Every condition that is set must hold; a list holds when one of its values does."""

    agent: OneOf
    """The agent's ID."""
    channel: OneOf
    """The channel of the conversation."""
    mode: OneOf
    """The mode: plan, act or review."""
    namespace: OneOf
    """The agent's namespace."""
    prompt_mode: OneOf
    """The prompt mode: full, minimal or none."""
    tool: OneOf
    """A tool that is offered."""


class BuildOptions(TypedDict, total=False):
    """Further arguments of `foreword.build`."""

    agent_type: str | None
    """The loop that runs the agent."""
    blueprint: str | None
    """The blueprint: standard, guarded, semantic, roles, companion, or a .toml file."""
    canary: str | None
    """A token that must never appear in output."""
    channel: str | None
    """The channel of the conversation."""
    context_window: int | None
    """The context window of the model, in tokens."""
    cwd: PathLike[str] | str | None
    """The working directory of the agent."""
    hints: Hints
    """What the caller knows that helps to infer the mode."""
    history_tokens: int | None
    """The size of the conversation so far, in tokens."""
    max_prompt_tokens: int | None
    """The maximum size of the prompt, in tokens."""
    mode: AnyMode | None
    """The work mode (plan, act, review, auto) or the prompt size (full, minimal, none)."""
    model: str | None
    """The model that reads the prompt."""
    now: datetime | str | None
    """The current time in RFC 3339; the system clock where absent, for workspaces."""
    output_reserve: int | None
    """Tokens to reserve for the answer."""
    profile: Profile | None
    """The security profile."""
    prompt_mode: PromptMode | None
    """The prompt size."""
    reply_gate: bool | None
    """Whether the agent may stay silent when it is not addressed."""
    reserved_tokens: int | None
    """Tokens to reserve for tool schemas and the current message."""
    runtime_context: RuntimeContext | None
    """How the agent was started."""
    sandbox_type: str | None
    """The sandbox the agent runs in."""
    session: str | None
    """The session, whose memories no other session sees."""
    taint_ratio: float | None
    """The share of the session's tokens that came from external content, 0 to 1."""
    taint_threshold: float | None
    """The taint ratio above which sensitive actions are refused, 0 to 1."""
    tokenizer: Tokenizer
    """How tokens are counted."""
    user_id: str | None
    """The user whose USER.md to include."""
