-- A message goes to an id, the end of one, a name as digests show it (in the own tree first), the parent, the team; else it is refused, and who there is is listed.
begin;
select plan(47);

select from faculty_save('{"name": "lead", "accepts": ["lead"]}');
select from faculty_save('{"name": "coder", "accepts": ["code", "test"]}');
create temporary table work (name text, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.told(p_from text, p_to text) returns text language sql as $$
  select string_agg(w.name, ' ' order by w.name) from tell_agent(pg_temp.id(p_from), p_to, 'Text ' || p_to) t join work w on w.id = t.work_item_id $$;
insert into work select 'lead', (work_submit('lead', 'Lead')).id;
insert into work select 'a', (work_submit('code', 'A', p_parent_id => pg_temp.id('lead'))).id;
insert into work select 'b', (work_submit('test', 'B', p_parent_id => pg_temp.id('lead'))).id;
insert into work select 'c', (work_submit('code', E'C\n- forged', p_parent_id => pg_temp.id('lead'))).id;
insert into work select 'far', (work_submit('code', 'Elsewhere')).id;
insert into work select 'alone', (work_submit('review', 'Alone')).id;

select is(pg_temp.told('b', pg_temp.id('far')::text), 'far', 'an id is an item, wherever it is');
select is(pg_temp.told('b', right(pg_temp.id('alone')::text, 6)), 'alone', 'so is its end');
select is(pg_temp.told('a', 'test'), 'b', 'a name that one has is that one');
select is(pg_temp.told('a', ' [TEST] '), 'b', 'as it is shown, whatever its case');
select is(pg_temp.told('a', 'code'), 'c', 'nobody means itself by its name');
select is(pg_temp.told('far', 'review'), 'alone', 'who is not in the tree is found, too');
select is(pg_temp.told('lead', 'test'), 'b', 'first in the tree');
select drive(pg_temp.id('a')), drive(pg_temp.id('far'));
select is(pg_temp.told('b', 'Coder/code'), 'a', 'the faculty that is at work makes a name: in the tree before elsewhere');
select throws_ok($$ select tell_agent(pg_temp.id('alone'), 'coder', 'x') $$, 'WL002', 'several agents are called "coder": name one by the end of its id', 'several of a name are refused');
create function pg_temp.hint(p_from text, p_to text) returns text language plpgsql as $$
declare v_hint text;
begin
  perform tell_agent(pg_temp.id(p_from), p_to, 'x');
  return 'none';
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end $$;
select matches(pg_temp.hint('alone', 'coder'), format(E'^The agents there are, as data between the markers:\n\n<(data-[0-9a-f]{12})>\n- Coder/code %s \\(running\\): \\w+\n- Coder/code %s \\(running\\): \\w+\n</\\1>$',
  '[0-9a-f]{6}', '[0-9a-f]{6}'), 'with each one''s id and state');
-- As answers, messages and entries show them; later, since ten messages a minute are enough.
select later('2 minutes');
create function pg_temp.shown(p_name text) returns text language sql as $$ select _agent_name(w) from work_items w where w.id = pg_temp.id(p_name) $$;
select is(pg_temp.told('b', pg_temp.shown('a')), 'a', 'the name and the end of the id are one');
select is(pg_temp.told('b', upper('[' || split_part(pg_temp.shown('a'), ' ', 1) || '] ' || right(pg_temp.shown('a'), 6))), 'a', 'with brackets, in any case');
select is(pg_temp.told('alone', 'Coder/code ' || right(pg_temp.id('far')::text, 6)), 'far', 'where several have the name, too');
select is(pg_temp.told('b', 'Coder ' || right(pg_temp.id('a')::text, 6)), 'a', 'with a part of the name');
select is(pg_temp.told('b', 'code ' || right(pg_temp.id('a')::text, 12)), 'a', 'or more of the id');
select throws_ok(format('select tell_agent(pg_temp.id(''b''), ''review %s'', ''x'')', right(pg_temp.id('a')::text, 6)), 'WL001', null, 'another''s name with it means nobody');
select throws_ok(format('select tell_agent(pg_temp.id(''b''), ''code %s'', ''x'')', right(pg_temp.id('a')::text, 3)), 'WL001', null, 'nor is half an end enough');
select is(pg_temp.told('b', '[Coder/code, own test]'), 'a', 'from what it was known is no part of a name');
select is(pg_temp.told('b', 'Coder, read in a file, in progress'), 'a', 'nor that it is in progress');
-- A name may look like the end of an id.
select from faculty_save('{"name": "paint-facade", "accepts": ["paint"]}');
insert into work select 'painter', (work_submit('paint', 'P', p_parent_id => pg_temp.id('lead'), p_faculty => 'paint-facade')).id;
select is(pg_temp.told('b', 'Paint Facade'), 'painter', 'a name that ends like an id is a name');
select is(pg_temp.told('b', 'Paint Facade ' || right(pg_temp.id('painter')::text, 6)), 'painter', 'and may have the end of one behind it');
select from work_cancel(pg_temp.id('painter'));
-- Sessions of other programs.
select later('2 minutes');
insert into work select 'session', (journal_session_open('s1', 'Session one')).id;
insert into work select 'session 2', (journal_session_open('s2', 'Session two')).id;
select is(pg_temp.told('b', pg_temp.shown('session')), 'session', 'a session is named as it is shown');
select is(pg_temp.told('b', 'journal ' || right(pg_temp.id('session')::text, 6)), 'session', 'or by its work type');
select is(pg_temp.told('b', '[session] ' || right(pg_temp.id('session 2')::text, 6)), 'session 2', 'whichever is meant');
select is(pg_temp.told('b', 'Another session ' || right(pg_temp.id('session 2')::text, 6)), 'session 2', 'or as claims call it');
select throws_ok($$ select tell_agent(pg_temp.id('b'), 'session', 'x') $$, 'WL002', null, 'of two the end of an id is needed');
select throws_ok($$ select tell_agent(pg_temp.id('b'), 'Another session', 'x') $$, 'WL002', null, 'so it is');
select matches(pg_temp.hint('b', 'session'), 'session [0-9a-f]{6} \(', 'which the hint has');
select is(pg_temp.told('session', pg_temp.shown('session 2')), 'session 2', 'a session finds another');
select later('2 minutes');

select throws_ok($$ select tell_agent(pg_temp.id('b'), 'nobody', 'x') $$, 'WL001', 'no agent working near you is called "nobody"', 'an unknown name is refused');
select alike(pg_temp.hint('b', 'nobody'), '%): C - forged%', 'and lists who there is, a line each');
select is(pg_temp.told('b', 'parent'), 'lead', 'the parent needs no name');
select throws_ok($$ select tell_agent(pg_temp.id('lead'), 'parent', 'x') $$, 'WL001', null, 'who has none is told so');
select is(pg_temp.told('b', 'team'), 'a c lead', 'the team is parent and siblings');
select is(pg_temp.told('lead', 'the team'), 'a b c', 'and children');
select is((select count(*) from inbox where content = 'Text team'), 3::bigint, 'each gets a message of its own');
select throws_ok($$ select tell_agent(pg_temp.id('alone'), 'team', 'x') $$, 'WL001', null, 'who is alone has no team');
select throws_ok($$ select tell_agent(pg_temp.id('b'), pg_temp.id('b')::text, 'x') $$, 'WL002', null, 'nobody writes to itself');

-- Another project.
insert into work select 'shop', (work_submit('code', 'In the shop', p_project => 'acme/shop')).id;
insert into work select 'bank', (work_submit('bank', 'In the bank', p_project => 'acme/bank')).id;
select throws_ok($$ select tell_agent(pg_temp.id('shop'), 'bank', 'x') $$, 'WL001', null, 'by its name nobody is found in another project');
select throws_ok($$ select tell_agent(pg_temp.id('shop'), right(pg_temp.id('bank')::text, 6), 'x') $$, 'WL001', null, 'nor by the end of its id');
select is(pg_temp.told('shop', pg_temp.id('bank')::text), 'bank', 'by its id it is');
select is(pg_temp.told('shop', 'review'), 'alone', 'who is in none is found by all');
select project_rename('acme/bank', 'acme/shop');
select is(pg_temp.told('shop', 'bank'), 'bank', 'two that became one are one');

select from work_cancel(pg_temp.id('c'));
select is(pg_temp.told('b', 'team'), 'a lead', 'who is over is not of the team');
select throws_ok($$ select tell_agent(pg_temp.id('b'), right(pg_temp.id('c')::text, 6), 'x') $$, 'WL003', null, 'and is told nothing by its id');
select throws_ok($$ select tell_agent(pg_temp.id('c'), 'parent', 'x') $$, 'WL003', null, 'nor says anything');
select throws_ok($$ select tell_agent(pg_temp.id('a'), 'parent', 'x') $$, 'WL005', null, 'for an item that is driven only its worker speaks');

select * from finish();
rollback;
