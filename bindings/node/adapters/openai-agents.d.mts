import type { Prompt } from "../index";

/** Builds the prompt of every model call of a run. `build` gets the newest message of the user. */
export function foreword(build: (task: string) => Prompt): {
  instructions: () => string;
  inputFilter: (args: { modelData: { input: any[]; instructions?: string } }) => {
    input: any[];
    instructions?: string;
  };
};
