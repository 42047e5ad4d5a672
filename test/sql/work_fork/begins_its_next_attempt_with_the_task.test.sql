-- The next attempt of a fork begins with its task, what it was told and the digest, as any attempt does: not again on the branch.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}');
select submit('Move the tables');
select play('[[["look"]]]');
select take(work_fork(turn(), 'Only in April'));
select play('[[["look"]]]');
select alike(told(2), '%You are on a branch%', 'the first attempt of a fork goes on where it was forked');
select give_up(), later('1 hour');
select drive();
select unalike(told(3), '%You are on a branch%', 'the next one does not');
select alike(told(3), '# Work item%Move the tables%# Attempt 2%Only in April%', 'it has the task, and what its agent was told');
select alike(told(3), '%== AWARENESS ==%', 'and the digest');

select * from finish();
rollback;
