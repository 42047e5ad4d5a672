-- Whoever works in a tree hears of its team: the parent, the siblings, its own children, whatever include_child_work says.
begin;
select plan(23);

select tool('edit_file', 'unsafe', 'moderate');
select from faculty_save('{"name": "lead", "accepts": ["lead"], "engage": {"ledger_nudge_interval": 0}}');
select from faculty_save('{"name": "coder", "accepts": ["code"], "engage": {"ledger_nudge_interval": 0, "tools": ["edit_file"]}}');
create temporary table work (name text, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.newest(p_name text) returns text language sql as $$ select body::text from request where item = pg_temp.id(p_name) order by n desc limit 1 $$;
-- The news of the newest request; null: it has none of its own.
create function pg_temp.news(p_name text) returns text language sql as $$
  select m.content::text from messages m where m.turn_id = (select turn_id from request where item = pg_temp.id(p_name) order by n desc limit 1) and m.metadata ->> 'kind' = 'digest'
$$;
insert into work select 'lead', (work_submit('lead', 'Make money exact')).id;
select play('[[["plan", "1. Delegate 2. Review"]], [["spawn_child_work", {"work_type": "code", "description": "Fix toCents"}], ["spawn_child_work", {"work_type": "code", "description": "Write the tests"}], ["spawn_child_work", {"work_type": "code", "description": "Write the docs"}]]]', pg_temp.id('lead'));
insert into work select case c.description when 'Fix toCents' then 'fix' when 'Write the tests' then 'tests' else 'docs' end, c.id from work_items c where c.parent_id = pg_temp.id('lead');
select from drive(pg_temp.id('fix'));
select from drive(pg_temp.id('tests'));

select alike(pg_temp.newest('tests'), '%Your team:\\n- [Lead/lead] Make money exact (your parent, running)\\n%', 'the first request names the parent, and that it is at work');
select alike(pg_temp.newest('tests'), '%\\n- [Coder/code] Fix toCents (running)\\n%', 'a sibling that began before');
select alike(pg_temp.newest('tests'), '%\\n- [code] Write the docs (queued: ready for the next free worker)\\n%', 'and one that did not begin, with what it waits for');
select alike(pg_temp.newest('tests'), '%\\n- Plan: 1. Delegate 2. Review (Lead, from its task, in progress)%', 'the plan of the parent');
select unalike(pg_temp.newest('tests'), '%Currently active%', 'the team is not told of twice');

select from answer('[["edit_file", {"path": "src/money.js"}]]', pg_temp.id('fix'));
select from run('[]', pg_temp.id('fix'));
select from ledger_append(pg_temp.id('fix'), 'decision', 'toCents is called fromFloat now', p_lease => lease(pg_temp.id('fix')));
select from ledger_append(pg_temp.id('fix'), 'decision', 'toCents is called fromFloat32', p_lease => lease(pg_temp.id('fix')));
select from ledger_retract(pg_temp.id('fix'), 2, 'Not so');
select count(ledger_append(pg_temp.id('fix'), 'finding', format('Finding %s', n), p_lease => lease(pg_temp.id('fix')))) from generate_series(1, 5) n;
select from ledger_append(pg_temp.id('tests'), 'decision', 'Tests are by table', p_lease => lease(pg_temp.id('tests')));
select from ledger_append(pg_temp.id('tests'), 'decision', 'Tests are by property', p_lease => lease(pg_temp.id('tests')));
select from ledger_append(pg_temp.id('fix'), 'error', 'The test has no export toCents any more', p_lease => lease(pg_temp.id('fix')));
select play('[[["note", "I begin"]]]', pg_temp.id('tests'));
select from drive(pg_temp.id('tests'));
select alike(pg_temp.news('tests'), '%- Decision: toCents is called fromFloat now (Coder, in progress)%', 'a sibling''s decision is news in the next request');
select alike(pg_temp.news('tests'), '%- Error: The test has no export toCents any more (Coder, in progress)%', 'and so is its error');
select unalike(pg_temp.news('tests'), '%Fix toCents%', 'who was told of is not told of again');
select is((select array_agg(m[1] order by m[1]) from regexp_matches(pg_temp.news('tests'), '- Finding: (Finding \d)', 'g') m), '{Finding 3,Finding 4,Finding 5}', 'of many findings the newest three come first');
select play('[[["note", "I go on"]]]', pg_temp.id('tests'));
select from drive(pg_temp.id('tests'));
select is((select array_agg(m[1] order by m[1]) from regexp_matches(pg_temp.news('tests'), '- Finding: (Finding \d)', 'g') m), '{Finding 1,Finding 2}', 'and the others with the next request');
select unalike(pg_temp.news('tests'), '%Decision%', 'nothing is told that was replaced before');
select from iteration_finish(pg_temp.id('fix'), lease(pg_temp.id('fix')));
select from drive(pg_temp.id('fix'));
select alike(pg_temp.news('fix'), '%- Decision: Tests are by property%', 'of two decisions at once the newer is told');
select unalike(pg_temp.news('fix'), '%by table%', 'and not the older one');
select play('[[["note", "I look"]]]', pg_temp.id('fix'));
select from drive(pg_temp.id('fix'));
select unalike(coalesce(pg_temp.news('fix'), ''), '%by table%', 'and the older one not even later');
select play('[[["note", "Nothing"]], [["note", "Still nothing"]]]', pg_temp.id('tests'));
select is(pg_temp.news('tests'), null, 'where nothing is new nothing is said');

select alike(awareness_digest(pg_temp.id('docs')), E'%- [Coder/code] Fix toCents (running)\n  Changed: src/money.js\n%', 'a digest has the files that a member changed');
select alike(awareness_digest(pg_temp.id('lead')), E'%\n- [Coder/code] Write the tests (your child, running)%', 'a lead hears of its children that are not over');
select from ledger_retract(pg_temp.id('fix'), 1, 'It is called toCents');
select unalike(awareness_digest(pg_temp.id('docs')), '%fromFloat%', 'what a member took back is not told');
select from work_complete(pg_temp.id('fix'), 'Money is exact', p_lease => lease(pg_temp.id('fix')));
select play('[[["note", "I look"]]]', pg_temp.id('tests'));
select alike(pg_temp.news('tests'), '%Fix toCents (completed, just now)\\n  Outcome: Money is exact\\n%', 'the end of a sibling is news, with its outcome');
select unalike(awareness_digest(pg_temp.id('lead')), '%Fix toCents%', 'how a child of its own ended a lead is told otherwise');
select is((select array_agg(distinct kind order by kind) from v_awareness_shown where reader_id = pg_temp.id('tests') and source_id = pg_temp.id('fix')), '{completed,decision,error,finding,retraction,"under way"}', 'v_awareness_shown has what was told');
select from work_fail(pg_temp.id('docs'), 'The docs are not here');
select alike(awareness_digest(pg_temp.id('tests')), '%Write the docs (failed, just now)%', 'a sibling that failed is told of, too');
select unalike(awareness_digest((select id from work_submit('lead', 'Something else'))), '%Your team%', 'who is alone has no team');

select * from finish();
rollback;
