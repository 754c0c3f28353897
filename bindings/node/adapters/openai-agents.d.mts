import type { Prompt } from "../index.js";

/** Builds the prompt of every model call of a run. `build` gets the newest message of the user. */
export function foreword(build: (task: string) => Prompt): {
  instructions: () => string;
  inputFilter: (args: { modelData: { input: any[]; instructions?: string } }) => {
    input: any[];
    instructions?: string;
  };
};
/** The tools with an output guardrail on every function tool. The given tools stay as they are. */
export function guardTools<T>(tools: readonly T[]): T[];
