-- Behind its directory a session is told what a digest tells: of its team, of what is not over in its project, with what it waits for, of decisions, findings, errors; once.
begin;
select plan(15);

select tool('edit_file', 'unsafe', 'moderate');
select from faculty_save('{"name": "lead", "accepts": ["lead"], "engage": {"ledger_nudge_interval": 0, "tools": ["edit_file"]}}');
create temporary table session as select (journal_session_open('s', 'Mend the shop', '/home/anna/shop', 'acme/shop')).id;
create function pg_temp.here() returns text language sql as $$ select awareness_here(id, '/home/anna/shop') from session $$;
select alike(pg_temp.here(), E'%== AWARENESS ==\n\nThere is no other work in this directory or its repository.\n<%', 'where there is nothing nothing is said');

select take((work_submit('lead', 'Lead elsewhere', p_project => 'acme/shop')).id);
select drive();
create temporary table child as select (spawn_child_work(item(), 'analyze', 'A child', p_lease => lease())).id;
select answer(format('[["decision", "Cents are integers"], ["finding", "The bank rounds"], ["await_child_work", {"work_item_ids": ["%s"]}]]', (select id from child))::jsonb);
select run(), iteration_finish(item(), lease());
select matches(pg_temp.here(), E'Currently active:\n- \\[Lead/lead\\] Lead elsewhere \\(waits for 1 of its children\\)', 'who waits in another clone is told of, and for what');
select alike(pg_temp.here(), E'%\n\nRecent decisions:\n- Cents are integers (Lead/lead%', 'a decision');
select alike(pg_temp.here(), E'%\n\nRecent findings:\n- The bank rounds (Lead/lead%', 'and a finding');
select from spawn_child_work((select id from session), 'analyze', 'A part of the session');
select alike(pg_temp.here(), E'%\n\nYour team:\n- [analyze] A part of the session (your child, queued: ready for the next free worker)%', 'its own children');
select from tell_agent((select id from session), (select right(id::text, 6) from child), 'Hurry');
select alike(pg_temp.here(), E'%\n\nYour messages that nobody has read yet:\n- 1 to analyze %', 'what it said and nobody read');

-- What its directory has is not said twice.
create temporary table beside as select (journal_session_open('t', 'A colleague', '/home/anna/shop/till', 'acme/shop')).id;
select ledger_append(id, 'decision', 'The till is closed') from beside;
select is((select count(*) from regexp_matches(pg_temp.here(), 'The till is closed', 'g')), 1::bigint, 'a decision of the directory is there once');
select is((select count(*) from regexp_matches(pg_temp.here(), 'A colleague', 'g')), 1::bigint, 'and so is who made it');
select alike(pg_temp.here(), E'%its repository:\n- [session] A colleague (active)\n  decision: The till is closed\n\nYour team:%', 'in the directory, which comes first');
-- An item of the directory that waits.
select submit();
select take((work_submit('lead', 'Lead here', p_workspace_dir => '/home/anna/shop', p_project => 'acme/shop')).id), drive();
select answer(format('[["edit_file", {"path": "src/till.js"}], ["await_child_work", {"work_item_ids": ["%s"]}]]', (spawn_child_work(item(), 'analyze', 'One more', p_lease => lease())).id)::jsonb), run(), iteration_finish(item(), lease());
select alike(pg_temp.here(), E'%- [Lead/lead] Lead here (waits for 1 of its children)\n  changed: src/till.js\n%', 'of work in the directory it is said what it waits for, too, and what it changed');

select take((work_submit('lead', 'In the bank', p_project => 'acme/bank')).id);
select unalike(pg_temp.here(), '%other projects%', 'what is queued elsewhere is not said');
select play('[[["finding", "The vault is open"]]]');
select alike(pg_temp.here(), E'%\n\nWork items running in other projects: 1.\n</data-%', 'of other projects only how much is running');
select unalike(pg_temp.here(), '%vault%', 'and nothing of it');
select from faculty_save('{"name": "sessions", "accepts": ["journal"], "awareness": {"scope": "ledger"}}');
select alike(pg_temp.here(), '%The vault is open%', 'unless the whole ledger is asked for');
select count(ledger_append(id, 'decision', format('Case %s %s', n, repeat('and more ', 30)))) from child, generate_series(1, 20) n;
select ok(char_length(pg_temp.here()) < 4000, 'it stays short');

select * from finish();
rollback;
