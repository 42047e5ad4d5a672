// The console's queries, and the changes that only it makes.

import { consoleActions } from './consoleActions.ts';
import { consoleContext } from './consoleContext.ts';
import { consoleForks } from './consoleForks.ts';
import { consoleItem } from './consoleItem.ts';
import { consoleJournal } from './consoleJournal.ts';
import { consoleKnowledge } from './consoleKnowledge.ts';
import { consoleNotes } from './consoleNotes.ts';
import { consoleNow } from './consoleNow.ts';
import { consoleRun } from './consoleRun.ts';
import { consoleSessions } from './consoleSessions.ts';
import { consoleTurns } from './consoleTurns.ts';
import { consoleWork } from './consoleWork.ts';
import type { Calls } from './pool.ts';

export const consoleCalls = (calls: Calls) => ({
  ...consoleWork(calls),
  ...consoleNow(calls),
  ...consoleSessions(calls),
  ...consoleItem(calls),
  ...consoleTurns(calls),
  ...consoleForks(calls),
  ...consoleJournal(calls),
  ...consoleRun(calls),
  ...consoleContext(calls),
  ...consoleKnowledge(calls),
  ...consoleNotes(calls),
  ...consoleActions(calls),
});
