-- A plan is items with a state: as it was recorded, and as steps left them.
begin;
select plan(19);

create function pg_temp.items(p_plan text) returns text language sql as $$
  select string_agg(format('%s %s: %s', n, state, text), ' | ' order by n) from _plan_parts(p_plan)
$$;
create function pg_temp.now() returns text language sql as $$
  select string_agg(format('%s %s [%s]', n, state, seq), ', ' order by n) from v_plan where work_item_id = item()
$$;

select is(pg_temp.items(E'First the copy.\n\n1. Make the copy\n2) [x] Read the log; then the code\n   3. [-] Ask\n- [/] Prove it'),
  '1 open: Make the copy | 2 done: Read the log; then the code | 3 dropped: Ask | 4 doing: Prove it',
  'numbered lines and check boxes are items, whatever stands around them');
select is(pg_temp.items(E'What I do:\n- read\n- write'), '1 open: read | 2 open: write', 'else what is listed');
select is(pg_temp.items('Read, then write; prove it'), '1 open: Read | 2 open: write | 3 open: prove it', 'else its parts');
select is(pg_temp.items('1. Read 2. Write'), '1 open: Read | 2 open: Write', 'numbers in one line');
select is(pg_temp.items(E'✓ read\n~~write~~\n[ ] prove'), '1 done: read | 2 dropped: write | 3 open: prove', 'other ticks');

select submit();
select is((select count(*) from v_plan where work_item_id = item()), 0::bigint, 'without a plan there is none');
select is(
  (select content from ledger_append(item(), 'plan', 'Carefully.', p_items => '[{"text": "Make the copy"}, {"text": "Read\n the log", "state": "doing"}, {"text": "Prove it", "state": null}]')),
  E'1. [ ] Make the copy\n2. [/] Read the log\n3. [ ] Prove it\n\nCarefully.', 'items become the first lines of the entry');
select is(pg_temp.now(), '1 open [1], 2 doing [1], 3 open [1]', 'and stand as they were given');
select is((select content from ledger_append(item(), 'step', 'Copied', p_done => '{1,1}', p_doing => 3)), E'Copied\nPlan: 1 done; 3 doing',
  'what a step does to them becomes its last line');
select is(pg_temp.now(), '1 done [2], 2 open [2], 3 doing [2]', 'and who begins an item has left the one before');
select from ledger_append(item(), 'step', 'Proved', p_done => '{3}');
select is(pg_temp.now(), '1 done [2], 2 open [2], 3 done [3]', 'a step that begins none leaves the others as they are');
select is((select string_agg(text, ', ') from v_plan where work_item_id = item()), 'Make the copy, Read the log, Prove it', 'texts are one line');
select is(substring(ledger_read_formatted(item()) from 'PLAN:.*Carefully\.'), E'PLAN:\n- 1. [x] Make the copy\n  2. [ ] Read the log\n  3. [x] Prove it\n  \n  Carefully.',
  'agents read the plan as it stands');
select from ledger_retract(item(), 3, 'It was not proved');
select is(pg_temp.now(), '1 done [2], 2 open [2], 3 doing [2]', 'a step that is taken back has done nothing');
select is((select string_agg(format('%s %s', n, state), ', ' order by n) from _plan_of(item(), 3)), '1 done, 2 open, 3 done', 'and still had, at the time');
select is((select array_agg(a) from unnest(_open_actions(_plan_items((_newest_plan(item())).content), '{}', '{}')) a), '{Read the log,Make the copy,Prove it}',
  'what is being done comes first');
select from ledger_append(item(), 'plan', E'1. [x] Make the copy\n2. Read the log');
select is(pg_temp.now(), '1 done [5], 2 open [5]', 'a new plan stands alone');
select from ledger_append(item(), 'step', E'Read\nPlan: 2 done');
select is(pg_temp.now(), '1 done [5], 2 done [6]', 'a step may say it in its own words');
select is(_plan_line(item()), '2 of 2 done', 'others read how far it is');

select * from finish();
rollback;
