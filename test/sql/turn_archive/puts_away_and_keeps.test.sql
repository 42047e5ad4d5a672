-- A turn is put away and taken out again; nothing else of it changes.
begin;
select plan(8);

insert into turns (id, status, completed_at, input_tokens) values ('00000000-0000-0000-0000-000000000001', 'completed', now(), 5);
insert into turns (id) values ('00000000-0000-0000-0000-000000000002');
select isnt((turn_archive('00000000-0000-0000-0000-000000000001')).archived_at, null, 'a turn is put away');
select is((turn_archive('00000000-0000-0000-0000-000000000001')).archived_at, (select archived_at from turns where input_tokens = 5), 'a turn is put away once');
select is((turn_archive('00000000-0000-0000-0000-000000000001', false)).archived_at, null, 'a turn is taken out again');
select throws_ok($$ update turns set archived_at = now(), input_tokens = 6 where input_tokens = 5 $$, 'WL007', null, 'nothing else of a turn changes with it');
select throws_ok($$ select turn_archive('00000000-0000-0000-0000-000000000002') $$, 'WL008', null, 'a turn that is being asked is not put away');
select throws_ok($$ select turn_archive(gen_random_uuid()) $$, 'WL001', null, 'a turn that is not there is not put away');

-- Every compaction turn that is over has its details, on insert as well.
set constraints all deferred;
insert into turns (turn_type, status, completed_at) values ('compaction', 'completed', now());
select throws_ok('set constraints all immediate', 'WL007', null, 'a compaction without details is refused');
select is((select count(*) from turns where turn_type = 'compaction'), 1::bigint, 'a compaction without details is refused at the end of its transaction, not before');

select * from finish();
rollback;
