import type {
  AnthropicRequest,
  BuildRequest,
  ChatRequest,
  CheckRequestAnswer,
  CheckRequestRequest,
  DiffAnswer,
  ForgetFilter,
  GeminiRequest,
  LintAnswer,
  LintRequest,
  MemoryAddAnswer,
  MemoryAddRequest,
  MemoryListAnswer,
  MemoryListRequest,
  MemorySearchAnswer,
  MemorySearchRequest,
  Prompt as Manifest,
  ResponsesRequest,
  ScanAnswer,
  ScreenAnswer,
  ScreenRequest,
  SectionEntry,
  SelectRequest,
  SkillDecideAnswer,
  SkillListAnswer,
  SkillProposalsAnswer,
  SkillProposalsRequest,
  SkillProposeAnswer,
  SkillProposeRequest,
  SkillReadAnswer,
  WatchReportAnswer,
  WatchReportRequest,
} from "./types";

export type * as types from "./types";

/** What is wrong (`message`), of what kind (`kind`), and what to do about it (`hints`). */
export class ForewordError extends Error {
  readonly kind: "usage" | "failed" | "internal";
  readonly hints: string[];
}

/** A prompt to build: a complete `context`, or a `workspace` with a `task`. */
export type BuildParams = Omit<BuildRequest, "format" | "at">;
/** The same where the workspace is given. */
export type WorkspaceParams = Omit<BuildParams, "context" | "workspace">;

/** A compiled prompt. It never changes. */
export class Prompt {
  private constructor();
  /** System prompt and turn context as one text. */
  readonly text: string;
  /** The system prompt: the same bytes all through a session. */
  readonly system: string;
  /** The part of the system prompt that changes only when a file changes. */
  readonly stable: string;
  /** What belongs in front of the newest user message. */
  readonly turnContext: string;
  /** Tokens of the whole text. */
  readonly tokens: number;
  /** Digest of the whole text. */
  readonly digest: string;
  /** The name of the blueprint. */
  readonly blueprint: string;
  /** What the caller should know about how the prompt was gathered. */
  readonly warnings: string[];
  /** Whether the prompt exceeds what is available, though everything optional was left out. */
  readonly overBudget: boolean;
  /** The whole account: sections with their sources, what was left out and why, digests. */
  readonly manifest: Manifest;
  /** The sections of the prompt, in order. */
  readonly sections: SectionEntry[];
  /** The text that a module wrote. */
  section(module: string): string | undefined;
  /** `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API. */
  toAnthropic(): AnthropicRequest;
  /** `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions. */
  toOpenAI(): ChatRequest;
  /** `instructions`, `input` and `prompt_cache_key`, for the OpenAI Responses API. */
  toResponses(): ResponsesRequest;
  /** `systemInstruction` and `contents`, for the Gemini API. */
  toGemini(): GeminiRequest;
  /** How another prompt differs from this one, and what is billed again. */
  diff(other: Prompt): DiffAnswer;
  toString(): string;
  toJSON(): Manifest;
}

/** Compiles a prompt from `{context}` or from `{workspace, task, …}`. */
export function build(params?: BuildParams): Prompt;
/** `build` on a thread of the pool. */
export function buildAsync(params?: BuildParams): Promise<Prompt>;
/** Compares two prompts: the first difference, its section, and what is billed again. */
export function diff(a: Prompt, b: Prompt): DiffAnswer;
/** Scans a text for prompt injection. A verdict is a signal, not a proof. */
export function scan(text: string): Promise<ScanAnswer>;
/** Screens a skill without storing it. */
export function screen(text: string, options?: Omit<ScreenRequest, "text">): Promise<ScreenAnswer>;
/** Counts the tokens of a text. */
export function count(text: string, tokenizer?: "estimate" | "o200k" | "cl100k"): number;
/**
 * Reports on the body of a request to a model, and checks that a prompt is in it byte for byte.
 *
 * `answer.prompt.isRight` is true if the prompt is there, no other text comes before it, its stable part can be
 * cached and the turn context stands behind what stays the same.
 */
export function checkRequest(
  body: object | string | Uint8Array,
  options?: Omit<CheckRequestRequest, "body" | "prompt" | "build"> & { prompt?: Prompt },
): Promise<CheckRequestAnswer>;
/** Reports on a capture of `foreword watch`: the latest one, or that of an ID. */
export function watchReport(options?: WatchReportRequest): Promise<WatchReportAnswer>;
/** Picks the tools that fit a task, best first, and gives those very objects. */
export function select<T>(
  task: string,
  tools: Iterable<T>,
  options?: Omit<SelectRequest, "task" | "tools" | "skills"> & {
    describe?: (tool: T) => { name: string; description?: string };
  },
): Promise<T[]>;

/** A directory with an agent's files, kept warm between prompts. */
export class Workspace {
  constructor(path: string);
  readonly path: string;
  readonly memory: Memory;
  readonly skills: Skills;
  readonly closed: boolean;
  build(params?: WorkspaceParams): Prompt;
  buildAsync(params?: WorkspaceParams): Promise<Prompt>;
  lint(params?: Omit<LintRequest, "workspace">): Promise<LintAnswer>;
  /** Answers one method of `foreword serve`. */
  call(method: string, params?: object): Promise<unknown>;
  /** Frees what the workspace keeps. Further calls fail. */
  close(): void;
}

/** What the agents of a workspace remember. */
export class Memory {
  constructor(workspace: Workspace | string);
  add(text: string, options?: Omit<MemoryAddRequest, "text" | "workspace">): Promise<MemoryAddAnswer>;
  search(
    query: string,
    options?: Omit<MemorySearchRequest, "query" | "workspace">,
  ): Promise<MemorySearchAnswer>;
  list(options?: Omit<MemoryListRequest, "workspace">): Promise<MemoryListAnswer>;
  /** Deletes memories permanently, and says how many. */
  forget(what: string[] | { allOf: ForgetFilter }): Promise<number>;
}

/** The skills of a workspace: agents propose, people decide. */
export class Skills {
  constructor(workspace: Workspace | string);
  list(): Promise<SkillListAnswer>;
  read(name: string): Promise<SkillReadAnswer>;
  propose(
    content: string,
    options?: Omit<SkillProposeRequest, "content" | "workspace">,
  ): Promise<SkillProposeAnswer>;
  proposals(options?: Omit<SkillProposalsRequest, "workspace">): Promise<SkillProposalsAnswer>;
  /** Commits a proposal. Call it only for a decision that a person made. */
  approve(id: string): Promise<SkillDecideAnswer>;
  reject(id: string, options?: { reason?: string }): Promise<SkillDecideAnswer>;
}
