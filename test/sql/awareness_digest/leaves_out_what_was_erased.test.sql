-- Work whose words are erased is in no digest, and takes no place in one; what a policy keeps is told as before.
begin;
select plan(4);

select faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"max_recent_completed": 1, "max_recent_findings": 1, "max_recent_decisions": 1, "max_recent_errors": 1}}');
set local work_ledger.now = '2026-02-01 10:00:00+00';
select submit('Look at March'), play('[[["finding", "An index is missing"], ["decision", "Add it"], ["error", "It failed"]], ["March is done"]]');
set local work_ledger.now = '2026-02-01 11:00:00+00';
select set_config('test.gone', submit('Ask the customer')::text, true);
select play('[[["finding", "Her name"], ["decision", "Her wish"], ["error", "Her fault"]], ["Asked"]]');
select submit('Look at April');
select matches(awareness_digest(item()), 'Ask the customer.*Her wish.*Her name.*Her fault', 'the newest are told');

select from work_erase(current_setting('test.gone')::uuid);
select matches(awareness_digest(item()), '\[Worker/analyze\] Look at March .*Add it.*An index is missing.*It failed', 'once they are erased, those before them');
select doesnt_match(awareness_digest(item()), 'erased', 'and that they were is not told');

select retention_policy_save('0', p_keep => 'ledger');
select work_retention_run();
select work_retention_run();
select matches(awareness_digest(item()), '\[Worker/analyze\] Look at March .*Add it.*An index is missing.*It failed', 'a task and a ledger that stay are told');

select * from finish();
rollback;
