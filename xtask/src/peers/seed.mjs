// The builder of seed 000 on a Context of ours: node seed.mjs BUILDER CONTEXT BUILDS
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { measure } from './measure.mjs';

const [builderPath, contextPath, builds] = process.argv.slice(2);
const { PromptBuilder } = await import(pathToFileURL(builderPath));
const given = JSON.parse(readFileSync(contextPath, 'utf8'));
const files = given.identityFiles ?? {};
const context = {
  agentType: given.agentType ?? 'pi-agent-core',
  workspace: given.workspace ?? '',
  skills: (given.skills ?? []).map((skill) => (typeof skill === 'string' ? skill : skill.body)),
  profile: given.profile ?? 'balanced',
  sandboxType: given.sandboxType ?? 'subprocess',
  taintRatio: given.taintRatio ?? 0,
  taintThreshold: given.taintThreshold ?? 1,
  identityFiles: {
    agent: files.agent ?? files.agents ?? '',
    soul: files.soul ?? '',
    identity: files.identity ?? '',
    user: files.user ?? '',
    bootstrap: files.bootstrap ?? '',
  },
  contextContent: given.contextContent ?? '',
  contextWindow: given.contextWindow ?? 200000,
  historyTokens: given.historyTokens ?? 0,
};
const builder = new PromptBuilder();
const { metadata } = builder.build(context);
if (!metadata.tokensByModule || metadata.moduleCount !== 6) {
  throw new Error(`not the final builder: ${JSON.stringify(metadata)}`);
}
let kept;
const result = measure(() => (kept = builder.build(context)).content, Number(builds));
console.log(JSON.stringify({ ...result, metadata: kept.metadata }));
