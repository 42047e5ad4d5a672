-- Work that another faculty goes on with is told as that one's, and its plan as long as it was not taken back.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Move the tables');
select play('[[["plan", "First the index"]]]');
select alike(awareness_digest(), '%[Worker/analyze] Move the tables%First the index%', 'the faculty that began it is named');
select give_up(), later('1 hour');
select faculty_save('{"name": "worker", "accepts": []}'), faculty_save('{"name": "mover", "accepts": ["analyze"]}');
select drive();
select alike(awareness_digest(), '%[Mover/analyze] Move the tables%', 'then the one that goes on with it');
select unalike(awareness_digest(), '%Worker/%', 'and no longer the first');
select ledger_retract(item(), 1, 'There is no index');
select unalike(awareness_digest(), '%First the index%', 'a plan that was taken back is not told');

select * from finish();
rollback;
