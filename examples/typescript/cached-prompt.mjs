// Two turns of a conversation: what the provider can cache, and what is billed again.
import { build } from "foreword";

const turn = (minute) =>
  build({
    context: {
      task: "plan my week",
      identityFiles: { agent: "You are Pickle, a calm assistant." },
      memories: ["Ada likes tea"],
      now: `2026-02-26T14:${minute}:00Z`,
    },
  });

const [first, second] = [turn(30), turn(31)];
if (first.system !== second.system) throw new Error("the system prompt changed");
const difference = first.diff(second);
console.log(`${difference.keptBytes} bytes stay cached`);
console.log(`${difference.billedAgainTokens} of ${second.tokens} tokens are billed again`);
console.log(`the first difference is in section ${difference.section}`);
