// `work-ledger/testing`: what a program needs to test its agents.

export { matchers } from './matchers.ts';
export type { LedgerMatchers } from './matchers.ts';
export { replayOf } from './replayOf.ts';
export type { Replay } from './replayOf.ts';
export { scriptedModel } from './scriptedModel.ts';
export type { TestModel } from './scriptedModel.ts';
export type { Seen, SeenCall } from './seen.ts';
export { testLedger } from './testLedger.ts';
export type { TestLedger } from './testLedger.ts';
