// For tools that are called without a work item.

import type { ToolLedger } from '../runtime/tools/tool.ts';

const none = (): Promise<never> => Promise.reject(new Error('this test has no ledger'));

export const noLedger: ToolLedger = { append: none, read: none, search: none, claim: none, tell: none };
