// What Foreword reads and answers, as types. Made by `cargo xtask types` from `schemas/`.

/** A block of text that the provider may cache. */
export interface AnthropicBlock {
  /** Everything up to here is cached. */
  cache_control?: CacheControl | null;
  text: string;
  type: "text";
}

/** A message with blocks of text. */
export interface AnthropicMessage {
  content: AnthropicBlock[];
  role: "user";
}

/** The fields of an Anthropic Messages request. */
export interface AnthropicRequest {
  messages: AnthropicMessage[];
  system: AnthropicBlock[];
}

/** A work mode or a prompt size. */
export type AnyMode = ModeChoice | PromptMode;

/** How a skill came to be here, and so how far it is trusted. */
export type Approval = "approved" | "local" | "unapproved";

/** How far a text may instruct. The order is the order of precedence, highest first. */
export type Authority = "constitution" | "operator" | "user" | "runtime" | "skill" | "reference";

/** A blueprint: which modules a prompt has, in which order and under which conditions. */
export interface Blueprint {
  /** What BOOTSTRAP.md does to the rest of the prompt. */
  bootstrap?: Bootstrap | null;
  /** The blueprint to start from: a built-in name or a file. */
  extends?: string | null;
  /** The modules, in order. */
  module?: BlueprintModule[];
  /** The name of the blueprint. */
  name: string;
  /** Modules of the extended blueprint to leave out. */
  remove?: string[];
  /** Put sections that change every turn into the turn context. */
  turn_context?: boolean | null;
  /** The prompt mode of turns without a person. */
  unattended?: PromptMode | null;
}

/** One module of a blueprint. */
export interface BlueprintModule {
  /** The file whose text the section holds. */
  file?: string | null;
  /** The heading above the text of `file`. */
  heading?: string | null;
  /** How long the module survives a tight budget; higher survives longer. */
  keep?: number | null;
  /** The built-in module to use under this name. */
  kind?: string | null;
  /** The maximum length of the text of `file`, in characters. */
  max_chars?: number | null;
  /** The name of the module; a built-in one unless `kind` or `file` is given. */
  name: string;
  /** Whether the module may be left out. */
  optional?: boolean | null;
  /** The place in the prompt; lower is earlier. */
  priority?: number | null;
  /** How often the text of `file` changes: `stable`, `session` or `turn`. */
  volatility?: Volatility | null;
  /** The conditions under which the module takes part. */
  when?: When | null;
}

/** What BOOTSTRAP.md does to the rest of the prompt. */
export type Bootstrap = "alone" | "identity";

/** The answer of `build`: the manifest for `text`, or the fields of a provider's request. */
export type BuildAnswer = BuiltPrompt | AnthropicRequest | ChatRequest | ResponsesRequest | GeminiRequest;

