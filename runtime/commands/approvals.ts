// Approving calls in a terminal: lists waiting calls with their complete arguments, approves and rejects. An approval applies to the
// arguments that were printed, since it sends their hash.

import { createInterface } from 'node:readline/promises';

import type { Settings } from '../config.ts';
import type { Db } from '../ledger/db.ts';
import { UsageError } from '../ledger/errors.ts';
import { literal, literalName } from '../visible.ts';
import { exactJson, wholeArguments } from '../wholeArguments.ts';
import type { Argument } from '../wholeArguments.ts';
import { padded, pieces, wordPieces } from './cells.ts';
import { idOf } from './ids.ts';
import { io } from './io.ts';
import type { Output } from './io.ts';
import { second } from './localTime.ts';
import { cutWords, exit, note, paint, print, span, visible } from './output.ts';
import { withLedger, withReader } from './withLedger.ts';

export type Approval = Awaited<ReturnType<Db['approvals']>>[number];

/** How many characters of a hash are printed, which also suffice to name it. */
const HASH = 16;

export const approvals = (options: Settings): Promise<number> =>
  withReader(options, async (db) => {
    const waiting = await db.approvals();
    const data = waiting.map(({ input_json: json, ...one }) => ({ ...one, input: exactJson(json) }));
    const shown = waiting.map((one) => approvalText(one, widthOf(io().stdout)));
    print(data, shown.join('\n\n') || 'no calls await approval', options.json ?? false);
    if (waiting.length > 0 && !options.json)
      note(
        `\n${waiting.length === 1 ? '1 call waits' : `${waiting.length} calls wait`}: work-ledger approve CALL asks about one, work-ledger reject CALL --reason WHY refuses it`,
      );
    return exit.ok;
  });

export const approve = (toolCallId: string, options: Settings & { hash?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const id = idOf(toolCallId, 'tool call');
    if (options.hash !== undefined && !/^[0-9a-f]{16,64}$/.test(options.hash)) {
      throw new UsageError(`--hash requires at least ${HASH} characters of a hash, as "work-ledger approve" prints it`);
    }
    const [asked] = await db.approvals(id);
    if (asked && !(await isWanted(asked, options.hash))) {
      note('not approved');
      return exit.error;
    }
    // A call that does not wait had no arguments to review: an empty hash matches none, and the ledger reports what became of the call.
    const { decision, input_hash: approved } = await db.toolCallApprove(id, asked?.input_hash ?? '');
    // Approving again changes nothing; the arguments that were approved before may still not be those that are meant now.
    if (!approved.startsWith(options.hash ?? ''))
      throw new Error(`it is already approved, with arguments that do not match --hash ${options.hash}`);
    print({ decision }, decision, options.json ?? false);
    return exit.ok;
  });

export const reject = (toolCallId: string, options: Settings & { reason?: string }): Promise<number> =>
  withLedger(options, async (db) => {
    const decision = await db.toolCallReject(idOf(toolCallId, 'tool call'), options.reason ?? null);
    print({ decision }, decision, options.json ?? false);
    return exit.ok;
  });

/** Whether these arguments are meant: their hash was given, or the user confirms them now. */
async function isWanted(asked: Approval, hash: string | undefined): Promise<boolean> {
  if (hash !== undefined) {
    if (asked.input_hash.startsWith(hash)) return true;
    throw new Error(`its arguments do not match --hash ${hash}; "work-ledger approve" shows them`);
  }
  if (!io().stdin.isTTY) {
    throw new UsageError('where nobody can be asked, --hash must name the arguments that you reviewed; "work-ledger approve" prints it');
  }
  note(`${approvalText(asked, widthOf(io().stderr))}\n`);
  const terminal = createInterface({ input: io().stdin, output: io().stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Approve it? Type yes: ')).trim());
  } finally {
    terminal.close();
  }
}

const widthOf = ({ isTTY, columns }: Output): number => Math.max(60, (isTTY && columns) || 120);

const NAME = 28;
/** The most characters shown of what the model said with the call. */
const MOST_SAID = 400;

/**
 * A waiting call: what it is, then every argument in two columns. A bar stands left of each line of a value, so that no value can imitate a
 * line with a name. Lines are broken here rather than by the terminal, which would continue at its left edge.
 */
export function approvalText(one: Approval, width: number): string {
  const head = [
    paint('bold', one.tool_call_id),
    ...field('tool', `${literalName(one.tool_name)}, ${one.risk}`, width),
    ...field('work item', `${one.work_item_id}  ${visible(one.description).split('\n')[0]}`, width),
    ...(one.said === null ? [] : field('says', cutWords(literal(one.said).replaceAll(/\s+/g, ' '), MOST_SAID), width)),
    ...field('waits', `for ${ago(one.requested_at)}, and until ${second(one.expires_at)}`, width),
    ...field('hash', one.input_hash.slice(0, HASH), width),
  ];
  const given = wholeArguments(one.input_json);
  const rows = given.flatMap((argument) => rowsOf(argument, width));
  return [...head, ...rows, `  end of ${given.length === 1 ? 'the argument' : `${given.length} arguments`}`].join('\n');
}

function rowsOf({ name, kind, text }: Argument, width: number): string[] {
  const shown = name === null ? '(all arguments)' : literalName(name).replaceAll('│', '⟨U+2502⟩').replaceAll('┊', '⟨U+250A⟩');
  const names = pieces(kind === 'text' ? shown : `${shown} (${kind})`, NAME);
  const lines = literal(text).replaceAll('\t', '␉   ').split('\n');
  const values = lines.flatMap((line) => pieces(line, width - NAME - 7).map((piece, i) => `${i === 0 ? '│' : '┊'} ${piece}`));
  const length = Math.max(names.length, values.length);
  return Array.from({ length }, (_, i) => `    ${padded(names[i] ?? '', NAME)} ${values[i] ?? ''}`.trimEnd());
}

const ago = (at: string): string => span((Date.now() - Date.parse(at)) / 1000);

const field = (name: string, text: string, width: number): string[] =>
  wordPieces(text, width - 14).map((piece, i) => `  ${(i === 0 ? name : '').padEnd(9)}  ${piece}`);
