// How people use the package; tsc checks it, nothing runs it.
import { build, buildAsync, checkRequest, ForewordError, Memory, Prompt, scan, select, Skills, watchReport, Workspace, type types } from "foreword";
const context: types.Context = { task: "x", identityFiles: { agent: "You" }, tools: ["a", { name: "b", description: "c" }] };
const prompt: Prompt = build({ context, blueprint: "semantic", maxPromptTokens: 900, mode: "plan" });
const tokens: number = prompt.manifest.metadata.estimatedTokens;
const module_: string = prompt.sections[0]!.module;
const blocks = prompt.toAnthropic().system.map((block) => block.text);
async function f() {
  const p = await buildAsync({ workspace: "w", task: "t", agent: "a" });
  const verdict: "PASS" | "FLAG" | "BLOCK" = (await scan("x")).verdict;
  const w = new Workspace("x");
  const hits = (await w.memory.search("tea", { limit: 3 })).hits.map((hit) => hit.text);
  const s = (await new Skills(w).list())[0]!.status;
  const right: boolean | undefined = (await checkRequest({ messages: [] }, { prompt })).prompt?.isRight;
  const calls: number = (await watchReport({ id: "a" })).totals.calls;
  const picked: { name: string }[] = await select("x", [{ name: "a" }]);
  return [p, right, calls, verdict, hits, s, picked, new Memory("x")];
}
// @ts-expect-error an unknown field
build({ contxt: {} });
// @ts-expect-error a wrong value
build({ context: { mode: "sometimes" } });
export { tokens, module_, blocks, f, ForewordError };
