// The secrets that this process was given, by its environment and by the address of its database. A variable's value counts as a secret if
// the variable is one of ours, if its name suggests one and the value looks like one, or if a user names it (secrets in work-ledger.toml).

import { passwordsOf } from '../ledger/address.ts';
import { keepSecret } from './known.ts';

const ours = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'WORK_LEDGER_MCP_TOKEN', 'PGPASSWORD'];
const isNamedSecret = (name: string): boolean =>
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|_AUTH)(?:_ID)?$|SECRET|PASSWORD/i.test(name);
/** Whether a value looks random: not a word, a path or a sentence. */
const isRandom = (value: string): boolean => /^(?=.*\d)(?![/~.])[!-~]{12,}$/.test(value);

let isDone = false;

/** Keeps what a program was given to reach a ledger: the secrets of its environment, and the passwords in the address. */
export function keepGiven(url: string): void {
  keepEnvironment();
  passwordsOf(url).forEach(keepSecret);
}

/** Done once per process. */
function keepEnvironment(): void {
  if (isDone) return;
  isDone = true;
  for (const [name, value = ''] of Object.entries(process.env)) {
    if (ours.includes(name) || (isNamedSecret(name) && isRandom(value))) keepSecret(value);
    passwordsOf(value).forEach(keepSecret);
    if (name.endsWith('HEADERS')) headersOf(value).forEach(keepHeader);
  }
}

/** Keeps the values of the variables that a user names, if they are set. */
export const keepNamed = (names: readonly string[]): void => names.forEach((name) => keepSecret(process.env[name]));

/** In a header's value the scheme (Bearer) is not secret; what follows it is. */
export function keepHeader(value: string): void {
  const last = value.slice(value.lastIndexOf(' ') + 1);
  if (isRandom(last)) keepSecret(last);
}

/** Header values from JSON by host, "name: value" lines, or name=value,name=value as in OpenTelemetry. */
function headersOf(value: string): string[] {
  try {
    return Object.values(JSON.parse(value) as Record<string, Record<string, string>>)
      .flatMap((headers) => Object.values(headers))
      .filter((one) => typeof one === 'string');
  } catch {
    return value.split(/[\n,]/).map((one) => decoded(one.replace(/^[^:=]*[:=]\s*/, '')));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
