-- work_ledger_check() reports each invariant of items, attempts and ledgers that the owner breaks by hand, and of which item.
begin;
select plan(13);

-- What it finds after a statement, which is then undone; triggers are off, as only the owner can have it.
create function pg_temp.after(p_sql text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    set constraints all immediate;
    execute (select string_agg(format('alter table %I disable trigger all', t), '; ') from unnest('{work_items,fences,foci,work_ledger,budgets,sessions}'::text[]) t);
    execute p_sql;
    select string_agg(format('%s of %s: %s', c.invariant, case c.work_item_id when item() then 'it' else 'another' end, c.says), '; ') into v_found from work_ledger_check() c;
    raise exception using errcode = 'ZZ000';
  exception when sqlstate 'ZZ000' then
    return v_found;
  end;
end
$$;

select agent();
select submit('Build it');
select budget_set(item(), 'calls', 10);
select from work_submit('analyze', 'A part', p_parent_id => item());
select play('[[["finding", "It is TOML"], ["note", "And small"]]]');
select drive();

select is_empty('select * from work_ledger_check()', 'a healthy ledger: nothing');
select is(pg_temp.after($$update work_items set depth = 3 where parent_id = item()$$), 'tree of another: its root or depth does not match its parent', 'tree');
select is(pg_temp.after($$delete from fences where work_item_id = item()$$), 'fence of it: it has no fence: nobody can write for it', 'a fence that is gone');
select is(pg_temp.after($$update fences set is_over = true where work_item_id = item()$$), 'fence of it: its fence and its row disagree', 'a fence that does not follow');
select is(pg_temp.after($$update work_items set state = 'paused', slot_faculty = 'worker' where id = item(); update foci set lease_owner = null, lease_expires_at = null; update fences set lease_hash = null$$),
  'slot of it: it is paused, but holds a slot of faculty "worker"', 'slot');
select is(pg_temp.after($$update fences set ledger_count = 3 where work_item_id = item()$$), 'counter of it: its ledger ends with entry 2, but its counter says 3', 'counter');
select is(pg_temp.after($$delete from work_ledger where seq = 1$$), 'entry of it: its ledger has 1 entries numbered 2 to 2', 'a gap in the ledger');
select is(pg_temp.after($$update work_ledger set turn_id = gen_random_uuid() where seq = 1$$), 'entry of it: entry 1 was recorded in a turn, an attempt or a call that does not exist', 'an entry of nothing');
select is(pg_temp.after($$update work_ledger set retracts = 2 where seq = 2$$), 'entry of it: entry 2 retracts 2, which does not exist', 'a retraction of nothing');
select is(pg_temp.after($$update budgets set reserved = 5 where work_item_id = item()$$), 'budget of it: its budget reserves 5 calls for requests, but the running ones need 1', 'budget');
select is(pg_temp.after($$update foci set outcome = 'crashed', ended_at = now(); update turns set status = 'failed', completed_at = now() where status = 'pending'; update budgets set reserved = 0$$), 'attempt of it: its attempt 1 ended (crashed), but it is still running', 'attempt');
select is(pg_temp.after($$update fences set lease_hash = null where work_item_id = item()$$), 'lease of it: its attempt has a lease, but no worker drives it', 'lease');
select is(pg_temp.after($$update sessions set head_turn_id = turn() where label = item()::text$$), format('session of it: the head of session %s is not where it moved last', item()), 'session');

select * from finish();
rollback;
