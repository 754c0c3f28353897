// The conformance suite imports `globSync` from `fs`, which came with Node.js 22. The server scenarios
// never call it, so on Node.js 20 a stand-in lets them run. Newer versions are left alone.
import * as fs from 'node:fs';
import { register } from 'node:module';

if (!('globSync' in fs)) {
  const module = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
  const standIn = module(`
    export * from 'node:fs';
    export { default } from 'node:fs';
    export function globSync() { throw new Error('fs.globSync needs Node.js 22'); }
  `);
  register(module(`
    export const resolve = (name, context, next) =>
      name === 'fs' ? { url: ${JSON.stringify(standIn)}, shortCircuit: true } : next(name, context);
  `));
}
