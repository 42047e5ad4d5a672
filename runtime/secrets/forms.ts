// Recognises secrets by their form. The expressions are the same as in sql/api/00_ground/forms_of_secrets.sql, which remove such secrets
// from rows whoever writes them; here they apply to what never becomes a row: logs, errors, answers.

export const mark = '[redacted]';

/**
 * Keys that begin with sk or rk, and what precedes them: not the rest of a word such as task, disk or fork, which begin many names
 * (task-admin-…). The letters of an escape (\u00ae, %ae) are no word.
 */
export const secretsShort = [
  String.raw`(^|[^aeiou]|(?:^|[^A-Za-z])[aeiou]|(?:\\u[0-9A-Fa-f]{2}|%)[0-9A-Fa-f]{2})`,
  String.raw`(?:sk-(?:(?:ant|proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{32,})|[sr]k_(?:live|test)_[A-Za-z0-9]{16,})`,
].join('');

export const secretsWhole = [
  String.raw`whsec_[A-Za-z0-9+/=]{24,}`,
  String.raw`|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|xox[a-z]-[A-Za-z0-9-]{11,}|xapp-[A-Za-z0-9-]{20,}`,
  String.raw`|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36,}|pypi-[A-Za-z0-9_-]{50,}`,
  String.raw`|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{64}`,
  String.raw`|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?:(?:[^-"]|-{1,4}[^-"])*-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----|(?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{32,})*)`,
].join('');

/**
 * A password that begins like a placeholder ($NAME, ${…}, $(…), {…}, (…), ***) but is not one. Placeholders stand in place of passwords in
 * documents and code.
 */
const oddPassword = String.raw`(?:\$(?:[A-Za-z_]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]|[A-Za-z0-9_]*[!%^+~-])|[*({\[](?:[A-Za-z_]*[0-9]|[A-Za-z_]*[!%^+~-]))[^\s/@"'\x60<>\\&#,;$*(){}\[\]]*`;
const passwordEnd = String.raw`(?=[\s"'\x60\\&,;]|$)`;

/** The other keys of a connection string, besides the password. */
const connectionKey = [
  String.raw`(?:host|hostaddr|port|dbname|user|passfile|service|options|replication|connect_timeout|client_encoding|(?:fallback_)?application_name`,
  String.raw`|target_session_attrs|load_balance_hosts|channel_binding|require_auth|requirepeer|krbsrvname|gssencmode|gsslib|gssdelegation`,
  String.raw`|ssl(?:mode|rootcert|cert|key|crl|sni|negotiation|compression)|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout)=`,
].join('');

export const secretsBehind = [
  String.raw`(^|[^A-Za-z0-9+/_=-]|\\[nrt])(?:A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{13,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})(?![A-Za-z0-9+/_-])`,
  String.raw`|(://[^\s:/@"'<>\\]*:)(?:(?!(?:password|passwd|pass|pwd|secret|PASSWORD|PASS)@)[^\s/@"'<>\\$*{\[(][^\s/"'<>\\]*|${oddPassword})(?=@)`,
  String.raw`|([?&](?:password|sslpassword|passwd|access_token|client_secret|api_key|apikey)=)(?:[^\s&"'<>\\#$*{\[(][^\s&"'<>\\#]{8,}|${oddPassword}${passwordEnd})`,
  String.raw`|(${connectionKey}(?:'[^'"\\]*'|[^\s"\\=']*[^\s"\\=',])\s+password=)(?:'[^'"\\]+'|[^\s'"\\$*{\[(][^\s'"\\]*|${oddPassword}${passwordEnd})`,
  String.raw`|(PGPASSWORD=[\\"']*)(?:[^\s"'\\$*{\[(<\x60][^\s"'\\]*|${oddPassword}${passwordEnd})`,
  String.raw`|((?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey)[\\"']*\s*[=:]\s*[\\"']*)[A-Za-z0-9/+=]{40}`,
  String.raw`|([Bb]earer\s+|[Aa]uthorization[\\"'\]]*\s*[:=,]\s*[\\"']*[Bb]asic\s+)(?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{16,}=*`,
  String.raw`|((?:^|[\s"'\x60]|\\[nrt])password=)(?:'[^'"\\]+'|[^\s'"\x60\\$*{\[(][^\s'"\x60\\]*[^\s'"\x60\\,]|[^\s'"\x60\\$*{\[(,]|${oddPassword})(?=\s+${connectionKey})`,
  String.raw`|(_authToken=[\\"']*|hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9_+/=-]{16,}(?:\.[A-Za-z0-9_+/=-]+)*`,
].join('');

const short = new RegExp(secretsShort, 'g');
const whole = new RegExp(secretsWhole, 'g');
const behind = new RegExp(secretsBehind, 'g');

/** The text without secrets, and how many were found. */
export function withoutForms(text: string): { text: string; found: number } {
  let found = 0;
  const redacted = text
    .replaceAll(short, (_, before: string) => (found++, `${before}${mark}`))
    .replaceAll(whole, () => (found++, mark))
    .replaceAll(behind, (...[, ...groups]: (string | undefined)[]) => (found++, `${groups.slice(0, 9).join('')}${mark}`));
  return { text: redacted, found };
}

/**
 * A text that is still arriving, without an end that may be the beginning of a secret: what follows a plain word without a space, and a
 * private key that has begun. What is held back is shown with what follows; what was shown cannot be taken back.
 */
export function withoutBeginning(text: string): string {
  let start = text.length;
  while (start > 0 && isPrintable(text.charCodeAt(start - 1))) start--;
  const [word = ''] = /^["'(*_`]*[A-Za-z]?[a-z]*/.exec(text.slice(start)) ?? [];
  const settled = text.slice(0, start + word.length);
  const key = settled.lastIndexOf('-----BEGIN');
  return key === -1 || /-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----/.test(settled.slice(key)) ? settled : settled.slice(0, key);
}

/** ASCII without the space. */
const isPrintable = (code: number): boolean => code > 32 && code < 127;
