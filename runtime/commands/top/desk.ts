// What a person does in `work-ledger top`: the selected row, the text being typed, and the ledger functions that keys call.

import { errorWords } from '../../console/page.ts';
import { TREES } from '../../console/pages/now.ts';
import { resumption } from '../../console/work.ts';
import type { Db } from '../../ledger/db.ts';
import type { Approval } from '../approvals.ts';
import { Decision } from './decision.ts';
import type { Answer } from './decision.ts';
import type { Key } from './screen.ts';
import { approvalScreen, blocksOf, listScreen, SMALLEST } from './view.ts';
import type { Seen, Shown } from './view.ts';

type Typing = { label: string; text: string; done: (text: string) => void };
type Ledger = { read: Db; write: Db | null };

export class Desk {
  readonly decision = new Decision();
  readonly #ledger: Ledger;
  readonly #readAgain: () => Promise<void>;
  readonly #draw: () => void;
  #seen: Seen;
  readonly #words = new Map<string, string>();
  #selected: string | null = null;
  #from = 0;
  #says = '';
  #typing: Typing | null = null;
  /** The waiting calls, while one of them is shown; `from`: its first line on screen. */
  #asked: { calls: Approval[]; id: string; from: number; room: number } | null = null;
  skipped = 0;

  constructor(ledger: Ledger, seen: Seen, readAgain: () => Promise<void>, draw: () => void) {
    this.#ledger = ledger;
    this.#seen = seen;
    this.#readAgain = readAgain;
    this.#draw = draw;
  }

  see(seen: Seen): void {
    this.#seen = seen;
    if (this.#asked) void this.#look(this.#asked.id);
    else this.#draw();
  }

  hear({ item, text }: { item: string; text: string }): void {
    this.#words.set(item, text);
    this.#draw();
  }

  fails(problem: string | null): void {
    this.#seen = { ...this.#seen, problem };
    this.#draw();
  }

  /** Sends an answer whose five seconds are over. */
  tick(): void {
    const answer = this.decision.due();
    if (answer) void this.#send(answer);
  }

  frame(width: number, height: number): string[] {
    if (width < SMALLEST.width || height < SMALLEST.height) {
      this.decision.leave('The terminal became too small: nothing was sent.');
      return [`top needs ${SMALLEST.width} × ${SMALLEST.height}`.slice(0, width), 'q quit'];
    }
    const call = this.#asked?.calls.find((one) => one.tool_call_id === this.#asked?.id);
    const shown: Shown = { selected: this.#selected, from: this.#from, says: call ? this.#saysOfCall() : this.#says, typing: this.#typing };
    if (!this.#asked || !call) {
      const { lines, from } = listScreen({ ...this.#seen, words: this.#words }, shown, width, height);
      this.#from = from;
      return lines;
    }
    const { calls } = this.#asked;
    const at = { call, nth: calls.indexOf(call) + 1, of: calls.length, from: this.#asked.from };
    const { lines, from, to, all } = approvalScreen(at, shown, width, height);
    this.#asked.from = from;
    this.#asked.room = to - from;
    this.decision.show({ id: call.tool_call_id, hash: call.input_hash, risk: call.risk, width, lines: all }, from, to);
    return lines;
  }

  /** Handles a key. */
  press(key: Key, size: { width: number; height: number }): 'quit' | null {
    const isSmall = size.width < SMALLEST.width || size.height < SMALLEST.height;
    if (this.#typing && !isSmall) this.#type(key);
    else if (key.name === 'q') return 'quit';
    else if (isSmall || key.isControl || key.name === 'paste') return null;
    else if (this.#asked) this.#pressOnCall(key);
    else this.#pressOnList(key, size.width);
    this.#draw();
    return null;
  }

  // The list --------------------------------------------------------------------------------------------------------

  #pressOnList({ name, text }: Key, width: number): void {
    const ids = blocksOf(this.#seen, width).flatMap(({ id }) => (id === null ? [] : [id]));
    const at = this.#selected === null ? -1 : ids.indexOf(this.#selected);
    const go = (to: number): void => void (this.#selected = ids[Math.max(0, Math.min(ids.length - 1, to))] ?? null);
    const steps: Record<string, number> = { down: 1, j: 1, up: -1, k: -1, pagedown: 8, pageup: -8 };
    this.#says = '';
    if (steps[name] !== undefined) go(at + steps[name]);
    else if (name === 'home' || name === 'end') go(name === 'home' ? 0 : ids.length - 1);
    else if (text === '>' || text === '<') this.#turn(text === '>' ? TREES : -TREES);
    else if (name === 'a' || name === 'x') {
      this.decision.isPressed(name);
      void this.#open();
    } else if (name === 'm' || name === 'p') this.#steer(name);
  }

  #turn(by: number): void {
    const to = Math.max(0, this.skipped + by);
    if (by > 0 && to >= Math.max(this.#seen.rows[0]?.trees ?? 0, this.#seen.sums.trees)) return;
    this.skipped = to;
    this.#selected = null;
    void this.#readAgain();
  }

  /** Sends the selected item a message, pauses it or resumes it; Enter sends the typed text. */
  #steer(key: 'm' | 'p'): void {
    const id = this.#selected;
    const row = this.#seen.rows.find((one) => one.work_item_id === id);
    const db = this.#ledger.write;
    if (this.#seen.isReadOnly || db === null) this.#says = 'Nothing can be changed from here: it is read-only.';
    else if (id === null) this.#says = 'Nothing is selected: ↑ and ↓ select.';
    else if (key === 'm') {
      this.#ask('Say, with its next request:', (text) =>
        text.trim() === '' ? (this.#says = 'There is nothing to say.') : void this.#act('Said.', db.workMessage(id, text.trim(), false)),
      );
    } else if (row?.state === 'paused') {
      const way = resumption(row);
      if (way === null) this.#says = 'It goes on when its own program does.';
      else
        this.#ask(
          'Resume it? Enter resumes, Esc leaves it.',
          () => void this.#act('It goes on.', way === 'resume' ? db.workResume(id) : db.journal.sessionStatus(id, 'active')),
        );
    } else
      this.#ask(
        'Pause it between two iterations; why:',
        (text) => void this.#act('It pauses after its current iteration.', db.workPause(id, text.trim() || null)),
      );
  }

  async #act(says: string, done: Promise<unknown>): Promise<void> {
    this.#says = await done.then(
      () => says,
      (error: unknown) => errorWords(error),
    );
    await this.#readAgain();
    this.#draw();
  }

  // A call that waits -----------------------------------------------------------------------------------------------

  /** Shows the call of the selected row, else the first one. Nothing else happens. */
  async #open(): Promise<void> {
    const calls = await this.#callsOrProblem();
    if (calls === null) return this.#draw();
    const own = calls.find((one) => one.work_item_id === this.#selected) ?? calls[0];
    if (own === undefined) this.#says = 'Nothing waits for an approval.';
    else {
      this.#selected = own.work_item_id;
      this.#asked = { calls, id: own.tool_call_id, from: 0, room: 1 };
      this.decision.says = '';
    }
    this.#draw();
  }

  /** The calls of the shown project, in the order of the page Now. */
  async #calls(): Promise<Approval[]> {
    const [all, here] = await Promise.all([
      this.#ledger.read.approvals(),
      this.#ledger.read.console.approvals(null, { project: this.#seen.project, longest: 0 }),
    ]);
    const ids = new Set(here.map((one) => one.tool_call_id));
    return all.filter((one) => ids.has(one.tool_call_id));
  }

  /** Null: they cannot be read; the error is shown. */
  #callsOrProblem(): Promise<Approval[] | null> {
    return this.#calls().catch((error: unknown) => {
      this.#seen = { ...this.#seen, problem: errorWords(error) };
      return null;
    });
  }

  /** While a call is shown, its effect is read again. */
  async #look(id: string): Promise<void> {
    const calls = await this.#callsOrProblem();
    if (this.#asked?.id === id && calls) {
      if (calls.some((one) => one.tool_call_id === id)) this.#asked.calls = calls;
      else this.#back(`It does not wait any more.${this.decision.answer === null ? '' : ' Your answer was not sent.'}`);
    }
    this.#draw();
  }

