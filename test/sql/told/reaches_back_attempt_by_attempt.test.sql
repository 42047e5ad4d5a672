-- A third attempt is told what people said in the second, and in the first.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select work_message(item(), 'Only April');
select play('[[["look", "first"]]]');
select give_up(), later('1 hour');
select play('[[["look", "second"]]]');
select work_message(item(), 'Only the tests');
select play('[[["look"], ["step", "Looked"]]]');
select give_up(), later('1 hour');
select drive();
select alike(told(4), '%# Attempt 3%What you were told in them:%Only April%', 'the third attempt is told what was said in the first');
select alike(told(4), '%What you were told in them:%Only the tests%', 'and in the second');
select alike(recall_block(item(), 2), '%second%', 'and recalls the blocks of the second');

select * from finish();
rollback;
