begin;
select plan(10);

create function pg_temp.read(p_command text) returns text language sql as $$
  select string_agg(target, ' ' order by ordinal) from _touches_of('bash', json_build_object('command', p_command)) where action = 'read' $$;

select is(pg_temp.read('cat src/a.ts ./b.ts'), 'src/a.ts b.ts', 'each file that is printed');
select is(pg_temp.read('sed -n ''1,80p'' src/a.ts'), 'src/a.ts', 'or lines of it');
select is(pg_temp.read('cd app && nl -ba "my file.ts" | sed -n 1,20p; head -n 20 c.ts'), 'my file.ts c.ts', 'of each command the first of its pipeline');
select is((select string_agg(target, ' ') from _touches_of('exec_command', '{"cmd": "tail -20 log.txt"}')), 'log.txt', 'as Codex calls it');
select is((select string_agg(target, ' ') from _touches_of('shell', '{"command": ["bash", "-lc", "cat a.py"]}')), 'a.py', 'word by word');
select is(pg_temp.read('cat > a.ts <<EOF'), null, 'not what is written');
select is(pg_temp.read('cat $FILE *.ts'), null, 'nor what the shell makes of it');
select is(pg_temp.read('grep -n cat a.ts; npm test'), null, 'nor what other commands read');
select is((select count(*) from _touches_of('bash', json_build_object('command', repeat('cat a;', 100000)))), 1::bigint, 'however long it is');
select is(pg_temp.read('sed -i s/a/b/ x.ts'), null, 'nor what sed changes');

select * from finish();
rollback;