  #pressOnCall({ name }: Key): void {
    const { decision } = this;
    const asked = this.#asked;
    if (!asked) return;
    const steps: Record<string, number> = {
      down: 1,
      j: 1,
      up: -1,
      k: -1,
      pagedown: asked.room - 1,
      pageup: 1 - asked.room,
      space: asked.room - 1,
    };
    if (steps[name] !== undefined) asked.from += steps[name];
    else if (name === 'home' || name === 'end') asked.from = name === 'home' ? 0 : Number.MAX_SAFE_INTEGER;
    else if (name === 'u' || name === 'escape') {
      if (!decision.undo() && name === 'escape') this.#back('');
    } else if (name === 'tab') this.#next();
    else if ((name === 'a' || name === 'x' || name === 'return') && decision.isPressed(name)) this.#decide(name);
  }

  #decide(key: 'a' | 'x' | 'return'): void {
    if (this.#seen.isReadOnly || this.#ledger.write === null) this.decision.says = 'Nothing can be changed from here: it is read-only.';
    else if (key === 'return') this.decision.confirm();
    else if (key === 'a') this.decision.approve();
    else if (this.decision.answer === null)
      this.#ask('Refuse it; why, told to the agent:', (text) => this.decision.reject(text.trim() || null));
  }

  #next(): void {
    if (!this.#asked || this.decision.answer !== null) return;
    const { calls, id } = this.#asked;
    const next = calls[(calls.findIndex((one) => one.tool_call_id === id) + 1) % calls.length];
    if (next) this.#asked = { ...this.#asked, id: next.tool_call_id, from: 0 };
  }

  #back(says: string): void {
    this.decision.leave();
    this.#asked = null;
    this.#typing = null;
    this.#says = says;
  }

  #saysOfCall(): string {
    const { answer, left, says, isRead } = this.decision;
    if (answer) return `${answer.decision === 'approve' ? 'Approving' : 'Refusing'} in ${left} s: u undoes it`;
    return says || (isRead ? '' : 'Approve works once the end of the arguments was on screen.');
  }

  async #send({ id, hash, decision, reason }: Answer): Promise<void> {
    const db = this.#ledger.write;
    if (db === null) return;
    const sent = decision === 'approve' ? db.toolCallApprove(id, hash) : db.toolCallReject(id, reason);
    this.#back('Sending…');
    await this.#act(decision === 'approve' ? 'Approved.' : 'Refused.', sent);
  }

  // A line that is typed --------------------------------------------------------------------------------------------

  #ask(label: string, done: (text: string) => void): void {
    this.#typing = { label, text: '', done };
  }

  #type({ name, text, isControl }: Key): void {
    const typing = this.#typing;
    if (!typing) return;
    if (name === 'escape') this.#typing = null;
    else if (name === 'return' || name === 'enter') {
      this.#typing = null;
      typing.done(typing.text);
    } else if (name === 'backspace') typing.text = Array.from(typing.text).slice(0, -1).join('');
    else if (isControl && name === 'u') typing.text = '';
    else if (name === 'paste') typing.text += (text ?? '').replaceAll(/[\r\n]+/g, ' ');
    else if (text !== null) typing.text += text;
  }
}
