// Secrets that were taken out of a text before it was stored. Counted here and not from rows: what was removed leaves none.

import { metrics } from '@opentelemetry/api';

export const redactions = {
  name: 'work.redactions',
  type: 'counter',
  unit: '{secret}',
  labels: ['place'],
  says: 'Secrets removed from a text before it was stored or shown: in errors of the model\'s provider (model_error), in pages that echoed them (web_fetch)',
} as const;

/** Replaces every occurrence of `secret`, and counts them. */
export function redact(text: string, secret: string | RegExp, mark: string, place: 'model_error' | 'web_fetch'): string {
  let times = 0;
  const redacted = text.replaceAll(secret, () => {
    times++;
    return mark;
  });
  if (times > 0) metrics.getMeter('work-ledger').createCounter(redactions.name, { unit: redactions.unit, description: redactions.says }).add(times, { place });
  return redacted;
}
