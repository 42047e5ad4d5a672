-- A shell command that prints files reads them: of each command of a pipeline's beginning what it names.
begin;
select plan(10);

create function pg_temp.read(p_command text) returns text language sql as $$
  select string_agg(target, ' ' order by ordinal) from _touches_of(_touch_rules_of('bash'), json_build_object('command', p_command)) where action = 'read' $$;

select is(pg_temp.read('cat src/a.ts ./b.ts'), 'src/a.ts b.ts', 'cat reads each file that it names');
select is(pg_temp.read('sed -n ''1,80p'' src/a.ts'), 'src/a.ts', 'sed -n reads the file whose lines it prints');
select is(pg_temp.read('cd app && nl -ba "my file.ts" | sed -n 1,20p; head -n 20 c.ts'), 'my file.ts c.ts', 'of each pipeline the first command reads');
select is((select string_agg(target, ' ') from _touches_of(_touch_rules_of('exec_command'), '{"cmd": "tail -20 log.txt"}')), 'log.txt', 'a command is read as Codex calls it');
select is((select string_agg(target, ' ') from _touches_of(_touch_rules_of('shell'), '{"command": ["bash", "-lc", "cat a.py"]}')), 'a.py', 'a command is read that is given word by word');
select is(pg_temp.read('cat > a.ts <<EOF'), null, 'a file that is written is not read');
select is(pg_temp.read('cat $FILE *.ts'), null, 'a name that the shell makes is not read');
select is(pg_temp.read('grep -n cat a.ts; npm test'), null, 'what other commands read is not known');
select is((select count(*) from _touches_of(_touch_rules_of('bash'), json_build_object('command', repeat('cat a;', 100000)))), 1::bigint, 'a command of any length is read');
select is(pg_temp.read('sed -i s/a/b/ x.ts'), null, 'a file that sed changes is not read');

select * from finish();
rollback;
