// What the console reads of a ledger, and the changes that only it makes.

import { consoleActions } from './consoleActions.ts';
import { consoleContext } from './consoleContext.ts';
import { consoleItem } from './consoleItem.ts';
import { consoleKnowledge } from './consoleKnowledge.ts';
import { consoleNotes } from './consoleNotes.ts';
import { consoleRun } from './consoleRun.ts';
import { consoleWork } from './consoleWork.ts';
import type { Calls } from './pool.ts';

export const consoleCalls = (calls: Calls) => ({
  ...consoleWork(calls),
  ...consoleItem(calls),
  ...consoleRun(calls),
  ...consoleContext(calls),
  ...consoleKnowledge(calls),
  ...consoleNotes(calls),
  ...consoleActions(calls),
});
