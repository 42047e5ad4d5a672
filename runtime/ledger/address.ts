// Addresses of databases, in every spelling that somebody may use: URLs (several hosts, IPv6, percent-encoded or not, the password before
// the host or as a parameter) and key=value. Loads nothing.

const isSecretKey = (key: string): boolean => /password|passwd/i.test(decoded(key));
const parameter = /([?&]([^=&#\s]*)=)([^&#\s]*)/g;
const pair = /(\b(?:\w*password|PGPASSWORD)\s*=\s*)('(?:[^'\\]|\\.)*'|(?:\\.|[^\s\\])*)/gi;
/** Up to the last @ before the parameters: a password may hold @, / and ? although it should not. */
const userInfo = /^(\w[\w+.-]*:\/\/[^:@/?#]*):((?:(?![?&][\w.%-]+=)[^])*)(@)/;

/** An address as it may be printed: without its passwords. */
export function shownUrl(address: string): string {
  const url = address.replace(userInfo, '$1:***$3').replaceAll(parameter, (all, head: string, key: string) => (isSecretKey(key) ? `${head}***` : all));
  return isUrl(address) ? url : url.replace(/^([^\s:/=]*):\S*@/, '$1:***@').replaceAll(pair, '$1***');
}

/** The address without its passwords, for the arguments of a program, and the one before its host. */
export function withoutPassword(address: string): { address: string; password: string | null } {
  const given = userInfo.exec(address)?.[2];
  const parameters = [...address.matchAll(parameter)].filter(([, , key = '']) => isSecretKey(key));
  const bare = parameters.reduce((url, [all]) => url.replace(all, all.startsWith('?') ? '?' : ''), address.replace(userInfo, '$1$3')).replace('?&', '?').replace(/\?$/, '');
  const password = given ?? parameters.find(([, , key = '']) => decoded(key) === 'password')?.[3];
  return { address: bare, password: password === undefined ? null : decoded(password) };
}

/** What is secret in an address: its passwords as they are written and as they are meant. None for a text that is no address. */
export function passwordsOf(address: string): string[] {
  const found = isUrl(address)
    ? [userInfo.exec(address)?.[2] ?? '', ...[...address.matchAll(parameter)].filter(([, , key = '']) => isSecretKey(key)).map(([, , , value = '']) => value)]
    : /^\s*\w+\s*=/.test(address) ? [...address.matchAll(pair)].map(([, , value = '']) => value.replace(/^'(.*)'$/s, '$1').replaceAll(/\\(.)/gs, '$1')) : [];
  return [...new Set(found.flatMap((one) => [one, decoded(one)]))].filter((one) => one !== '');
}

const isUrl = (address: string): boolean => /^(?:\w[\w+.-]*:\/)?\//.test(address) || address.startsWith('socket:');

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
