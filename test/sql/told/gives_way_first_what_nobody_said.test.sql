-- Where not all of what an agent was told has room, people's words give way last: however old, they stay before the results of children.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit('Fix it');
select play('[[["look"]]]');
select from work_message(item(), 'stop');
select play('[[["look"]]]');
create temporary table child as select (work_submit('analyze', 'Look at part ' || n, p_parent_id => item())).id, n from generate_series(1, 3) n;
insert into inbox (work_item_id, kind, source_work_item_id, content) select item(), 'child_result', id, format('RESULT-%s %s', n, repeat('of a child ', 50)) from child order by n;
select play('[[["look"]]]');
select from work_message(item(), 'PERSON-2 ' || repeat('wants this ', 500));
select play('[[["look"]]]');

select alike(_told_text(turn(), true, 9000), '%stop%RESULT-1%RESULT-2%RESULT-3%PERSON-2%', 'with room all stay, in the order in which they were said');
select alike(_told_text(turn(), true, 6400), '- (2 more: artifact_read(%stop%RESULT-3%PERSON-2%', 'the oldest results of children leave first');
select unalike(_told_text(turn(), true, 6400), '%characters%', 'and no word of a person is shortened for them');
select alike(_told_text(turn(), true, 1300), '- (3 more: artifact_read(%stop%PERSON-2%artifact_read(%', 'with less room a long word of a person is shortened, and no result stands');
select alike(_told_text(turn(), true, 30), '- (5 more: %', 'with none there is a handle for all');

select * from finish();
rollback;