/** A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it. */
export interface BuildRequest {
  /** The agent: a folder in agents/. */
  agent?: string | null;
  /** The loop that runs the agent. */
  agentType?: string | null;
  /** For `explain`: one byte of the prompt. */
  at?: number | null;
  /** The blueprint: standard, guarded, semantic, roles, companion, or a .toml file. */
  blueprint?: string | null;
  /** A token that must never appear in output. */
  canary?: string | null;
  /** The channel of the conversation. */
  channel?: string | null;
  /** A complete Context. No file is read. */
  context?: Context | null;
  /** The context window of the model, in tokens. */
  contextWindow?: number | null;
  /** The working directory of the agent. */
  cwd?: string | null;
  /** For `build`: the form of the answer. */
  format?: Format;
  /** What the caller knows that helps to infer the mode. */
  hints?: Hints;
  /** The size of the conversation so far, in tokens. */
  historyTokens?: number | null;
  /** The maximum size of the prompt, in tokens. */
  maxPromptTokens?: number | null;
  /** The work mode (plan, act, review, auto) or the prompt size (full, minimal, none). */
  mode?: AnyMode | null;
  /** The model that reads the prompt. */
  model?: string | null;
  /** The current time in RFC 3339; the system clock where absent, for workspaces. */
  now?: string | null;
  /** Tokens to reserve for the answer. */
  outputReserve?: number | null;
  /** The security profile. */
  profile?: Profile | null;
  /** The prompt size. */
  promptMode?: PromptMode | null;
  /** Whether the agent may stay silent when it is not addressed. */
  replyGate?: boolean | null;
  /** Tokens to reserve for tool schemas and the current message. */
  reservedTokens?: number | null;
  /** How the agent was started. */
  runtimeContext?: RuntimeContext | null;
  /** The sandbox the agent runs in. */
  sandboxType?: string | null;
  /** The session, whose memories no other session sees. */
  session?: string | null;
  /** The share of the session's tokens that came from external content, 0 to 1. */
  taintRatio?: number | null;
  /** The taint ratio above which sensitive actions are refused, 0 to 1. */
  taintThreshold?: number | null;
  /** The task to build the prompt for. */
  task?: string | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
  /** The user whose USER.md to include. */
  userId?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** A tool or skill that was selected. */
export interface BuildRequestSelected {
  /** Its name. */
  name: Line;
  /** Why it is here: `named` by the task, `base` of the mode, or its `score`. */
  reasons?: Line[];
  /** How well it fits. */
  score?: number;
}

/** What was selected for the task. A Context without one shows everything it has. */
export interface BuildRequestSelection {
  /** The kinds (`tools`, `skills`) for which nothing fit the task. */
  abstained?: Line[];
  /** Why only keywords were compared, although embeddings were requested. */
  degraded?: Line | null;
  /** The embedder used; absent if only keywords were compared. */
  embedder?: Line | null;
  /** Number of embedding calls. */
  embeddingCalls?: number;
  /** What was recalled or selected and then left out or cut. */
  filtered?: Filtered[];
  /** Number of recalled memories and activity entries that were left out, because of their kind or as likely injections. */
  filteredCount?: number;
  /** Scores below this did not count. */
  minScore?: number | null;
  /** The skills, best first. */
  skills?: BuildRequestSelected[];
  /** The tools, best first. */
  tools?: BuildRequestSelected[];
}

/** The manifest, with what the caller should know about how the prompt was gathered. */
export interface BuiltPrompt {
  /** System and turn context as one text. */
  content: string;
  /** Digest of `content`; present when digests were asked for. */
  digest?: string | null;
  /** Items that were left out or changed. */
  filtered: Filtered[];
  /** Modules that had no content. */
  inactive: string[];
  /** The figures. */
  metadata: Metadata;
  /** Modules that had content and were left out. */
  omitted: Omitted[];
  /** The sections of the prompt, in order. */
  sections: SectionEntry[];
  /** What was selected for the task, with scores and reasons. */
  selection?: Selection | null;
  /** The available skills, and their approval. */
  skills?: SkillEntry[];
  /** Bytes from the start that change only when a file changes. */
  stablePrefixBytes: number;
  /** The system prompt. */
  system: string;
  /** What belongs in front of the newest user message. */
  turnContext: string;
  warnings?: string[];
}

/** Where one byte of a prompt comes from. */
export interface ByteOrigin {
  /** How far it is trusted. */
  authority: Authority | null;
  /** The byte. */
  byte: number;
  /** The line in that file. */
  line: number | null;
  /** The module that wrote it; none between two sections. */
  section: string | null;
  /** The file it came from. */
  source: string | null;
  /** How often it changes. */
  volatility: Volatility | null;
}

/** Why a cached prefix was lost. */
export interface CacheBreak {
  /** What to change. */
  advice: string;
  after: string;
  /** Both sides around the first differing byte, redacted, on one line. */
  before: string;
  /** Of the compared bytes. */
  byte: number;
  cause: CacheBreakCause;
  /** The line in that part, from 1. */
  line: number;
  lostTokens: number;
  /** What that cost beyond the price of cached tokens, in US dollars. */
  lostUsd?: number | null;
  /** Who wrote that line. */
  origin: TextOrigin;
  /** Where the first differing byte is: `system[0]`, `tools[3]`. */
  place: string;
  /** The heading above it, if there is one. */
  section?: string | null;
}

/** The known causes of a lost cache prefix. */
export type CacheBreakCause = "clock" | "counter" | "identifier" | "unstable-order" | "tool-list-changed" | "history-rewritten" | "prompt-changed" | "breakpoint-missing" | "breakpoint-misplaced" | "model-changed";

/** How long the provider keeps a prefix. */
export interface CacheControl {
  type: "ephemeral";
}

/** What a call has in common with the previous one of its conversation. */
export interface CacheUse {
  /** The difference, if it lies before the end of what could have been reused, or if the request does not use the cache at all. */
  broken?: CacheBreak | null;
  /** Bytes that both calls start with, of tools, system and messages. */
  commonBytes: number;
  commonTokens: number;
  /** The number of the call it is compared with. */
  previous: number;
  /** What the provider says it read from its cache. */
  providerReadTokens?: number | null;
  /** Tokens of the previous call that could have been read from the cache. */
  reusableTokens: number;
}

/** One call of a model. */
export interface CallReport {
  api: ModelApi;
  /** RFC 3339. */
  at: string;
  /** Compared with the previous call of the conversation; absent for the first. */
  cache?: CacheUse | null;
  /** The index of its conversation in [`Report::conversations`]. */
  conversation?: number | null;
  costUsd?: number | null;
  firstByteMs: number;
  /** Tokens more than the previous call of the conversation. */
  growth: number;
  model: string;
  /** From 1, in the capture. */
  number: number;
  /** What the request is made of, in the order in which providers cache it: tools, system, messages. */
  parts: RequestPart[];
  /** Why the call failed or cannot be read. */
  problem?: string | null;
  /** The HTTP status; 0 if there was no answer. */
  status: number;
  /** Tokens of the whole request, and of its three regions. */
  tokens: RegionTokens;
  totalMs: number;
  usage?: Usage | null;
}

/** What a skill can do. */
export interface Capabilities {
  /** Packages it installs. */
  installs?: string[];
  /** Hosts it connects to; `*` if the address is not constant. */
  network?: string[];
  /** Programs it starts. */
  runs?: string[];
  /** Secrets it reads: variables, files, stores. */
  secrets?: string[];
  /** What starts on its own: hooks, jobs, start-up files. */
  starts?: string[];
  /** Files that cannot be read: binaries, archives, what is no text. */
  unread?: string[];
  /** Files it writes outside its own folder. */
  writes?: string[];
}

/** A capability pack, as an object. */
export interface Capability {
  /** Its name. */
  name?: Line;
  /** Its instructions. */
  text: Document;
}

/** A capability pack: its text, or an object. */
export type CapabilityInput = string | Capability;

/** A capture. */
export interface CaptureInfo {
  /** The program with its arguments, redacted; empty for `watch --proxy`. */
  command: string[];
  /** The directory whose files the text was compared with. */
  directory: string;
  /** What the program exited with, once it has. */
  exitCode?: number | null;
  id: string;
  /** RFC 3339. */
  startedAt: string;
}

/** What became of a section. */
export type ChangeKind = "added" | "removed" | "changed" | "moved";

/** A message with one text. */
export interface ChatMessage {
  content: string;
  role: "system" | "user";
}

/** The fields of an OpenAI-compatible chat completion request. */
export interface ChatRequest {
  messages: ChatMessage[];
  prompt_cache_key: string;
}

/** The report of one request, and whether the prompt is in it. */
export interface CheckRequestAnswer {
  /** The calls in the order in which they were made. */
  calls: CallReport[];
  /** Absent for a single request that was not captured. */
  capture?: CaptureInfo | null;
  /** The calls that share a prompt, one entry per conversation. */
  conversations: Conversation[];
  /** The most serious first. */
  dangers: RequestDanger[];
  /** What the report could not find out, and why. */
  notes: string[];
  /** The date of the price table. */
  pricesDate: string;
  /** Whether the prompt is in the request as it was built; absent without a prompt to look for. */
  prompt?: PromptCheck | null;
  /** Where the text of the latest call of every conversation comes from, the largest share first. */
  sources: SourceShare[];
  /** How tokens were counted: `estimate`, `o200k` or `cl100k`. */
  tokenizer: string;
  totals: ReportTotals;
  /** The most expensive first. */
  waste: Waste[];
}

/** A request body, and the prompt that should be in it: one that was built (`prompt`), or one to build (`build`). */
export interface CheckRequestRequest {
  /** The body of a request to Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or Gemini, as a JSON object or as its text. */
  body: RequestBody;
  /** The parameters of `build`, for the prompt that should be in it. */
  build?: PromptParams | null;
  /** A directory whose files to look for in the text. */
  directory?: string | null;
  /** The prompt that should be in it. */
  prompt?: ExpectedPrompt | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
}

/** Everything a prompt depends on. The same Context gives the same bytes. */
export interface Context {
  /** Recent activity, best first. */
  activity?: MemoryInput[] | null;
  /** The agent's id. */
  agentId?: Line | null;
  /** The loop that runs the agent. */
  agentType?: string;
  /** The platform base; built in if absent. */
  base?: Document | null;
  /** A token that must never appear in output. */
  canary?: Line | null;
  /** Capability packs, in order. */
  capabilities?: CapabilityInput[] | null;
  /** Where the conversation takes place. */
  channel?: Line;
  /** The constitution; built in if absent. */
  constitution?: Document | null;
  /** CONTEXT.md and the like: a text, or several in order. */
  contextContent?: Texts | null;
  /** The model's window in tokens. */
  contextWindow?: number;
  /** Facts of the machine. */
  env?: Env | null;
  /** Texts of file-backed modules, by file name; read when the Context was gathered. */
  files?: Record<string, Document> | null;
  /** Facts of the repository. */
  git?: Git | null;
  /** What the caller knows that helps to infer the mode. */
  hints?: Hints | null;
  /** What was left out of the conversation for lack of space; copied to the manifest. */
  historyOmitted?: HistoryOmitted | null;
  /** Tokens of the conversation so far. */
  historyTokens?: number | null;
  /** The files that say who the agent is. */
  identityFiles?: IdentityFiles | null;
  /** What was left out while gathering the Context, and why; copied to the manifest. */
  leftOut?: Filtered[] | null;
  /** A limit on the prompt itself. */
  maxPromptTokens?: number | null;
  /** Recalled memories, best first. */
  memories?: MemoryInput[] | null;
  /** What the agent should do; `auto` infers it from the task. */
  mode?: ModeChoice | null;
  /** The model that will read the prompt. */
  model?: Line | null;
  /** The agent's namespace. */
  namespace?: Line;
  /** The time, given by the caller. */
  now?: string | null;
  /** Tokens kept for the answer. */
  outputReserve?: number;
  /** The template of the sub-agent overlay; built in if absent. */
  overlay?: Document | null;
  /** The persona of the `roles` blueprint. */
  persona?: Document | null;
  /** The security profile; `balanced` if absent. */
  profile?: Profile | null;
  /** How much of the prompt is wanted. */
  promptMode?: PromptMode | null;
  /** May the agent stay silent when it is not addressed? */
  replyGate?: boolean | null;
  /** Tokens kept for tool schemas and the current message. */
  reservedTokens?: number | null;
  /** The rules of the modes; built in if absent. */
  rules?: Document | null;
  /** How the agent was started. */
  runtimeContext?: RuntimeContext | null;
  /** The sandbox in use. */
  sandboxType?: string;
  /** What was selected for the task; if absent, everything is shown. */
  selection?: BuildRequestSelection | null;
  /** Skills, best first. */
  skills?: SkillInput[] | null;
  /** External tokens over all tokens of the session, 0 to 1. */
  taintRatio?: number | null;
  /** The ratio above which sensitive actions are refused; the profile's if absent. */
  taintThreshold?: number | null;
  /** What the person asked for. */
  task?: Document | null;
  /** Tools. */
  tools?: ToolInput[] | null;
  /** The person the agent works for. */
  userId?: Line | null;
  /** The working directory of the agent. */
  workspace?: Line | null;
}

/** Calls that build on one another or share a prompt. */
export interface Conversation {
  api: ModelApi;
  cacheBreaks: number;
  /** The numbers of its calls. */
  calls: number[];
  lostTokens: number;
  model: string;
  /** The beginning of the first user message, on one line. */
  title: string;
}

/** The size of a text. */
export interface CountAnswer {
  /** Its tokens. */
  tokens: number;
}

/** A text whose tokens to count. */
export interface CountRequest {
  /** The text. */
  text: string;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
}

/** What a text lost when it was cut to a limit. */
export interface Cut {
  /** Characters left out. */
  chars: number;
  /** The limit that was applied, in characters. */
  limit: number;
  /** First and last line left out, in the source file. */
  lines: [number, number];
}

export type DangerKind = "injection" | "secret" | "authority-claim" | "invisible-characters" | "foreign-text";

/** From harmless to serious. */
export type DangerSeverity = "note" | "warning" | "error";

/** What a person decided. */
export type Decision = "approve" | "reject";

/** How much of a module is in the prompt. */
export type Detail = "full" | "minimal";

/** How the second prompt differs from the first. */
export interface DiffAnswer {
  /** Tokens of the second prompt from the first difference on. */
  billedAgainTokens: number;
  /** The sections that are not the same: in the order of the second prompt, then those removed. */
  changes: SectionChange[];
  /** The second prompt around the difference, on one line. */
  excerptAfter: string | null;
  /** The first prompt around the difference, on one line. */
  excerptBefore: string | null;
  /** The first byte that differs, on a character boundary. */
  firstByte: number | null;
  /** The same bytes? */
  identical: boolean;
  /** Bytes that both prompts start with. */
  keptBytes: number;
  /** Its line, counted from 1. */
  line: number | null;
  /** The module whose section differs there: the one that went, where one went, else the second prompt's. */
  section: string | null;
  /** Tokens of the second prompt. */
  tokensAfter: number;
  /** Tokens of the first prompt. */
  tokensBefore: number;
}

/** Two prompts to compare: each a prompt to build, or a saved answer of `build`. */
export interface DiffRequest {
  /** The first prompt. */
  a: DiffSide;
  /** The second prompt. */
  b: DiffSide;
}

/** One of two prompts. */
export type DiffSide = PromptParams | Record<string, unknown>;

/** Text of Constitution, Operator or User authority: keeps its markdown. */
export type Document = Text;

/** Facts of the machine. */
export interface Env {
  /** The directory. */
  cwd?: Line;
  /** The operating system. */
  os?: Line;
}

/** A prompt that was built. */
export interface ExpectedPrompt {
  /** The part of it that stays the same between sessions; a prefix of `system`. */
  stable?: string;
  /** The system prompt. */
  system: string;
  /** The turn context; not looked for if absent. */
  turnContext?: string | null;
}

/** The answer of `explain` */
export type ExplainAnswer = ExplainAnswer1 | ByteOrigin;

/** The manifest, with what the caller should know about how the prompt was gathered. */
export interface ExplainAnswer1 {
  /** Digest of `content`; present when digests were asked for. */
  digest?: string | null;
  /** Items that were left out or changed. */
  filtered: Filtered[];
  /** Modules that had no content. */
  inactive: string[];
  /** The figures. */
  metadata: Metadata;
  /** Modules that had content and were left out. */
  omitted: Omitted[];
  /** The sections of the prompt, in order. */
  sections: SectionEntry[];
  /** What was selected for the task, with scores and reasons. */
  selection?: Selection | null;
  /** The available skills, and their approval. */
  skills?: SkillEntry[];
  /** Bytes from the start that change only when a file changes. */
  stablePrefixBytes: number;
  warnings?: string[];
}

/** A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it. */
export interface ExplainRequest {
  /** The agent: a folder in agents/. */
  agent?: string | null;
  /** The loop that runs the agent. */
  agentType?: string | null;
  /** For `explain`: one byte of the prompt. */
  at?: number | null;
  /** The blueprint: standard, guarded, semantic, roles, companion, or a .toml file. */
  blueprint?: string | null;
  /** A token that must never appear in output. */
  canary?: string | null;
  /** The channel of the conversation. */
  channel?: string | null;
  /** A complete Context. No file is read. */
  context?: Context | null;
  /** The context window of the model, in tokens. */
  contextWindow?: number | null;
  /** The working directory of the agent. */
  cwd?: string | null;
  /** For `build`: the form of the answer. */
  format?: Format;
  /** What the caller knows that helps to infer the mode. */
  hints?: Hints;
  /** The size of the conversation so far, in tokens. */
  historyTokens?: number | null;
  /** The maximum size of the prompt, in tokens. */
  maxPromptTokens?: number | null;
  /** The work mode (plan, act, review, auto) or the prompt size (full, minimal, none). */
  mode?: AnyMode | null;
  /** The model that reads the prompt. */
  model?: string | null;
  /** The current time in RFC 3339; the system clock where absent, for workspaces. */
  now?: string | null;
  /** Tokens to reserve for the answer. */
  outputReserve?: number | null;
  /** The security profile. */
  profile?: Profile | null;
  /** The prompt size. */
  promptMode?: PromptMode | null;
  /** Whether the agent may stay silent when it is not addressed. */
  replyGate?: boolean | null;
  /** Tokens to reserve for tool schemas and the current message. */
  reservedTokens?: number | null;
  /** How the agent was started. */
  runtimeContext?: RuntimeContext | null;
  /** The sandbox the agent runs in. */
  sandboxType?: string | null;
  /** The session, whose memories no other session sees. */
  session?: string | null;
  /** The share of the session's tokens that came from external content, 0 to 1. */
  taintRatio?: number | null;
  /** The taint ratio above which sensitive actions are refused, 0 to 1. */
  taintThreshold?: number | null;
  /** The task to build the prompt for. */
  task?: string | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
  /** The user whose USER.md to include. */
  userId?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** What is wrong, and what to do about it. */
export interface Failure {
  /** What to do next. */
  hints: string[];
  /** What kind of failure it is. */
  kind: FailureKind;
  /** What is wrong, and where. */
  message: string;
}

/** The kind of a failure. */
export type FailureKind = "failed" | "usage" | "internal";

/** An item that was left out, shortened or changed. */
export interface Filtered {
  /** Which one. */
  id: string;
  /** What it is: `memory`, `file`, `text`, … */
  kind: string;
  /** What happened and why. */
  reason: string;
}

/** Conditions that a memory has to match. At least one is needed. */
export interface ForgetFilter {
  /** The agent it belongs to. */
  agent?: string | null;
  /** All of them. */
  everything?: boolean;
  /** Its kind. */
  kind?: string | null;
  /** The session it belongs to. */
  session?: string | null;
  /** Only tainted ones. */
  tainted?: boolean;
  /** The user it belongs to. */
  user?: string | null;
}

/** The form of a prompt. */
export type Format = "text" | "anthropic" | "openai" | "responses" | "gemini";

/** A content of a Gemini request. */
export interface GeminiContent {
  parts: GeminiPart[];
  role?: string | null;
}

/** A text of a Gemini content. */
export interface GeminiPart {
  text: string;
}

/** The fields of a `generateContent` request. Gemini caches by prefix on its own. */
export interface GeminiRequest {
  contents: GeminiContent[];
  systemInstruction: GeminiContent;
}

/** Facts of the repository. */
export interface Git {
  /** The branch. */
  branch?: Line;
  /** What changed. */
  summary?: Line;
}

/** What the caller knows that helps to infer the mode. */
export interface Hints {
  /** The work tree has changes. */
  hasGitChanges?: boolean;
  /** The person named the files to work on. */
  hasNamedFiles?: boolean;
  /** A person is at the terminal. */
  isInteractive?: boolean;
}

/** Turns of a conversation that no longer fit the window. */
export interface HistoryOmitted {
  /** Their tokens. */
  tokens?: number;
  /** Number of the oldest turns that were left out. */
  turns?: number;
}

/** The files that say who the agent is. */
export interface IdentityFiles {
  /** AGENT.md. */
  agent?: Document | null;
  /** AGENTS.md, another name for `agent`. */
  agents?: Document | null;
  /** BOOTSTRAP.md. */
  bootstrap?: Document | null;
  /** HEARTBEAT.md. */
  heartbeat?: Document | null;
  /** IDENTITY.md. */
  identity?: Document | null;
  /** SOUL.md. */
  soul?: Document | null;
  /** TOOLS.md. */
  tools?: Document | null;
  /** USER.md. */
  user?: Document | null;
  /** USER_BOOTSTRAP.md, shown if USER.md is absent. */
  userBootstrap?: Document | null;
}

/** A message of a Responses input. */
export interface InputMessage {
  content: InputText[];
  role: "user";
}

/** A text of a Responses input. */
export interface InputText {
  text: string;
  type: "input_text";
}

/** One value on one line: a name, a path, a branch, a template value. Written flattened and escaped. */
export type Line = string;

/** The answer of `lint` */
export type LintAnswer = LintFinding[];

/** One thing that is wrong, where, and what to do about it. */
export interface LintFinding {
  /** The file, relative to the workspace, or a name where the text has no file. */
  file: string;
  /** What to do. */
  hint: string;
  /** The line in it, counted from 1. */
  line: number;
  /** What is wrong. */
  message: string;
  /** The rule that found it. */
  rule: string;
  /** How bad it is. */
  severity: Severity;
}

/** A workspace to check. */
export interface LintRequest {
  /** Check only this agent. */
  agent?: string | null;
  /** The blueprint to check against. */
  blueprint?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** A skill, and how far it is approved. */
export interface ListedSkill {
  /** When it was approved, in RFC 3339. */
  at?: string | null;
  /** Who approved it. */
  by?: string | null;
  /** What its code can do. */
  canDo?: string | null;
  /** The commit that holds it. */
  commit?: string | null;
  /** When to use it. */
  description?: string | null;
  /** Its name. */
  name: string;
  /** Its file. */
  path: string;
  /** `approved`, or `local` for a file that differs from its commit or has none. */
  status: string;
}

/** A memory, as an object. */
export interface Memory {
  /** The day it is about. */
  date?: Line | null;
  /** Its ID in the store. */
  id?: Line | null;
  /** Its kind; `system`, `meta` and `override` never enter a prompt. */
  kind?: Line | null;
  /** How well it fits the task, 0 to 1. */
  score?: number | null;
  /** Whether it was written from external content. */
  tainted?: boolean;
  /** What is remembered. */
  text: Untrusted;
}

/** A stored memory. */
export interface MemoryAddAnswer {
  /** The ID of the memory. */
  id: string;
  /** `new`, or `same` if it was already remembered. */
  state: string;
  /** What the caller should know. */
  warnings?: string[];
}

/** A memory to store. */
export interface MemoryAddRequest {
  /** The agent that the memory belongs to. */
  agent?: string | null;
  /** The day that the memory is about, as `2026-02-26`. */
  date?: string | null;
  /** The importance, 0 to 1. */
  importance?: number | null;
  /** The kind: note, fact, preference, activity or another lower-case word. */
  kind?: string;
  /** The session that the memory belongs to. */
  session?: string | null;
  /** The source of the memory. */
  source?: string | null;
  /** Whether the memory is external and untrusted. */
  tainted?: boolean;
  /** The text to remember. */
  text: string;
  /** The user that the memory belongs to. */
  user?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** How many memories were deleted. */
export interface MemoryForgetAnswer {
  /** Their number. */
  forgotten: number;
}

/** Memories to delete: those with the given IDs, or all that match `allOf`. */
export interface MemoryForgetRequest {
  /** Delete every memory that matches all of these conditions. */
  allOf?: ForgetFilter | null;
  /** IDs of memories, or their first characters. */
  ids?: string[];
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** A memory that was found. */
export interface MemoryHit {
  /** The agent it belongs to; all where absent. */
  agent?: string | null;
  /** When it was stored, in RFC 3339. */
  createdAt: string;
  /** The day it is about. */
  date?: string | null;
  /** Its ID. */
  id: string;
  /** How much it matters, 0 to 1. */
  importance?: number | null;
  /** What it is for. */
  kind: string;
  /** What the score is made of. */
  parts: MemoryScore;
  /** How well it fits, 0 to 1. */
  score: number;
  /** The session it belongs to; all where absent. */
  session?: string | null;
  /** Where it came from. */
  source?: string | null;
  /** Whether it came from outside. */
  tainted: boolean;
  /** What it says. */
  text: string;
  /** The user it belongs to; all where absent. */
  user?: string | null;
}

/** A memory: its text, or an object. */
export type MemoryInput = string | Memory;

/** A memory. */
export interface MemoryItem {
  /** The agent it belongs to; all where absent. */
  agent?: string | null;
  /** When it was stored, in RFC 3339. */
  createdAt: string;
  /** The day it is about. */
  date?: string | null;
  /** Its ID. */
  id: string;
  /** How much it matters, 0 to 1. */
  importance?: number | null;
  /** What it is for. */
  kind: string;
  /** The session it belongs to; all where absent. */
  session?: string | null;
  /** Where it came from. */
  source?: string | null;
  /** Whether it came from outside. */
  tainted: boolean;
  /** What it says. */
  text: string;
  /** The user it belongs to; all where absent. */
  user?: string | null;
}

/** One page of memories. */
export interface MemoryListAnswer {
  /** The memories, newest first. */
  memories: MemoryItem[];
  /** The value of `after` for the next page; none on the last one. */
  next: string | null;
  /** What the caller should know. */
  warnings?: string[];
}

/** Memories to list. */
export interface MemoryListRequest {
  /** Start after this memory. */
  after?: string | null;
  /** List only memories of this agent. */
  agent?: string | null;
  /** List only this kind. */
  kind?: string | null;
  /** The maximum number of memories. */
  limit?: number;
  /** List only memories of this session. */
  session?: string | null;
  /** List only tainted memories. */
  tainted?: boolean;
  /** List only memories of this user. */
  user?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** The parts of a score. */
export interface MemoryScore {
  /** Whether it asks rather than tells. */
  asks: boolean;
  /** What stands around it. */
  context: number;
  /** Whether the date fits. */
  date: number;
  /** The likeness word by word. */
  likeness: number;
  /** The likeness of the vectors; none without an embedder. */
  meaning: number | null;
  /** How recent it is. */
  recency: number;
  /** Whether the speaker fits. */
  speaker: number;
  /** Whether it tells when something happened. */
  tellsWhen: boolean;
  /** Words in common. */
  words: number;
}

/** The memories that were found, best first. */
export interface MemorySearchAnswer {
  /** How many scored too low. */
  belowThreshold: number;
  /** The memories. */
  hits: MemoryHit[];
  /** How many are of kinds that agents never get. */
  neverInjected: number;
  /** How many repeat another one. */
  repeated: number;
  /** How many memories the caller may see. */
  visible: number;
  /** What the caller should know. */
  warnings?: string[];
  /** Whether vectors were compared. */
  withVectors: boolean;
  /** How many of them have no vector. */
  withoutVector: number;
}

/** A question to the memories. */
export interface MemorySearchRequest {
  /** The agent that asks. */
  agent?: string | null;
  /** Include low scores and kinds that agents never get. */
  all?: boolean;
  /** Search only this kind. */
  kind?: string | null;
  /** The maximum number of results. */
  limit?: number;
  /** The minimum score, 0 to 1; 0.7 by default. */
  minScore?: number | null;
  /** The question or keywords. */
  query: string;
  /** The session of the agent. */
  session?: string | null;
  /** The user that the agent works for. */
  user?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** The figures of a prompt. */
export interface Metadata {
  /** Filled in by the caller, who has a clock. */
  buildTimeMs: number;
  /** The model's window. */
  contextWindow: number;
  /** Tokens of the whole prompt. */
  estimatedTokens: number;
  /** Tokens of the conversation so far. */
  historyTokens: number;
  /** Number of sections. */
  moduleCount: number;
  /** Their modules, in order. */
  modules: string[];
  /** Tokens kept for the answer. */
  outputReserve: number;
  /** The prompt is too large even without all optional sections. */
  overBudget: boolean;
  /** The share of the window that is left, in percent. */
  percentRemaining: number;
  /** Tokens by module, in order. */
  tokensByModule: Record<string, number>;
}

/** The mode an agent works in. */
export type ModeChoice = "auto" | "plan" | "act" | "review";

/** The API a request was written for. */
export type ModelApi = "anthropic-messages" | "openai-chat" | "openai-responses" | "gemini-generate";

/** A module that had content and was left out. */
export interface Omitted {
  /** The module. */
  module: string;
  /** Why, as text. */
  reason: string;
}

/** A value, or a list of which one has to match. */
export type OneOf = string | string[];

/** The program that answers. */
export interface PingAnswer {
  /** Its version. */
  version: string;
}

/** No parameters. */
export type PingRequest = Record<string, unknown>;

/** How much external content a session may contain before sensitive actions are refused. */
export type Profile = "paranoid" | "balanced" | "yolo";

/** The whole account of a prompt, as `foreword build --json` prints it. */
export interface Prompt {
  /** System and turn context as one text. */
  content: string;
  /** Digest of `content`; present when digests were asked for. */
  digest?: string | null;
  /** Items that were left out or changed. */
  filtered: Filtered[];
  /** Modules that had no content. */
  inactive: string[];
  /** The figures. */
  metadata: Metadata;
  /** Modules that had content and were left out. */
  omitted: Omitted[];
  /** The sections of the prompt, in order. */
  sections: SectionEntry[];
  /** What was selected for the task, with scores and reasons. */
  selection?: Selection | null;
  /** The available skills, and their approval. */
  skills?: SkillEntry[];
  /** Bytes from the start that change only when a file changes. */
  stablePrefixBytes: number;
  /** The system prompt. */
  system: string;
  /** What belongs in front of the newest user message. */
  turnContext: string;
}

/** Whether a prompt is in a request as it was built. */
export interface PromptCheck {
  /** If not: the first byte of the prompt that differs, and both sides. */
  firstDifference?: PromptDifference | null;
  /** Text of the system region behind the prompt, without the turn context. */
  foreignAfter?: string | null;
  /** Text of the system region before the prompt. */
  foreignBefore?: string | null;
  /** Whether the request marks the end of the stable part for the cache; absent where the provider caches by itself or the prompt is not there. */
  isMarkedAtBoundary?: boolean | null;
  /** Whether the request marks the end of the whole system prompt for the cache, which then holds for the session; absent like the above. */
  isMarkedAtEnd?: boolean | null;
  /** Whether the system prompt is there, byte for byte. */
  isPresent: boolean;
  /** Whether there is nothing to change: the prompt is there, no other text comes before it, and it can be cached. */
  isRight: boolean;
  /** Where the turn context is; absent if it was not looked for or is empty. */
  turnContext?: TurnContextPlace | null;
}

/** Where a prompt and a request part. */
export interface PromptDifference {
  /** The first byte of the prompt that differs. */
  byte: number;
  /** The prompt from there, redacted. */
  expected: string;
  /** The request from there, redacted. */
  found: string;
  /** The line of the prompt, from 1. */
  line: number;
}

/** How much of the prompt is built. */
export type PromptMode = "full" | "minimal" | "none";

/** A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a `context`, the other fields override it. */
export interface PromptParams {
  /** The agent: a folder in agents/. */
  agent?: string | null;
  /** The loop that runs the agent. */
  agentType?: string | null;
  /** For `explain`: one byte of the prompt. */
  at?: number | null;
  /** The blueprint: standard, guarded, semantic, roles, companion, or a .toml file. */
  blueprint?: string | null;
  /** A token that must never appear in output. */
  canary?: string | null;
  /** The channel of the conversation. */
  channel?: string | null;
  /** A complete Context. No file is read. */
  context?: Context | null;
  /** The context window of the model, in tokens. */
  contextWindow?: number | null;
  /** The working directory of the agent. */
  cwd?: string | null;
  /** For `build`: the form of the answer. */
  format?: Format;
  /** What the caller knows that helps to infer the mode. */
  hints?: Hints;
  /** The size of the conversation so far, in tokens. */
  historyTokens?: number | null;
  /** The maximum size of the prompt, in tokens. */
  maxPromptTokens?: number | null;
  /** The work mode (plan, act, review, auto) or the prompt size (full, minimal, none). */
  mode?: AnyMode | null;
  /** The model that reads the prompt. */
  model?: string | null;
  /** The current time in RFC 3339; the system clock where absent, for workspaces. */
  now?: string | null;
  /** Tokens to reserve for the answer. */
  outputReserve?: number | null;
  /** The security profile. */
  profile?: Profile | null;
  /** The prompt size. */
  promptMode?: PromptMode | null;
  /** Whether the agent may stay silent when it is not addressed. */
  replyGate?: boolean | null;
  /** Tokens to reserve for tool schemas and the current message. */
  reservedTokens?: number | null;
  /** How the agent was started. */
  runtimeContext?: RuntimeContext | null;
  /** The sandbox the agent runs in. */
  sandboxType?: string | null;
  /** The session, whose memories no other session sees. */
  session?: string | null;
  /** The share of the session's tokens that came from external content, 0 to 1. */
  taintRatio?: number | null;
  /** The taint ratio above which sensitive actions are refused, 0 to 1. */
  taintThreshold?: number | null;
  /** The task to build the prompt for. */
  task?: string | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
  /** The user whose USER.md to include. */
  userId?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** A proposal. */
export interface ProposalEntry {
  /** What its code can do. */
  capabilities?: Capabilities;
  /** The commit that carried it out. */
  commit?: string | null;
  /** When it was stored, in RFC 3339. */
  createdAt: string;
  /** When it was decided, in RFC 3339. */
  decidedAt?: string | null;
  /** Who decided. */
  decidedBy?: string | null;
  /** Why it was decided so. */
  decisionReason?: string | null;
  /** What it changes, if one proposal was asked for. */
  diff?: string | null;
  /** What screening found. */
  findings: ScreeningFinding[];
  /** Its ID. */
  id: string;
  /** What kind of change it is. */
  kind: string;
  /** The main file of the skill. */
  path: string;
  /** The policy it was screened by. */
  policy: string;
  /** Who proposed it. */
  proposedBy: string;
  /** Why it was proposed. */
  reason?: string | null;
  /** The commit that a revert undoes. */
  reverts?: string | null;
  /** The skill. */
  skill: string;
  /** Where it stands. */
  state: string;
  /** The verdict of screening. */
  verdict: string;
}

/** Tokens by region of a request. */
export interface RegionTokens {
  messages: number;
  system: number;
  tools: number;
  total: number;
}

/** Sums over all calls. */
export interface ReportTotals {
  /** How many calls lost a cached prefix. */
  cacheBreaks: number;
  calls: number;
  /** US dollars; absent if no model has a known price. */
  costUsd?: number | null;
  /** Calls that the provider refused or that broke off. */
  failed: number;
  /** Tokens that were sent before and had to be read again. */
  lostTokens: number;
  /** What these cost beyond the price of cached tokens, in US dollars. */
  lostUsd?: number | null;
  /** Tokens of the largest request. */
  maxTokens: number;
  /** Tokens of all requests together. */
  tokens: number;
  /** Models without a price, which the cost leaves out. */
  unpricedModels: string[];
  /** What the provider counted, over the calls for which it said so. */
  usage: Usage;
}

/** The body of a request. */
export type RequestBody = string | Record<string, unknown>;

/** Something in a request that a person should look at. */
export interface RequestDanger {
  /** The first call it was sent in. */
  call: number;
  /** The text, redacted, on one line. */
  excerpt: string;
  kind: DangerKind;
  /** The line in that part, from 1. */
  line: number;
  /** What was found, for people. */
  message: string;
  origin: TextOrigin;
  /** The part it is in. */
  place: string;
  severity: DangerSeverity;
}

/** A tool, a system block, or a block of a message. */
export interface RequestPart {
  /** Whether the request asks the provider to cache everything up to here. */
  cacheMark: boolean;
  /** For people: the tool's name, the role, `tool result of Read`. */
  label: string;
  /** Where it is in the request: `system[1]`, `tools[3]`, `messages[4].content[0]`. */
  place: string;
  region: RequestRegion;
  /** Markdown sections of a system block, in order; empty for others and for text without headings. */
  sections?: SectionTokens[];
  /** Of the whole request, from 0 to 1. */
  share: number;
  /** Where the text comes from, in order. The stretches cover it without gaps. */
  stretches?: Stretch[];
  /** The text, redacted; only if the report was asked for texts. */
  text?: string | null;
  tokens: number;
}

/** The region of a request that a part belongs to. */
export type RequestRegion = "tools" | "system" | "messages";

/** The fields of a request to the OpenAI Responses API. */
export interface ResponsesRequest {
  input: InputMessage[];
  instructions: string;
  prompt_cache_key: string;
}

/** How the agent was started. */
export interface RuntimeContext {
  /** By a person or by another agent. */
  mode?: SpawnMode;
  /** What it has to achieve. */
  objective?: Line | null;
  /** The role of the agent that started it. */
  parentRole?: Line | null;
  /** The task it works on. */
  taskId?: Line | null;
}

/** The result of a scan. */
export interface ScanAnswer {
  /** Where, the worst first; empty if the text passes. */
  findings: ScanFinding[];
  /** Why, for a person; empty if the text passes. */
  reasons: string[];
  /** From 0 to 1; [`ScanVerdict::Flag`] begins at one half. */
  score: number;
  verdict: ScanVerdict;
}

/** One place in a text that looks like an injection. */
export interface ScanFinding {
  /** What it says, shortened. */
  excerpt: string;
  /** The line it starts on, from 1. */
  line: number;
  /** Its first byte and the byte behind its last; of what it was decoded from, if it was. */
  range: [number, number];
  /** How it was read, if not plainly: "in a comment", "in base64 or hexadecimal". */
  reading?: string | null;
  /** As for the whole text. */
  score: number;
}

/** A text to scan for prompt injection. */
export interface ScanRequest {
  /** The text: plain, HTML, JSON or mail. */
  text: string;
}

/** Whether a text is likely a prompt injection, from unlikely to likely. */
export type ScanVerdict = "PASS" | "FLAG" | "BLOCK";

/** What screening says about a text. */
export interface ScreenAnswer {
  /** What the skill's code can do. */
  capabilities?: Capabilities;
  /** All findings, by file and line. */
  findings: ScreeningFinding[];
  /** One sentence: why. */
  reason: string;
  /** The strictest verdict of all findings. */
  verdict: Verdict;
}

/** Who wrote the text, and so how strict screening is. */
export type ScreenPolicy = "agent" | "import";

/** A skill to screen: its text, and the other files of its folder. */
export interface ScreenRequest {
  /** The other files of the folder, by path. */
  files?: Record<string, string>;
  /** The name of the folder. */
  name?: string | null;
  /** Who wrote the skill. */
  policy?: ScreenPolicy;
  /** The text of SKILL.md. */
  text: string;
}

/** One thing that was found. */
export interface ScreeningFinding {
  /** The place itself, on one line, shortened, with invisible characters made visible. */
  excerpt: string;
  /** The file of the skill, if it is not `SKILL.md` or the only one. */
  file?: string | null;
  /** The line of the text, from 1. */
  line: number;
  /** The problem, for a person. */
  message: string;
  /** The rule, such as `shell-execution`. */
  rule: string;
  /** What this finding alone would lead to. */
  verdict: Verdict;
}

/** A section that is not the same in both prompts. */
export interface SectionChange {
  /** What became of it. */
  kind: ChangeKind;
  /** The module that wrote it. */
  module: string;
  /** What it costs. */
  tokensAfter: number;
  /** What it cost. */
  tokensBefore: number;
}

/** A section of the prompt. */
export interface SectionEntry {
  /** How far it is trusted. */
  authority: Authority;
  /** Full or minimal. */
  detail: Detail;
  /** The module that wrote it. */
  module: string;
  /** Its bytes in `content`. */
  range: [number, number];
  /** Where its text came from. */
  sources: SectionSource[];
  /** What it costs. */
  tokens: number;
  /** How often it changes. */
  volatility: Volatility;
}

/** Where a part of a section came from. */
export interface SectionSource {
  /** Digest of those bytes; present when digests were asked for. */
  digest?: string | null;
  /** First and last line of the source that are in the prompt. */
  lines: [number, number];
  /** The file, or a name such as `builtin:security`. */
  path: string;
  /** The bytes of the prompt it fills. */
  range: [number, number];
}

/** A Markdown section of a system block. */
export interface SectionTokens {
  /** 1 to 6; 0 for the text before the first heading. */
  level: number;
  /** The line of the block it starts on, from 1. */
  line: number;
  /** The origin of most of its text. */
  origin?: TextOrigin | null;
  /** Bytes of the block's text. */
  range: [number, number];
  /** The heading without its marks; empty for the text before the first. */
  title: string;
  tokens: number;
}

/** What fits the task, best first. */
export interface SelectAnswer {
  /** The kinds (`tools`, `skills`) of which nothing fits. */
  abstained: string[];
  /** The skills that fit. */
  skills: SelectedItem[];
  /** The tools that fit. */
  tools: SelectedItem[];
}

/** A task, and what could help with it. */
export interface SelectRequest {
  /** The maximum number of each kind that are there for their score alone [default: 5]. */
  maxResults?: number | null;
  /** The maximum number of skills [default: 3]. */
  maxSkills?: number | null;
  /** The maximum number of tools [default: 10]. */
  maxTools?: number | null;
  /** The minimum score; by default that of the embedder. */
  minScore?: number | null;
  /** The skills: Markdown, or objects with `name` and `description`. */
  skills?: SkillInput[];
  /** What the person asked for. */
  task: string;
  /** The tools: names, or objects with `name` and `description`. */
  tools?: ToolInput[];
}

/** A tool or skill that was selected. */
export interface Selected {
  /** Its name. */
  name: Line;
  /** Why it is here: `named` by the task, `base` of the mode, or its `score`. */
  reasons: Line[];
  /** How well it fits. */
  score: number;
}

/** A tool or skill that was picked. */
export interface SelectedItem {
  /** Its place in the given list. */
  index: number;
  /** Its name. */
  name: string;
  /** Why it was picked: the task names it, or its score is high enough. */
  reasons: string[];
  /** How well it fits. */
  score: number;
}

/** What was selected for the task. A Context without one shows everything it has. */
export interface Selection {
  /** The kinds (`tools`, `skills`) for which nothing fit the task. */
  abstained?: Line[];
  /** Why only keywords were compared, although embeddings were requested. */
  degraded?: Line | null;
  /** The embedder used; absent if only keywords were compared. */
  embedder?: Line | null;
  /** Number of embedding calls. */
  embeddingCalls: number;
  /** What was recalled or selected and then left out or cut. */
  filtered?: Filtered[];
  /** Number of recalled memories and activity entries that were left out, because of their kind or as likely injections. */
  filteredCount: number;
  /** Scores below this did not count. */
  minScore?: number | null;
  /** The skills, best first. */
  skills: Selected[];
  /** The tools, best first. */
  tools: Selected[];
}

/** An answer: `result` or `error`, never both. */
export interface ServeAnswer {
  /** Why the method failed. */
  error?: Failure | null;
  /** The `id` of the request. */
  id: unknown;
  /** What the method gives. */
  result?: unknown;
  /** The version of the schema of answers. */
  schemaVersion: number;
}

/** A request. */
export interface ServeRequest {
  /** Any value; the answer repeats it. */
  id?: unknown;
  /** The name of the method. */
  method: string;
  /** The parameters of the method. */
  params?: unknown;
}

/** How bad a finding is. */
export type Severity = "error" | "warning";

/** A skill, as an object. */
export interface Skill {
  /** The instructions, without the header. */
  body?: Untrusted;
  /** One sentence on when to use it. */
  description?: Line;
  /** The folder of the files it brings along, relative to the workspace. */
  folder?: Line | null;
  /** The modes it is offered in; all if empty. */
  modes?: Line[];
  /** Its name. */
  name: Line;
  /** Its file, relative to the workspace. */
  path?: Line | null;
  /** How it was approved; without it, it has skill authority. */
  provenance?: SkillProvenance | null;
}

/** The approval of a skill, as an object. */
export interface SkillApproval {
  /** When it was approved. */
  at?: Line | null;
  /** Who approved it: a person, or `screening`. */
  by?: Line | null;
  /** What its files can do, as screening found. */
  canDo?: Line | null;
  /** The commit that approved it. */
  commit?: Line | null;
  /** Whether it is approved. */
  status: Approval;
}

/** What became of a proposal. */
export interface SkillDecideAnswer {
  /** The commit, if it was approved. */
  commit?: string | null;
  /** The files that changed. */
  files?: string[];
  /** Its ID. */
  id: string;
  /** The skill. */
  skill: string;
  /** `approved` or `rejected`. */
  state: string;
}

/** A person's decision on a proposal. */
export interface SkillDecideRequest {
  /** The decision. */
  decision: Decision;
  /** The ID of the proposal, or its first characters. */
  id: string;
  /** The reason for a rejection, for the log and the agent. */
  reason?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** A skill, and how far it is approved. */
export interface SkillEntry {
  /** `approved by a person`, `approved by screening`, `local file` or `not approved`. */
  approval: string;
  /** Its name. */
  name: string;
  /** Its file, relative to the workspace. */
  path?: string | null;
}

/** A skill: raw Markdown, or an object. */
export type SkillInput = string | Skill;

/** The answer of `skill_list` */
export type SkillListAnswer = ListedSkill[];

/** A workspace whose skills to list. */
export interface SkillListRequest {
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** The answer of `skill_proposals` */
export type SkillProposalsAnswer = ProposalEntry[];

/** Proposals to list, or one to show. */
export interface SkillProposalsRequest {
  /** Include decided proposals. */
  all?: boolean;
  /** Show only this proposal, with its diff: its ID, or the first characters. */
  id?: string | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** What became of a proposal. */
export interface SkillProposeAnswer {
  /** What its files can do. */
  capabilities?: Capabilities;
  /** The commit that holds it, once it is approved. */
  commit?: string | null;
  /** What was found. */
  findings: ScreeningFinding[];
  /** The proposal, for `approve` and `reject`, and in the audit log. */
  id: string;
  /** Why. */
  reason: string;
  /** The skill. */
  skill: string;
  /** What screening says. */
  verdict: Verdict;
}

/** A skill to add or change. */
export interface SkillProposeRequest {
  /** The agent that proposes. */
  agent?: string | null;
  /** The text of SKILL.md, header included. */
  content: string;
  /** The other files of the skill, by path. */
  files?: Record<string, string>;
  /** The name of the skill; that of its header where absent. */
  name?: string | null;
  /** The security profile; that of the workspace where absent. */
  profile?: Profile | null;
  /** The reason for the proposal. */
  reason?: string | null;
  /** The share of the session's tokens that came from external content, 0 to 1. */
  taintRatio?: number;
  /** The taint ratio above which the proposal is refused; that of the profile where absent. */
  taintThreshold?: number | null;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** The approval of a skill. */
export type SkillProvenance = Approval | SkillApproval;

/** A skill's whole text. */
export interface SkillReadAnswer {
  /** The text as it lies on disk, header and all. */
  content: string;
  /** Its name. */
  name: string;
  /** Its file. */
  path: string;
}

/** A skill to read. */
export interface SkillReadRequest {
  /** The name of the skill. */
  name: string;
  /** The directory of the workspace. */
  workspace?: string | null;
}

/** What the files and other origins contribute to the latest calls. */
export interface SourceShare {
  /** Whether `name` is a path. */
  isFile: boolean;
  /** The lines that were found, as ranges from 1; empty for other origins. */
  lines?: [number, number][];
  /** The path of a file, or the name of another origin. */
  name: string;
  /** Of all tokens of these calls, from 0 to 1. */
  share: number;
  tokens: number;
}

/** A text with the place it came from. */
export interface SourcedText {
  /** What the text lost when it was cut to a limit. */
  cut?: Cut | null;
  /** The line of the file on which the text starts. */
  firstLine?: number | null;
  /** The file, relative to the workspace. */
  path?: string | null;
  /** The text itself. */
  text: string;
}

/** Who started the agent. */
export type SpawnMode = "top-level" | "sub-agent";

/** A stretch of text with one origin. */
export interface Stretch {
  /** The first line of the part's text, from 1. */
  line: number;
  origin: TextOrigin;
  /** Bytes of the part's text. */
  range: [number, number];
  tokens: number;
}

/** A text, or a text with the place it came from. */
export type Text = string | SourcedText;

/** Where text comes from. */
export type TextOrigin = TextOrigin1 | TextOrigin2 | TextOrigin3 | TextOrigin4 | TextOrigin5 | TextOrigin6 | TextOrigin7;

/** A file of the project, or one of the person's own instruction files. */
export interface TextOrigin1 {
  /** Whether every line is the file's, apart from blanks at its ends. */
  exact: boolean;
  kind: "file";
  /** First and last line, from 1. */
  lines: [number, number];
  /** Relative to the directory of the capture, or starting with `~/`. */
  path: string;
}

/** In no file: the program brought it. */
export interface TextOrigin2 {
  kind: "vendor";
}

/** A tool of an MCP server. */
export interface TextOrigin3 {
  kind: "mcp";
  server: string;
}

/** What the person wrote. */
export interface TextOrigin4 {
  kind: "user";
}

/** What the model wrote before. */
export interface TextOrigin5 {
  kind: "model";
}

/** What a tool returned. */
export interface TextOrigin6 {
  kind: "tool";
  name: string;
}

/** The directory of the capture is gone, so nothing can be compared. */
export interface TextOrigin7 {
  kind: "unknown";
}

/** One text, or several in order. */
export type Texts = Document | Document[];

/** How tokens are counted. */
export type Tokenizer = "estimate" | "o200k" | "cl100k";

/** A tool, as an object. */
export interface Tool {
  /** The name under which the agent calls it, if different. */
  called?: Line | null;
  /** The capability pack that belongs to it. */
  capability?: Line | null;
  /** What it does. */
  description?: Line;
  /** The modes it is offered in; all if empty. */
  modes?: Line[];
  /** Its name. */
  name: Line;
}

/** A tool: its name, or an object. */
export type ToolInput = string | Tool;

/** Where the turn context of a prompt is. */
export type TurnContextPlace = "before-user-message" | "after-user-message" | "after-system-prompt" | "in-cached-prefix" | "missing";

/** Text of Skill or Reference authority: enters a prompt only through a fence. */
export type Untrusted = Text;

/** Tokens used by model calls. */
export interface Usage {
  /** Read from the provider's cache. */
  cacheReadTokens: number;
  /** Written to the provider's cache. */
  cacheWriteTokens: number;
  /** Read by the model, not from the cache. */
  inputTokens: number;
  /** Written by the model. */
  outputTokens: number;
}

/** The result of screening, from least to most strict. */
export type Verdict = "AUTO_APPROVE" | "NEEDS_REVIEW" | "REJECT";

/** When a section changes. The order is the order in which sections must stand for a provider's prefix cache to hold. */
export type Volatility = "stable" | "session" | "turn";

/** Tokens that did nothing. */
export interface Waste {
  kind: WasteKind;
  /** Where: parts of a request, files with lines, or the tools' server. */
  places: string[];
  /** How often. */
  times: number;
  /** Over all calls. */
  tokens: number;
  /** What: an excerpt, a tool's name, a path. */
  what: string;
}

export type WasteKind = "repeated-text" | "unused-tool" | "repeated-read";

/** What was found in a capture. */
export interface WatchReportAnswer {
  /** The calls in the order in which they were made. */
  calls: CallReport[];
  /** Absent for a single request that was not captured. */
  capture?: CaptureInfo | null;
  /** The calls that share a prompt, one entry per conversation. */
  conversations: Conversation[];
  /** The most serious first. */
  dangers: RequestDanger[];
  /** What the report could not find out, and why. */
  notes: string[];
  /** The date of the price table. */
  pricesDate: string;
  /** Where the text of the latest call of every conversation comes from, the largest share first. */
  sources: SourceShare[];
  /** How tokens were counted: `estimate`, `o200k` or `cl100k`. */
  tokenizer: string;
  totals: ReportTotals;
  /** The most expensive first. */
  waste: Waste[];
}

/** A capture of `foreword watch`. */
export interface WatchReportRequest {
  /** The directory whose files to look for in the text; by default the one the program ran in. */
  directory?: string | null;
  /** The ID of the capture, or a part of it; the latest if absent. */
  id?: string | null;
  /** How tokens are counted. */
  tokenizer?: Tokenizer;
  /** Whether to include the text of the latest calls, redacted. */
  withTexts?: boolean;
}

/** Every condition that is set must hold; a list holds when one of its values does. */
export interface When {
  /** The agent's ID. */
  agent?: OneOf;
  /** The channel of the conversation. */
  channel?: OneOf;
  /** The mode: plan, act or review. */
  mode?: OneOf;
  /** The agent's namespace. */
  namespace?: OneOf;
  /** The prompt mode: full, minimal or none. */
  prompt_mode?: OneOf;
  /** A tool that is offered. */
  tool?: OneOf;
}
