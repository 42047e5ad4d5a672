// Checks on a JSON value of unknown shape.

export type Json = Record<string, unknown>;

export function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function show(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')).slice(0, 100);
}
