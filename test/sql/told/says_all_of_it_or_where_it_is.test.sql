-- What people told an agent is never lost from a request: it is said whole, by head and tail, or by a handle that has all of it.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit('Fix it');
select play('[[["look"]]]');
select from work_message(item(), 'NEVER TOUCH PRODUCTION');
select from work_message(item(), 'Only April, please');
select play('[[["look"]]]');
create temporary table early as select turn() as id;
select from work_message(item(), repeat('and so on ', 300) || 'end of it');
select from work_message(item(), 'Only March, please');
select play('[[["look"]]]');
create temporary table last as select turn() as id;

select is((select count(*)::integer from generate_series(40, 6000) n where (n < 700 or n % 20 = 0) and coalesce(_told_text((select id from last), true, n), '') = ''), 0, 'however little room there is, something says what was told');
select alike(_told_text((select id from last), true, 6000), '%NEVER TOUCH PRODUCTION%Only April%end of it%Only March%', 'with room all of it is said, whole');
select alike(_told_text((select id from last), true, 1500), '%NEVER TOUCH PRODUCTION%Only April%artifact_read(%end of it%Only March%', 'with less room the long one is said by head, tail and handle');
create temporary table small as select _told_text((select id from early), true, 60) as said;
select matches(said, '^- \(1 more: artifact_read\("[0-9a-f]{16}"\) has all of it\)\n- .*\n  Only April', 'with hardly any room the newest is said, and a handle for the others') from small;
select from _told_store(item(), (select id from early), true, (select said from small));
select alike((select content from artifacts where left(content_hash, 16) = substring(said from '"([0-9a-f]{16})"')), '%NEVER TOUCH PRODUCTION%Only April%', 'the handle gives all of it') from small;

select * from finish();
rollback;
