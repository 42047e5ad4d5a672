// Loaded before a program that imports the package by its name, as if it were installed: node --import test/asPackage.ts PROGRAM.

import { registerHooks } from 'node:module';

const entries: Record<string, string> = {
  'work-ledger': '../runtime/index.ts',
  'work-ledger/testing': '../runtime/testing/index.ts',
  'work-ledger/claude-agent-sdk': '../runtime/agentSdk/index.ts',
  'work-ledger/ai-sdk': '../runtime/aiSdk/index.ts',
};

registerHooks({
  resolve(specifier, context, nextResolve) {
    const entry = entries[specifier];
    return entry === undefined
      ? nextResolve(specifier, context)
      : { url: new URL(entry, import.meta.url).href, format: 'module-typescript', shortCircuit: true };
  },
});
