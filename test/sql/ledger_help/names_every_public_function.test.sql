-- ledger_help() names every public function, whom it serves, how it is called and what its comment says.
begin;
select plan(7);

create temporary table existing as
  select distinct proname::text as name
    from pg_proc
   where pronamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and proname !~ '^_';

select is_empty(
  $$ select name from existing except select name from _public_functions() union all (select name from _public_functions() except select name from existing) $$,
  'the list of public functions holds those that there are, and no other');
select is_empty(
  $$ select name from _public_functions() group by name having count(*) > 1 $$,
  'no function is listed twice');
select is_empty(
  $$ select call from ledger_help() where says is null or serves not in ('people', 'clients', 'workers') $$,
  'each function says what it does and whom it serves');
select is(
  (select call || ' -> ' || returns from ledger_help('WORK_CANC')),
  'work_cancel(p_work_item_id uuid, p_reason text DEFAULT NULL::text) -> SETOF work_items',
  'a part of a name finds a function, with its arguments and what it returns');
select is(
  (select array_agg(distinct serves) from ledger_help('workers')), array['workers'], 'functions for workers are found by whom they serve');
select is(
  (select count(*) from ledger_help('session_import')), 2::bigint, 'each form of a function has a row of its own');
select is(
  (select says from ledger_help('work_submit')), obj_description('work_submit'::regproc, 'pg_proc'), 'a name gives what is said of the function');

select * from finish();
rollback;
