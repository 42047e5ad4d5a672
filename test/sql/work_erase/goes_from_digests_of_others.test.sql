-- What digests of other work quote goes with it; of work under way when that is over, and nothing else of it changes.
begin;
select plan(15);

select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 1}}');
select submit('Task of the first');
select play('[[["finding", "canary finding"]], ["done"]]');
create temporary table first as select item() as id;

select submit('Task of the second');
select play('[[["look"]]]');
select alike((select body from work_test.request order by n desc limit 1)::text, '%canary finding%', 'the second is told of it');
create temporary table second as select item() as id, turn() as turn;
-- And of a file on which both work.
insert into awareness_shown (focus_id, work_item_id, seq, path, turn_id)
select t.focus_id, f.id, -2, 'src/canary.ts', t.id from first f, second s join turns t on t.id = s.turn;

select submit('Task of the third');
select work_test.take((select id from first));
select results_eq($$ select name, row_count from work_erase(item(), p_is_dry_run => true) where kind = 'quoted in' $$,
  $$ select id::text, 1::bigint from second $$, 'a dry run says who was told');
select from work_erase(item());
select alike(context_at((select turn from second))::text, '%canary finding%', 'a conversation under way stays as it is');
select is((select is_quoted from erasures), true, 'which is noted');
select is((select count(*) from awareness_shown where path <> ''), 1::bigint, 'and so does which file it was told of');

select work_test.take((select id from second));
select play('[["done"]]');
create temporary table before as select m.* from messages m join turns t on t.id = m.turn_id where t.work_item_id = item();
select from work_retention_run();
select unalike(context_at((select turn from second))::text, '%canary%', 'when it is over the quote goes');
select alike(context_at((select turn from second))::text, '%Task of the second%[engine] What other agents were doing stood here; some of it is erased.%', 'its own words stay');
select is((select (is_quoted, quote_count)::text from erasures), '(t,1)', 'a transaction that was open then may yet bring another');
select is((select count(*) from messages m join before b on b.id = m.id where m.content::text <> b.content::text), 1::bigint, 'no other message has changed');
select is((select count(*) from messages m join before b on b.id = m.id where m.erased_hash is not null), 1::bigint, 'and the one that has says so');
select is((select m.context from messages m join before b on b.id = m.id where m.erased_hash is not null) ? 'shown', false, 'it no longer names what it told');
select later('59 minutes');
select from work_retention_run();
select is((select is_quoted from erasures), true, 'for an hour it is looked for');
select later('1 minute');
select from work_retention_run();
select is((select (is_quoted, quote_count)::text from erasures), '(f,1)', 'then nothing is left to do');
select is((select count(*) from awareness_shown where path <> ''), 0::bigint, 'nor which file the two worked on');
select is_empty($$ select * from work_ledger where content ~ 'canary' $$, 'the finding is gone');

select * from finish();
rollback;
