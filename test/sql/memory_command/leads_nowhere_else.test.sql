-- Paths are below /memories, whatever is written into them; contents are text, within their limits.
begin;
select plan(40);

create function pg_temp.raises(p_path text) returns text language plpgsql as $$
begin
  return memory_command(json_build_object('command', 'create', 'path', p_path, 'file_text', 'x'));
exception when others then
  return sqlstate || ' ' || sqlerrm;
end
$$;

select alike(pg_temp.raises(p), 'WL002 %', format('%s is refused', to_json(p)))
  from unnest(array['', '/', 'memories/a', '/memoriesx/a', '/etc/passwd', '/memories/../etc/passwd', '/memories/a/../../b', '/memories/./a', '/memories/..', '/memories/a/..',
    '/memories/%2e%2e/a', '/memories/a%2Fb', '/memories/%252e%252e/a', '/memories/a%00b', '/memories/%5c', '/memories\a', '/memories/..\a', '/memories/a' || chr(10) || 'b',
    '/memories/a' || chr(127), '/memories/a' || chr(8238) || 'b', '/memories/ a', '/memories/a ', '/memories/a /b', '/memories/' || repeat('x', 500), '/memories' || repeat('/a', 11),
    ' /memories/a', 'C:\memories\a', '/memories/sk-ant-api03-' || repeat('aB3_', 8)]) p;
select is(pg_temp.raises('/memories//a///b.md/'), 'File created successfully at: /memories/a/b.md', 'doubled slashes are one');
select is(pg_temp.raises(U&'/memories/caf\0065\0301.md'), U&'File created successfully at: /memories/caf\00e9.md', 'letters are composed');
select is(pg_temp.raises(U&'/memories/caf\00e9.md'), U&'WL006 File /memories/caf\00e9.md already exists', 'so that one name is one file');
select is(pg_temp.raises('/memories/..a...md'), 'File created successfully at: /memories/..a...md', 'dots in a name are letters');
select is(memory_command('{"command": "create", "path": "/memories/nul.md", "file_text": "a\u0000b\ud800c"}'), 'File created successfully at: /memories/nul.md', 'what text cannot hold');
select is((select content from v_memory_files where path = '/memories/nul.md'), U&'a\2400b\fffdc', 'is replaced');
select throws_ok(format($$ select memory_command(%L) $$, json_build_object('command', 'create', 'path', '/memories/big.md', 'file_text', repeat('x', 65537))), 'WL009', null, 'a file has at most 64 KB');
select memory_command(json_build_object('command', 'create', 'path', '/memories/big.md', 'file_text', repeat('x', 65536)));
select throws_ok($$ select memory_command('{"command": "insert", "path": "/memories/big.md", "insert_line": 0, "insert_text": ""}') $$, 'WL009', null, 'also what is added');
select memory_command(json_build_object('command', 'create', 'path', '/memories/n/' || n, 'file_text', 'x')) from generate_series(1, 195) n;
select throws_ok($$ select memory_command('{"command": "create", "path": "/memories/one.md", "file_text": "x"}') $$, 'WL009', null, '200 files are the most');
select lives_ok($$ select memory_command('{"command": "create", "path": "/memories/one.md", "file_text": "x"}', 'shop') $$, 'of a project');

select throws_ok($$ select memory_command('1e1000000') $$, 'WL002', null, 'a number that no database holds is no command');
select throws_ok($$ select memory_command(null) $$, 'WL002', null, 'nor is nothing');

select * from finish();
rollback;
