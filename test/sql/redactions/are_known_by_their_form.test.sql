-- What is a secret by its form is taken out of text and of JSON; what only looks like one stays.
begin;
select plan(7);

-- Put together here, so that nobody takes this file for a leak.
create temp table secret as
  select s.hidden, s.before, s.after from (values
    ('sk-' || 'ant-api03-' || repeat('aB3_', 10), '', ''), ('sk-' || 'proj-' || repeat('x9', 20), 'key=', ' '), ('sk_' || 'live_' || repeat('a1', 12), '"', '"'),
    ('ghp_' || repeat('aB1', 12), 'token ', '.'), ('github_' || 'pat_' || repeat('a1_', 15), '', ''), ('glpat-' || repeat('a-1', 8), '', ','),
    ('xoxb-' || repeat('12-a', 6), '(', ')'), ('AKIA' || repeat('Z9', 8), E'\n', ' '), ('AIza' || repeat('a_-B9', 7), 'key ', ''),
    ('eyJ' || repeat('hbGc', 5) || '.eyJ' || repeat('zdWI', 4) || '.' || repeat('s1-_', 8), 'cookie: ', ';'), ('hf_' || repeat('aB', 17), '', ''),
    ('npm_' || repeat('a1', 18), '', ''), ('SG.' || repeat('a_', 10) || '.' || repeat('-b', 20), '', ''),
    ('-----BEGIN RSA ' || 'PRIVATE KEY-----' || E'\nProc-Type: 4,ENCRYPTED\n\n' || repeat(repeat('Ab+/', 16) || E'\n', 5) || '-----END RSA ' || 'PRIVATE KEY-----', E'cat key\n', E'\ndone'),
    ('-----BEGIN ' || 'PRIVATE KEY-----' || E'\n' || repeat(repeat('Ab+/', 16) || E'\n', 2) || repeat('Ab+/', 10), 'cut off: ', E'\n'),
    ('s3cr3t', 'postgresql://me:', '@db.example:5432/app'), ('p@ss:w0rd', 'redis://', '@[::1]:6379') , ('s3cr3tpass', 'https://h/?a=1&access_token=', '&b=2'),
    ('s3cr3t', 'host=db user=me password=', ' dbname=app'), ('''it is s3cret''', 'dbname=app password=', ''), ('s3cr3t', 'PGPASSWORD=', ' psql'),
    (repeat('aB+/', 10), 'aws_secret_access_key = ', E'\n'), ('abcdefgh.ijklmn0p-qrst', 'Authorization: Bearer ', ''), (repeat('dXNlcjpw', 3) || '1=', 'authorization: Basic ', ''),
    ('s3cr3t', 'password=', ' host=db user=me'), ('''it is s3cret''', 'psql "password=', ' connect_timeout=3"'), ('s3cr3t', 'user=app connect_timeout=3 password=', ' x'),
    ('s3cr3t', 'application_name=''my app'' password=', E'\n'), ('$ecr3t', 'postgres://me:', '@h'), ('(s3cr3t', 'postgres://me:', '@h'), ('[s3cr3t', 'host=h password=', ''),
    ('{s3cr3t', 'PGPASSWORD=', ' psql'), ('*s3cr3t', 'host=h password=', ' x'), ('$ecret-1', 'host=h password=', ''), ('$ecr3tpass', 'https://h/?password=', '&b=2'),
    (gen_random_uuid()::text, '//registry.npmjs.org/:_authToken=', E'\n'), ('T01ABCDEF/B02ABCDEF/' || repeat('aB1', 8), 'curl https://hooks.slack.com/services/', ' -d x'),
    ('sk-' || repeat('a1', 16), ' a', ''), ('sk-' || repeat('a1', 16), '%3a', ''), ('sk-' || repeat('a1', 16), '\u00ae', ''), ('sk-' || repeat('a1', 16), 'A', ''),
    ('rk_' || 'test_' || repeat('a1', 8), 'é', ''), ('sk-' || 'admin-' || repeat('a1', 8), E'\n', ''),
    (repeat('dXNlcjpw', 3) || '1=', 'headers["Authorization"] = "Basic ', '"')
  ) s(hidden, before, after);
update secret set before = 'redis://me:' where before = 'redis://';

select is_empty($$ select before, hidden, _redacted(before || hidden || after) from secret where _redacted(before || hidden || after) <> before || '[redacted]' || after $$,
  'each is taken out of text, and nothing else');
select is_empty($$ select to_json(before || hidden || after) from secret
                    where _redacted(to_json(before || hidden || after)::text)::json #>> '{}' <> before || '[redacted]' || after and hidden !~ '"' $$, 'and out of JSON');
select is_empty($$ select before, hidden from secret where _redacted(_redacted(before || hidden || after)) <> _redacted(before || hidden || after) $$, 'once');
select is_empty($$ select before, hidden from secret where not _may_hold_secret(before || hidden || after) or not _may_hold_secret(to_json(before || hidden || after)::text) $$,
  'the first look finds them');
select is((select count(*)::integer from secret), 44, 'all of them');
select is_empty($$
  select v from unnest(array[
    'task-12345678901234567890', 'the token sk-ant-… of the user', 'postgresql://user:password@host/db', 'postgresql://me:$PASSWORD@host', 'redis://me:${PW}@h',
    'http://127.0.0.1:8080/a@b', 'bearer of bad news, and nothing but bad news', 'Authorization: Bearer $TOKEN', 'password = getpass()', 'grep "PRIVATE KEY" *.pem',
    'ssh git@github.com:me/it.git', 'https://registry.example/@scope/package', 'data:image/png;base64,' || repeat('AKIAaAIza/+', 40), 'Bearer [redacted]',
    'postgres://me:[redacted]@h', 'password=', 'PGPASSWORD=$PW psql', 'the words host=a password=$1', 'mailto:me@example.org', gen_random_uuid()::text, encode(sha256('x'), 'hex'),
    'connect(host=h, user=u, password=getpass())', 'connect(password=getpass(), host=h)', 'postgres://me:[YOUR-PASSWORD]@h', 'postgres://me:***@h', 'postgres://me:{{ pw }}@h',
    'host=h password=$PW', 'PGPASSWORD=$(pass show db) psql', 'PGPASSWORD={os.environ["PW"]}', 'password=${PW} host=h', '_authToken=${NPM_TOKEN}', 'this._authToken=response.token',
    '/tmp/task-' || repeat('a1', 16), 'Disk-' || repeat('a1', 16), 'helpdesk-admin-configuration-api', 'desk-proj-configuration-api', 'spark_test_20260101T000000Z',
    'hooks.slack.com/services/...', 'select * from u where user=1 and password=(select 1)', repeat('iVBORw0KGgoAAAANSUhEUgAA/+', 40), 'postgres://me:$(pass)@h']) v
   where _redacted(v) <> v $$, 'what is none stays');
select is(_redacted(repeat('eyJhbGciOiJIUzI1NiJ9', 10000)), repeat('eyJhbGciOiJIUzI1NiJ9', 10000), 'and long texts that begin like one do, too');

select * from finish();
rollback;
