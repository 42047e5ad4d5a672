-- An entry that was taken back stays in the log and is gone from what agents read.
begin;
select plan(19);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('First');
select play('[[["finding", "The moon is cheese"], ["plan", "Fly there"]], [["step", "Looked at it"]], ["done"]]');
create temporary table first as select item() as id;
select alike(awareness_digest(), '%moon is cheese%', 'it is told');
select throws_ok($$ select ledger_retract(item(), 7, 'no') $$, 'WL001', null, 'only an entry that is there');
select throws_ok($$ select ledger_retract(item(), 1, ' ') $$, 'WL002', null, 'only with a reason');

select is((select (seq, entry_type, content, retracts)::text from ledger_retract(item(), 1, 'It is rock')), '(4,retraction,"It is rock",1)', 'of work that is over, too');
select is((select seq from ledger_retract(item(), 1, 'again')), 4, 'once');
select throws_ok($$ select ledger_retract(item(), 4, 'no') $$, 'WL002', null, 'a retraction is not taken back');
select is((select array_agg(entry_type::text order by seq) from ledger_read(item())), '{finding,plan,step,retraction}', 'the log has both');
select is((select retracted_by from v_ledger where work_item_id = item() and seq = 1), 4, 'with its mark');
select throws_ok($$ update work_ledger set content = 'x' where seq = 1 $$, 'WL007', null, 'nothing was changed');

select unalike(awareness_digest(), '%cheese%', 'digests no longer tell it');
select unalike(ledger_read_formatted(item()), '%cheese%', 'nor does the ledger that models are given');
select alike(ledger_read_lines(item()), '%[1] finding: (taken back: It is rock)%[3] step: Looked at it%', 'a model that reads it sees that it was taken back');
select unalike(ledger_read_lines(item()), '%cheese%', 'and no longer what');
select is_empty($$ select * from ledger_search('cheese') $$, 'search no longer finds it');
select unalike(resumption_context(item(), 2000)::text, '%cheese%', 'nor does who continues');

select ledger_retract(item(), 2, 'Too far');
select unalike(ledger_read_formatted(item()), '%PLAN%', 'a plan that was taken back is none');
select throws_ok($$ select ledger_append(item(), 'retraction', 'x') $$, 'WL002', null, 'nobody appends one by hand');

-- A stub made later has no word of it either.
select submit('Second');
select play('[[["finding", "The sea is soup"], ["look", "it"]]]');
select ledger_retract(item(), 1, 'It is water');
select play('[[["step", "Tasted it"]], [["look"]]]');
select alike((select body from work_test.request order by n desc limit 1)::text, '%completed step 1: Tasted it%', 'its block has left the context');
select unalike((select stubs from elisions where work_item_id = item() order by created_at desc limit 1)::text, '%soup%', 'and its stub does not say it');

select * from finish();
rollback;
