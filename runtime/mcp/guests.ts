// The clients that a server knows: at most a fixed number, and none that has been silent for too long.

/** One client's state. `close()` is called once, when the client is forgotten. */
export type Guest = { fetch(request: Request, body: unknown): Promise<Response>; close(): Promise<void> };

type Kept = { guest: Guest; open: number; seenAt: number };

export class Guests {
  readonly #max: number;
  readonly #idleMs: number;
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new Set<Promise<void>>();
  readonly #sweep: NodeJS.Timeout;

  constructor(max: number, idleSeconds: number) {
    this.#max = max;
    this.#idleMs = idleSeconds * 1000;
    this.#sweep = setInterval(() => this.#forgetIdle(), Math.min(this.#idleMs / 4, 30_000)).unref();
  }

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  /** False if there is no room because all other clients are connected at the moment. */
  add(key: string, guest: Guest): boolean {
    if (this.#kept.size >= this.#max) {
      const [idle] = [...this.#kept].filter(([, { open }]) => open === 0).toSorted(([, a], [, b]) => a.seenAt - b.seenAt);
      if (!idle) return false;
      this.forget(idle[0]);
    }
    this.#kept.set(key, { guest, open: 0, seenAt: performance.now() });
    return true;
  }

  /** Lets a client's handler answer a request; the client counts as connected until the answer has been read to the end. */
  async fetch(key: string, request: Request, body: unknown): Promise<Response> {
    const kept = this.#kept.get(key);
    if (!kept) throw new Error('no such client');
    kept.open++;
    const over = (): void => {
      kept.open--;
      kept.seenAt = performance.now();
    };
    try {
      return whenRead(await kept.guest.fetch(request, body), over);
    } catch (error) {
      over();
      throw error;
    }
  }

  forget(key: string): void {
    const kept = this.#kept.get(key);
    if (!kept) return;
    this.#kept.delete(key);
    const closing = kept.guest
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    for (const key of this.#kept.keys()) this.forget(key);
    await Promise.all(this.#closing);
  }

  #forgetIdle(): void {
    for (const [key, { open, seenAt }] of this.#kept) if (open === 0 && performance.now() - seenAt > this.#idleMs) this.forget(key);
  }
}

/** The same response; `over` is called once, when the body has been read to the end or is no longer being read. */
export function whenRead(response: Response, over: () => void): Response {
  if (response.body === null) {
    over();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          over();
          throw error;
        });
        if (!done) return controller.enqueue(value);
        over();
        controller.close();
      },
      cancel(reason) {
        over();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}
