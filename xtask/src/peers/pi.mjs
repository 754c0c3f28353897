// The system prompt builder of pi-coding-agent: node pi.mjs PACKAGE CONTEXT BUILDS|once
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { measure } from './measure.mjs';

const [packagePath, contextPath, builds] = process.argv.slice(2);
const { buildSystemPrompt } = await import(
  pathToFileURL(join(packagePath, 'dist/core/system-prompt.js'))
);
const given = JSON.parse(readFileSync(contextPath, 'utf8'));
const files = given.identityFiles ?? {};
const options = {
  cwd: given.workspace ?? '/',
  selectedTools: ['read', 'bash', 'edit', 'write'],
  toolSnippets: {
    read: 'Read file contents',
    bash: 'Execute commands',
    edit: 'Edit files with find and replace',
    write: 'Write files',
  },
  promptGuidelines: [],
  contextFiles: [
    { path: 'AGENTS.md', content: files.agent ?? '' },
    { path: 'SOUL.md', content: files.soul ?? '' },
    { path: 'IDENTITY.md', content: files.identity ?? '' },
    { path: 'USER.md', content: files.user ?? '' },
    { path: 'CONTEXT.md', content: given.contextContent ?? '' },
  ],
  skills: (given.skills ?? []).map((skill, n) => ({
    name: `skill-${n}`,
    description: typeof skill === 'string' ? skill : skill.body,
    filePath: `/skills/skill-${n}/SKILL.md`,
  })),
};
if (builds === 'once') {
  process.stdout.write(buildSystemPrompt(options));
} else {
  console.log(JSON.stringify(measure(() => buildSystemPrompt(options), Number(builds))));
}
