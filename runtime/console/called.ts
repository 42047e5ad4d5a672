// A call and its outcome in one box: a line that says what it was about and what it cost; opened, it shows everything.

import type { RunBlock } from '../ledger/consoleRun.ts';
import { codeOf, differenceOf, isDiff, jsonOf, languageOf } from './code.ts';
import { sign } from './draw.ts';
import { brief, num, short, withShortIds } from './format.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { exactTime } from './times.ts';

type Input = Record<string, unknown>;
type Child = { id: string; description: string; state: string; outcome: string | null };

const str = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** What a call is about, in one line. */
export function aboutOf(input: unknown): string {
  if (input === null || typeof input !== 'object') return str(input);
  return Object.values(input)
    .map((one) => (Array.isArray(one) ? one.map(str).join(' ') : str(one)))
    .join(' · ');
}

const first = (input: Input, names: readonly string[]): string | null => {
  for (const name of names) if (typeof input[name] === 'string') return input[name];
  return null;
};

const pathOf = (input: Input): string => first(input, ['path', 'file_path', 'filePath', 'filename', 'notebook_path']) ?? '';

/** The change it makes to a file, line by line; null: it makes none that can be shown. */
function changeOf(input: Input): Html | null {
  const path = pathOf(input);
  const edits = Array.isArray(input['edits']) ? input['edits'] : [input];
  const parts = edits.flatMap((edit: unknown) => {
    if (edit === null || typeof edit !== 'object') return [];
    const one = edit as Input;
    const [was, is] = [
      first(one, ['old_string', 'old_str', 'oldText', 'old_text', 'find', 'search']),
      first(one, ['new_string', 'new_str', 'newText', 'new_text', 'replace']),
    ];
    return was === null || is === null ? [] : [differenceOf(was, is, path)];
  });
  if (parts.length > 0) return html`${parts}`;
  const written = first(input, ['content', 'file_text', 'contents']);
  if (path !== '' && written !== null) return differenceOf('', written, path);
  const patch = first(input, ['patch', 'diff', 'input']);
  return patch !== null && isDiff(patch) ? codeOf(patch, 'diff') : null;
}

/** A change of a few lines is shown opened. */
const isShortChange = (input: Input | null, json: string): boolean => input !== null && json.length < 3000 && changeOf(input) !== null;

/** A command as it was typed; null: it is not a command. */
function commandOf(input: Input): Html | null {
  const typed = first(input, ['command', 'cmd', 'script', 'bash']);
  const words = Array.isArray(input['command']) ? input['command'].map(str).join(' ') : typed;
  return words === null ? null : html`<pre class="code shell" tabindex="0">$ ${words}</pre>`;
}

const hidden = new Set(['command', 'cmd', 'script', 'bash']);

function given(json: string): Html {
  const input = parsed(json);
  if (input === null) return html`<pre class="code" tabindex="0">${json}</pre>`;
  const command = commandOf(input);
  if (command !== null) {
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !hidden.has(name)));
    return html`${command}${Object.keys(rest).length > 0 ? jsonOf(JSON.stringify(rest)) : ''}`;
  }
  const code = first(input, ['code', 'sql', 'query', 'statement']);
  if (code?.includes('\n')) return codeOf(code, 'code' in input ? 'python' : 'SQL');
  return changeOf(input) ?? jsonOf(json) ?? html``;
}

function parsed(json: string): Input | null {
  try {
    const input: unknown = JSON.parse(json);
    return input !== null && typeof input === 'object' && !Array.isArray(input) ? (input as Input) : null;
  } catch {
    return null; // cut because of its length: shown unchanged
  }
}

