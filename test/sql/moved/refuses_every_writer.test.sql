-- The side of a move that may not be written refuses whoever writes, in one sentence, whatever they set; reading goes on.
begin;
select plan(11);

select submit('Move it');
create function pg_temp.fence(p_direction text) returns void language plpgsql as $$
declare
  v_table text;
begin
  for v_table in select relname from pg_class where relnamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and relkind = 'r' loop
    execute format('create or replace trigger refuse_moved before insert or update or delete or truncate on %I for each statement
      execute function _refuse_moved(%L, ''work_ledger_move_1'', ''db2.example:5432/app'')', v_table, p_direction);
    execute format('alter table %I enable always trigger refuse_moved', v_table);
  end loop;
end $$;
create function pg_temp.writable() returns setof text language plpgsql as $$
declare
  v_table text;
begin
  for v_table in select relname from pg_class where relnamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and relkind = 'r' loop
    begin
      execute format('insert into %I default values', v_table);
      return next v_table;
    exception when sqlstate 'WL011' then null;
              when others then return next v_table;
    end;
  end loop;
end $$;

select is_empty($$ select * from _moved() $$, 'a ledger is written');
select pg_temp.fence('to');
select throws_ok($$ select ledger_append(item(), 'note', 'Late') $$, 'WL011', 'this ledger has moved to db2.example:5432/app: nothing more can be written here', 'until it was moved');
select is_empty($$ select pg_temp.writable() $$, 'no table can be written');
set local session_replication_role = replica;
select is_empty($$ select pg_temp.writable() $$, 'not by who says to be a replica, either');
reset session_replication_role;
select results_eq($$ select * from _moved() $$, $$ values ('to', 'work_ledger_move_1', 'db2.example:5432/app') $$, 'it says where it is');
select is((select description from work_items where id = item()), 'Move it', 'it can be read');
select is_empty($$ select * from ledger_verify() $$, 'and its triggers are no change of its code');
select is((select says from work_ledger_doctor() where code = 'move'), 'this ledger has moved to db2.example:5432/app: nothing more can be written here', 'the doctor says it');

select pg_temp.fence('from');
select throws_ok($$ select ledger_append(item(), 'note', 'Early') $$, 'WL011',
  'this ledger is being moved here from db2.example:5432/app: nothing can be written here until the move is complete', 'the other side, until all has come');
set local session_replication_role = replica;
select is_empty($$ select pg_temp.writable() $$, 'where a setting makes nobody a replica');
reset session_replication_role;
select is((select severity || ': ' || says from work_ledger_doctor() where code = 'move'), 'error: this ledger is being moved here from db2.example:5432/app', 'and the doctor says it');

select * from finish();
rollback;
