-- Work that is not over is active, and a digest says what it waits for; decisions are told, the newest of each item.
begin;
select plan(9);

select from faculty_save('{"name": "lead", "accepts": ["lead"], "engage": {"ledger_nudge_interval": 0}}');
select from faculty_save('{"name": "me", "accepts": ["me"], "awareness": {"max_recent_decisions": 2, "max_running": 3}}');
create temporary table me as select id from work_submit('me', 'Look around');
create function pg_temp.digest() returns text language sql as $$ select awareness_digest(id) from me $$;
select submit('Lead the team', 'lead');
select from play('[[["plan", "1. Wait"]], [["spawn_child_work", {"work_type": "lead", "description": "A part"}]]]');
select from drive();
select from answer(format('[["await_child_work", {"work_item_ids": ["%s"]}]]', (select c.id from work_items c where c.parent_id = item()))::jsonb);
select from run();
select from iteration_finish(item(), lease());
select is((select state from item), 'waiting', 'the lead waits for its child');
select alike(pg_temp.digest(), E'%Currently active:\n- [Lead/lead] Lead the team (waits for 1 of its children)\n  Plan: 1. Wait%', 'a lead that waits is active, and why it waits is said');
create temporary table other as select id from work_submit('lead', 'Stop me');
select from drive((select id from other));
select from work_pause((select id from other), 'lunch');
select from iteration_release((select id from other), lease((select id from other)));
select alike(pg_temp.digest(), E'%- [Lead/lead] Stop me (paused: lunch)', 'a paused item is active, and why it pauses is said');
select matches(pg_temp.digest(), E'Lead the team .*Stop me ', 'what pauses comes last');
set local work_ledger.now = '2035-01-01 12:00:00+00';
select unalike(pg_temp.digest(), '%Stop me%', 'an item that was paused long ago is not active');
select alike(pg_temp.digest(), '%Lead the team%', 'one that waits is, however long it does');
reset work_ledger.now;

create temporary table two as select id from work_submit('lead', 'two');
select from ledger_append((select id from two), 'decision', 'First of two');
select from ledger_append((select id from two), 'decision', 'Second of two');
select alike(pg_temp.digest(), '%Recent decisions:%- Second of two (lead, just now)%', 'decisions are told');
select unalike(pg_temp.digest(), '%First of two%', 'of the decisions of an item the newest is');
select from ledger_retract((select id from two), 2, 'Not so');
select alike(pg_temp.digest(), '%- First of two (lead, just now)%', 'a decision that was taken back is none');

select * from finish();
rollback;