/** The exit code of a command, as its tool reports it. */
const exitOf = (content: string): string | null =>
  /\[?exit(?:ed with)?(?: code|_code)?[": ]+(-?\d{1,3})/i.exec(content.slice(-400))?.[1] ?? null;

const imageOf = (hash: string): Html =>
  html`<a href="/image/${hash}"><img class="shown" src="/image/${hash}" alt="Image ${hash.slice(0, 12)}" loading="lazy"></a>`;

function result(block: RunBlock, input: Input | null): Html {
  const content = block.content ?? '';
  const images = Array.isArray(block.data?.['images']) ? block.data['images'].map(str) : [];
  if (block.status !== 'completed' && content === '') return html`<p class="small quiet pad">${block.status}</p>`;
  const path = input === null ? '' : pathOf(input);
  const isCode = path !== '' && block.status === 'completed' && content.includes('\n');
  const shown = isDiff(content)
    ? codeOf(content, 'diff')
    : (jsonOf(content) ??
      html`<pre class="code out" dir="auto" tabindex="0"${isCode && languageOf(path) ? html` data-language="${languageOf(path)}"` : ''}>${content}</pre>`);
  const left = (block.chars ?? 0) - content.length;
  return html`${content === '' ? '' : shown}${images.map(imageOf)}${left > 0 ? html`<p class="small pad"><a class="accent" href="/call/${block.source_id}">all ${num(block.chars ?? 0)} characters</a></p>` : ''}`;
}

/** Who was asked, what they answered and when. */
function approval(block: RunBlock): Html {
  const one = block.data?.['approval'] as Record<string, string | undefined> | undefined;
  if (!one) return html``;
  const { risk = '', decision, by, reason, decided_at: at, requested_at: asked = '' } = one;
  if (!decision) return html`<p class="small pad warn">${sign('approval')} waits for approval (${risk}) since ${exactTime(asked)}</p>`;
  return html`<p class="small pad${decision === 'approved' ? '' : ' bad'}"><span class="strong">${decision}</span>${by ? html` by <span dir="auto">${by}</span>` : ''} ${at ? exactTime(at) : ''}${reason ? html`: <span dir="auto">“${reason}”</span>` : ''} <span class="quiet">${risk}</span></p>`;
}

const childLine = (child: Child): Html =>
  html`<p class="small pad">→ <a class="accent" href="/work/${child.id}">${short(child.id)}</a> <span class="strong">${child.state}</span> <span dir="auto">${brief(child.description, 160)}</span>${child.outcome ? html`: <span class="quiet" dir="auto">${brief(child.outcome, 300)}</span>` : ''}</p>`;

/** `link`: its address; `child`: the work item that it submitted. */
export function called(block: RunBlock, link: string, child: Child | undefined, isOpen: boolean): Html {
  const { data, status, name } = block;
  const json = block.input ?? '{}';
  const input = parsed(json);
  const isBad = status === 'failed' || status === 'uncertain';
  const exit = exitOf(block.content ?? '');
  const seconds = typeof data?.['seconds'] === 'number' ? data['seconds'] : null;
  const about = withShortIds(brief(aboutOf(input ?? json), 220));
  const cost = [
    exit === null || exit === '0' ? '' : `exit ${exit}`,
    seconds === null ? '' : seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`,
    status === 'completed' ? '' : status,
  ].filter((one) => one !== '');
  const isNested = typeof data?.['parent'] === 'string';
  const shape = status === 'waiting' && data?.['approval'] ? 'approval' : status === 'uncertain' ? 'crashed' : (status ?? 'queued');
  return html`<details class="call${isBad ? ' bad' : ''}${isNested ? ' nested' : ''} is-${shape === 'pending' ? 'queued' : shape}" id="${block.id}" data-key="${block.id}" data-mark="${block.mark}"${isOpen || isBad || isShortChange(input, json) ? html` open` : ''}><summary data-row="call">${sign(shape)}<span class="name">${name}</span><span class="arg cut" dir="auto">${about}</span><span class="cost">${cost.join(' · ')}${child ? html` → ${short(child.id)} ${child.state}` : ''}</span></summary><div class="inside">${given(json)}${approval(block)}${child ? childLine(child) : ''}<div class="came">${result(block, input)}</div><p class="small pad foot"><a href="${link}">link</a> <a href="/call/${block.source_id}">the whole call</a>${block.turn_id === null ? '' : html` <a href="/because/${block.turn_id}?call=${block.source_id}">because</a>`}</p></div></details>`;
}
