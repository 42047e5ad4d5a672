-- A fork's copy of the ledger keeps what was taken back taken back, what each entry was trusted with, and the step that the engine drafted later.
begin;
select plan(8);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look", "web_fetch"], "ledger_nudge_interval": 1, "elide_budget": 0, "keep_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table source as select item() as id;
select play('[[["web_fetch", {"url": "https://example.org/"}, "cheese"]], [["finding", "The moon is cheese"]]]');
select ledger_retract(item(), 1, 'It is rock');
-- Iterations without an entry, a minute each, until the engine drafts a step.
select later('1 minute'), play('[[["look", "dust"]]]') from generate_series(1, 4);
select later('1 minute'), drive();
create temporary table draft as select l.*, t.completed_at from work_ledger l join turns t on t.id = l.turn_id where l.is_auto;
select is((select created_at > completed_at from draft), true, 'the step was drafted after its turn was answered');

create temporary table fork as select id from work_fork((select turn_id from draft));
create function pg_temp.copied(p_item uuid) returns setof text language sql as $$
  select concat_ws(' ', seq, entry_type, content, retracts, trust, is_auto) from work_ledger where work_item_id = p_item and seq <= (select seq from draft) order by seq $$;
select results_eq('select pg_temp.copied((select id from fork))', 'select pg_temp.copied((select id from source))', 'every entry up to then is in the fork as it was');
select is((select count(*) from work_ledger where work_item_id = (select id from fork) and is_auto), 1::bigint, 'the drafted step came along');
select is((select array_agg(trust order by seq) from ledger_read((select id from fork)) where entry_type = 'finding'), '{web}', 'the finding from a page stays one from outside');
select unalike(ledger_read_formatted((select id from fork)), '%cheese%', 'what was taken back is not told again to the agent of the fork');
select unalike(resumption_context((select id from fork), 2000)::text, '%cheese%', 'what was taken back is not in its packet either');
select is(_is_retracted((select id from fork), 1), true, 'the entry is known as taken back');
select is_empty(
  $$ select l.seq from search_entries s join work_ledger l on l.id = s.id where l.work_item_id = (select id from fork) and l.is_inherited $$,
  'a search finds the entry of the source, not its copy');

select * from finish();
rollback;
