// Database addresses in every accepted spelling: URLs (several hosts, IPv6, percent-encoded or not, the password before the host or as a
// parameter) and key=value. Imports nothing.

const isSecretKey = (key: string): boolean => /password|passwd/i.test(decoded(key));
const parameter = /([?&]([^=&#\s]*)=)([^&#\s]*)/g;
const pair = /(\b(?:\w*password|PGPASSWORD)\s*=\s*)('(?:[^'\\]|\\.)*'|(?:\\.|[^\s\\])*)/gi;
/** Up to the last @ before the parameters: a password may contain @, / and ?, although it should not. */
const userInfo = /^(\w[\w+.-]*:\/\/[^:@/?#]*):((?:(?![?&][\w.%-]+=)[^])*)(@)/;

/** The address without its passwords, fit to be printed. */
export function shownUrl(address: string): string {
  const url = address
    .replace(userInfo, '$1:***$3')
    .replaceAll(parameter, (all, head: string, key: string) => (isSecretKey(key) ? `${head}***` : all));
  return isUrl(address) ? url : url.replace(/^([^\s:=]*):\S*@/, '$1:***@').replaceAll(pair, '$1***');
}

/** The address without its passwords, for the arguments of a program, and the password that stood before its host. */
export function withoutPassword(address: string): { address: string; password: string | null } {
  const given = userInfo.exec(address)?.[2];
  const parameters = [...address.matchAll(parameter)].filter(([, , key = '']) => isSecretKey(key));
  const bare = parameters
    .reduce((url, [all]) => url.replace(all, all.startsWith('?') ? '?' : ''), address.replace(userInfo, '$1$3'))
    .replace('?&', '?')
    .replace(/\?$/, '');
  const password = given ?? parameters.find(([, , key = '']) => decoded(key) === 'password')?.[3];
  return { address: bare, password: password === undefined ? null : decoded(password) };
}

/** The secrets in an address: its passwords as written and as decoded. Empty for a text that is not an address. */
export function passwordsOf(address: string): string[] {
  const found = isUrl(address)
    ? [
        userInfo.exec(address)?.[2] ?? '',
        ...[...address.matchAll(parameter)].filter(([, , key = '']) => isSecretKey(key)).map(([, , , value = '']) => value),
      ]
    : /^\s*\w+\s*=/.test(address)
      ? [...address.matchAll(pair)].map(([, , value = '']) => value.replace(/^'(.*)'$/s, '$1').replaceAll(/\\(.)/gs, '$1'))
      : [];
  return [...new Set(found.flatMap((one) => [one, decoded(one)]))].filter((one) => one !== '');
}

const wishes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

/** Which kind of server an address asks for, as in libpq's target_session_attrs. */
export type Wanted = (typeof wishes)[number];

/**
 * The servers of an address, in order, each with its own address, and which kind is wanted. Null: it names a single server and has no such
 * wish.
 */
export function serversOf(address: string): { servers: { name: string; address: string }[]; wanted: Wanted } | null {
  const { head, authority, tail, given } = partsOf(address) ?? { head: '', authority: '', tail: '', given: new Map<string, string>() };
  const wanted = given.get('target_session_attrs');
  if (wanted !== undefined && !isWish(wanted)) throw new Error(`target_session_attrs of an address is one of ${wishes.join(', ')}`);
  const hosts = (given.get('host') ?? authority).split(',');
  if (hosts.length === 1 && wanted === undefined) return null;
  const ports = (given.get('port') ?? '').split(',');
  const rest = without(tail, ['target_session_attrs', ...(given.has('host') ? ['host', 'port'] : [])]);
  const servers = hosts.map((host, n) => {
    if (!given.has('host')) return { name: decoded(host), address: `${head}${host}${rest}` };
    const port = (ports.length === 1 ? ports[0] : ports[n]) ?? '';
    const at = new URLSearchParams({ host, ...(port !== '' && { port }) }).toString();
    return { name: port === '' ? host : `${host}:${port}`, address: `${head}${authority}${rest}${rest.includes('?') ? '&' : '?'}${at}` };
  });
  return { servers, wanted: wanted ?? 'any' };
}

/** The host and the parameters of an address, and the address without some of them. Without a host: what PGHOST or pg's default says. */
export function parametersOf(address: string, keys: readonly string[]): { given: ReadonlyMap<string, string>; host: string; rest: string } {
  const parts = partsOf(address);
  if (parts === null) return { given: new Map(), host: '/', rest: address }; // pg's other forms name a socket
  const { head, authority, tail, given } = parts;
  const isNamed = keys.some((key) => given.has(key));
  return { given, host: given.get('host') ?? decoded(authority), rest: isNamed ? `${head}${authority}${without(tail, keys)}` : address };
}

/** `tail`: from the database's name on. Null: it is no URL of a server. */
function partsOf(address: string): { head: string; authority: string; tail: string; given: Map<string, string> } | null {
  const [all, head = '', authority = '', tail = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([^]*)$/.exec(address) ?? [];
  if (all === undefined) return null;
  const given = new Map([...tail.matchAll(parameter)].map(([, , key = '', value = '']) => [decoded(key), decoded(value)]));
  return { head, authority, tail, given };
}

const isWish = (text: string): text is Wanted => (wishes as readonly string[]).includes(text);

/** The last part of an address, without the given parameters. */
function without(tail: string, keys: readonly string[]): string {
  const [path = '', query = ''] = tail.split(/\?(.*)/s);
  const kept = query.split('&').filter((one) => one !== '' && !keys.includes(decoded(one.split('=')[0] ?? '')));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

const isUrl = (address: string): boolean => /^(?:\w[\w+.-]*:\/)?\//.test(address) || address.startsWith('socket:');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
