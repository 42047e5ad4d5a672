-- Secrets with a recognizable form: providers' keys, private keys, passwords in addresses and connection strings, tokens. The expressions are the
-- same as in runtime/secrets/forms.ts. Their cost is linear in the length of the text, whatever the text is.

-- Every entry pays for this, so it is inlined: a function call would cost a twentieth of an append.
create or replace function _hints_at_secret(p_text text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_text collate "C" ~ '[A-Za-z0-9_=-]{16}' or p_text collate "C" ~ '@|whsec_|earer |PRIVATE KEY|assword=|ASSWORD=|passwd=|asic ';

comment on function _hints_at_secret(text) is 'Whether a text has a long word, or another sign of a secret. Null for null.';

-- Runs on everything that is written. It is plpgsql because a SQL function inlined into a trigger's condition is planned again for each statement,
-- which takes 60 microseconds. The more alternatives a regular expression can begin with, the more it costs: on 400 characters of English, the first
-- one takes 2 microseconds and matches little, the second takes 15.
create or replace function _may_hold_secret(p_text text)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _hints_at_secret(p_text)
    and p_text collate "C" ~ (
      'sk-|[sr]k_(?:live|test)_|whsec_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|GOCSPX-|A[KS]IA|AIza|ya29\.|hf_|npm_|pypi-|SG\.|gsk_|xai-|r8_|dop_v1_'
      '|eyJ|PRIVATE KEY|://[^[:space:]/]*:[^[:space:]/]*@|[Bb]earer |[Bb]asic |assword=|ASSWORD=|passwd=|_token=|_secret=|api_?key=|ecret_?[Aa]ccess_?[Kk]ey'
      '|SECRET_ACCESS|_authToken=|hooks\.slack\.com/');
end
$$;

comment on function _may_hold_secret(text) is 'Whether _redacted() could find anything. Null for null.';

create or replace function _secrets_short()
  returns text
  language sql
  immutable
  parallel safe
  return '(^|[^aeiou]|(?:^|[^A-Za-z])[aeiou]|(?:\\u[0-9A-Fa-f]{2}|%)[0-9A-Fa-f]{2})'
    '(?:sk-(?:(?:ant|proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{32,})|[sr]k_(?:live|test)_[A-Za-z0-9]{16,})';

comment on function _secrets_short() is 'Keys that begin with sk or rk, as a regular expression whose group is what precedes them: not the rest of a word such as task, disk or fork, which begin many names (task-admin-…), except in an escape (\u00ae, %ae); the same in runtime/secrets/forms.ts.';

create or replace function _secrets_whole()
  returns text
  language sql
  immutable
  parallel safe
  return 'whsec_[A-Za-z0-9+/=]{24,}'
    '|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|xox[a-z]-[A-Za-z0-9-]{11,}|xapp-[A-Za-z0-9-]{20,}'
    '|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36,}|pypi-[A-Za-z0-9_-]{50,}'
    '|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{64}'
    '|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----'
    '(?:(?:[^-"]|-{1,4}[^-"])*-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----|(?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{32,})*)';

comment on function _secrets_whole() is 'What is a secret from its first character to its last, as a regular expression; the same in runtime/secrets/forms.ts.';

create or replace function _secrets_odd()
  returns text
  language sql
  immutable
  parallel safe
  return '(?:\$(?:[A-Za-z_]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]|[A-Za-z0-9_]*[!%^+~-])|[*({\[](?:[A-Za-z_]*[0-9]|[A-Za-z_]*[!%^+~-]))'
    '[^\s/@"''\x60<>\\&#,;$*(){}\[\]]*';

comment on function _secrets_odd() is 'A password that begins as an expression does ($NAME, ${…}, $(…), {…}, (…), ***) and is none, as a regular expression. Those stand in place of passwords in documents and code.';

create or replace function _secrets_connection_key()
  returns text
  language sql
  immutable
  parallel safe
  return '(?:host|hostaddr|port|dbname|user|passfile|service|options|replication|connect_timeout|client_encoding|(?:fallback_)?application_name'
    '|target_session_attrs|load_balance_hosts|channel_binding|require_auth|requirepeer|krbsrvname|gssencmode|gsslib|gssdelegation'
    '|ssl(?:mode|rootcert|cert|key|crl|sni|negotiation|compression)|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout)=';

comment on function _secrets_connection_key() is 'What a connection string names beside a password, as a regular expression.';

create or replace function _secrets_behind()
  returns text
  language sql
  immutable
  parallel safe
  return '(^|[^A-Za-z0-9+/_=-]|\\[nrt])(?:A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|'
    'eyJ[A-Za-z0-9_-]{13,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})(?![A-Za-z0-9+/_-])'
    || '|(://[^\s:/@"''<>\\]*:)(?:(?!(?:password|passwd|pass|pwd|secret|PASSWORD|PASS)@)[^\s/@"''<>\\$*{\[(][^\s/"''<>\\]*|' || _secrets_odd() || ')(?=@)'
    || '|([?&](?:password|sslpassword|passwd|access_token|client_secret|api_key|apikey)=)(?:[^\s&"''<>\\#$*{\[(][^\s&"''<>\\#]{8,}|'
    || _secrets_odd() || '(?=[\s"''\x60\\&,;]|$))'
    || '|(' || _secrets_connection_key() || '(?:''[^''"\\]*''|[^\s"\\='']*[^\s"\\='',])\s+password=)(?:'
    '''[^''"\\]+''|[^\s''"\\$*{\[(][^\s''"\\]*|' || _secrets_odd() || '(?=[\s"''\x60\\&,;]|$))'
    || '|(PGPASSWORD=[\\"'']*)(?:[^\s"''\\$*{\[(<\x60][^\s"''\\]*|' || _secrets_odd() || '(?=[\s"''\x60\\&,;]|$))'
    || '|((?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey)[\\"'']*\s*[=:]\s*[\\"'']*)[A-Za-z0-9/+=]{40}'
    || '|([Bb]earer\s+|[Aa]uthorization[\\"''\]]*\s*[:=,]\s*[\\"'']*[Bb]asic\s+)(?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{16,}=*'
    || '|((?:^|[\s"''\x60]|\\[nrt])password=)(?:''[^''"\\]+''|[^\s''"\x60\\$*{\[(][^\s''"\x60\\]*[^\s''"\x60\\,]|[^\s''"\x60\\$*{\[(,]|'
    || _secrets_odd() || ')(?=\s+' || _secrets_connection_key() || ')'
    || '|(_authToken=[\\"'']*|hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9_+/=-]{16,}(?:\.[A-Za-z0-9_+/=-]+)*';

comment on function _secrets_behind() is 'What is a secret because of what stands before it, as a regular expression whose groups are what stays; the same in runtime/secrets/forms.ts.';

create or replace function _redacted(p_text text)
  returns text
  language sql
  immutable
  parallel safe
  -- The first use of these expressions on a connection takes 50 ms to compile them.
  return case when _may_hold_secret(p_text)
    then regexp_replace(regexp_replace(regexp_replace(p_text collate "C", _secrets_short(), '\1[redacted]', 'g'), _secrets_whole(), '[redacted]', 'g'),
           _secrets_behind(), '\1\2\3\4\5\6\7\8\9[redacted]', 'g')
    else p_text end;

comment on function _redacted(text) is 'The text, or JSON as text, with [redacted] in place of secrets: JSON stays valid, and doing it again changes nothing.';
