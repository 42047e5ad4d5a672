-- An artifact cannot go, nor what says that an item uses it, before the item is erased.
begin;
select plan(8);

select agent('{"tools": ["look"]}');
select submit();
select drive();
select answer('[["look"]]');
select from tool_call_begin(item(), lease(), call('t1_1'));
select from tool_call_settle(item(), lease(), call('t1_1'), 'Too long', p_whole => repeat('line', 30000));
select is_empty($$ select * from ledger_verify(item()) $$, 'as it was stored, nothing is found');
select is(found('artifact_uses', $$ delete from artifact_uses $$), (select format('artifact %s is gone, but a call of the item names it', left(content_hash, 16)) from artifacts), 'while it is worked on, by the call that names it');
set constraints all deferred;
select from iteration_finish(item(), lease());
select play('[["done"]]');
select is_empty($$ select * from ledger_verify(item()) $$, 'nor when the item is over');
create temporary table sealed as select 'item is not as it was sealed, or the ledger is not as it was then' as text;
select is(found('artifact_uses', $$ delete from artifact_uses $$) ~ (select text from sealed), true, 'then by the seal, too');
select is(found('artifact_uses', $$ insert into artifacts (content_hash, content) values (_content_hash('Forged'), 'Forged'); insert into artifact_uses values (_content_hash('Forged'), item()) $$),
  (select text from sealed), 'so is one that is put in');
select is(found('artifacts', $$ update artifacts set media_type = 'image/png' $$), (select text from sealed), 'and what it is');
set constraints all deferred;
select from work_erase(item());
select is((select count(*)::integer from artifacts), 0, 'with the words of an item they go');
select is_empty($$ select * from ledger_verify() $$, 'and its seals stay valid');

select * from finish();
rollback;
