// Which features must meet in the run of the suite: what breaks is where two meet. Both in the conversation of one item (a
// fork's begins with that of its turn) or, where a test says so itself (World.met), in one place.

import { pairOf } from './world.ts';

const each = (one: string, ...others: readonly string[]): string[] => others.map((other) => pairOf(one, other));

export const mustMeet: readonly string[] = [
  ...each('interrupt', 'digest in a request that is broken off', 'await', 'approval', 'hook before_model_call'),
  ...each('interrupt of a request', 'message', 'elision', 'compaction', 'fork', 'retry', 'budget', 'drafted step', 'children'),
  ...each('interrupt of calls', 'nested call', 'step', 'thinking', 'large batch', 'message'),
  ...each('fork', 'recall of a block', 'compaction', 'elision', 'message', 'long message', 'image', 'foreign ids', 'thinking', 'children', 'digest', 'retry', 'step in code', 'crash', 'hook orient', 'keep'),
  ...each('fork of a fork', 'elision', 'message', 'foreign ids', 'compaction'),
  ...each('retry', 'recall of a block', 'compaction', 'message', 'long message', 'policy changed', 'children', 'digest', 'image', 'elision', 'crash', 'hook recover', 'keep'),
  ...each('compaction', 'recall of a block', 'message', 'long message', 'digest', 'thinking', 'image', 'children', 'step in code', 'foreign ids', 'drafted step', 'crash', 'keep'),
  ...each('compaction by hand', 'interrupt', 'crash', 'fork', 'elision', 'summary'),
  ...each('floor', 'message', 'image', 'large result', 'long message'),
  ...each('overflow', 'interrupt', 'message', 'digest', 'elision', 'crash'),
  ...each('summary', 'crash', 'interrupt', 'message'),
  ...each('approval', 'code', 'crash', 'fork', 'message', 'retry'),
  ...each('crash with calls open', 'nested call', 'await', 'step', 'approval', 'image', 'tool hook'),
  ...each('budget', 'interrupt', 'crash', 'fork', 'provider error', 'children', 'compaction'),
  ...each('ends in thinking', 'step', 'output limit', 'interrupt', 'elision', 'fork', 'compaction'),
  ...each('error with images', 'elision', 'compaction', 'fork', 'step'),
  ...each('large batch', 'elision', 'message', 'fork', 'foreign ids'),
  ...each('child ends', 'interrupt', 'await', 'compaction', 'elision', 'retry', 'crash'),
  ...each('rolled back', 'step', 'elision', 'compaction', 'digest', 'children'),
  ...each('repeated', 'step', 'elision', 'compaction', 'digest', 'children'),
  ...each('goes on', 'crash', 'interrupt', 'message', 'elision', 'compaction', 'digest', 'fork', 'retry', 'budget', 'repeated', 'hook before_model_call'),
  ...each('pause by hand', 'interrupt', 'compaction', 'fork'),
  ...each('foreign name', 'elision', 'compaction', 'fork', 'nested call', 'thinking'),
  ...each('kept by name', 'elision', 'compaction', 'fork', 'retry', 'message', 'crash', 'sliding window', 'periodic'),
  ...each('kept unasked', 'elision', 'compaction', 'fork', 'drafted step', 'sliding window', 'image'),
  ...each('sliding window', 'message', 'long message', 'fork', 'digest', 'keep', 'image', 'thinking', 'periodic'),
  ...each('periodic', 'elision', 'message', 'interrupt', 'crash'),
];
