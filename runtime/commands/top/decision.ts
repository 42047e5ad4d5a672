// How a person decides on a waiting call by keys, as safely as on the console (assets/approvals.js). The call must have been unchanged on
// screen for a second; to approve it, every line must have been on screen; a dangerous one must be confirmed; and nothing is sent until
// five seconds later. What is sent is the hash of the arguments that were on screen when the key was pressed.

const STILL_MS = 1000;
const ARMED_MS = 5000;
const UNDO_MS = 5000;
/** A key repeated sooner than this is being held down. */
const HELD_MS = 1000;

/** What is on screen: a call with its arguments, wrapped to `width` in `lines` lines. */
export type Shown = { id: string; hash: string; risk: string; width: number; lines: number };
export type Answer = { id: string; hash: string; decision: 'approve' | 'reject'; reason: string | null };

export class Decision {
  readonly #now: () => number;
  #shown: Shown | null = null;
  #since = 0;
  /** How many lines, from the first, have been on screen. */
  #readTo = 0;
  #armedUntil = 0;
  #counting: { answer: Answer; until: number } | null = null;
  #last = { key: '', at: -Infinity };
  says = '';

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** To be called with each frame: what is on screen, and which of its lines. */
  show(shown: Shown, from: number, to: number): void {
    const before = this.#shown;
    if (before?.id !== shown.id || before.hash !== shown.hash || before.width !== shown.width || before.lines !== shown.lines) {
      if (before?.id === shown.id && before.hash !== shown.hash) this.drop('It changed: nothing was sent.');
      this.#since = this.#now();
      this.#readTo = 0;
      this.#armedUntil = 0;
    }
    this.#shown = shown;
    if (from <= this.#readTo) this.#readTo = Math.max(this.#readTo, to);
  }

  /** Called when nothing is on screen any more: discards an answer that was not sent yet. */
  leave(says = ''): void {
    this.drop(says);
    this.#shown = null;
    this.says = says;
  }

  get isRead(): boolean {
    return this.#shown !== null && this.#readTo >= this.#shown.lines;
  }

  get isArmed(): boolean {
    return this.#armedUntil > this.#now();
  }

  /** Seconds until the answer is sent; null: none is pending. */
  get left(): number | null {
    return this.#counting === null ? null : Math.max(0, Math.ceil((this.#counting.until - this.#now()) / 1000));
  }

  get answer(): Answer | null {
    return this.#counting?.answer ?? null;
  }

  /** Whether the key was newly pressed: one that is held down decides nothing. */
  isPressed(key: string): boolean {
    const isHeld = this.#last.key === key && this.#now() - this.#last.at < HELD_MS;
    this.#last = { key, at: this.#now() };
    return !isHeld;
  }

  approve(): void {
    const shown = this.#taken();
    if (shown === null) return;
    if (!this.isRead) this.says = 'Approve works once the end of the arguments was on screen.';
    else if (shown.risk === 'dangerous') {
      this.#armedUntil = this.#now() + ARMED_MS;
      this.says = 'It is dangerous: Enter approves it, Esc leaves it.';
    } else this.#count(shown, 'approve', null);
  }

  /** What Enter does after `a` on a dangerous call. */
  confirm(): void {
    if (!this.isArmed || !this.isRead || this.#shown === null || this.#counting !== null) return;
    this.#armedUntil = 0;
    this.#count(this.#shown, 'approve', null);
  }

  reject(reason: string | null): void {
    const shown = this.#taken();
    if (shown !== null) this.#count(shown, 'reject', reason);
  }

  /** Takes back what is armed or not sent yet; returns whether there was anything. */
  undo(): boolean {
    const was = this.isArmed || this.#counting !== null;
    if (was) this.drop(this.#counting === null ? '' : 'Undone: nothing was sent.');
    return was;
  }

  drop(says: string): void {
    if (this.#counting === null && !this.isArmed) return;
    this.#counting = null;
    this.#armedUntil = 0;
    this.says = says;
  }

  /** Returns the answer to send now, once. */
  due(): Answer | null {
    if (this.#counting === null || this.#counting.until > this.#now()) return null;
    const { answer } = this.#counting;
    this.#counting = null;
    return answer;
  }

  /** The call that an answer applies to; null: no answer is accepted now. */
  #taken(): Shown | null {
    this.#armedUntil = 0;
    if (this.#shown === null || this.#counting !== null) return null;
    if (this.#now() - this.#since >= STILL_MS) return this.#shown;
    this.says = 'It changed or moved a moment ago: look again.';
    return null;
  }

  #count({ id, hash }: Shown, decision: Answer['decision'], reason: string | null): void {
    this.says = '';
    this.#counting = { answer: { id, hash, decision, reason }, until: this.#now() + UNDO_MS };
  }
}
