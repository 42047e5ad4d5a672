-- A call may run before its response is stored if it leaves nothing behind, nobody is asked about it and nobody watches.
begin;
select plan(6);

select ability_register('change', 'Changes.', '{"type": "object"}', 'idempotent', 'safe'), ability_register('peek', 'Peeks.', '{"type": "object"}', 'pure', 'moderate');
create function pg_temp.early(p_engage jsonb, p_hooks jsonb default '{}') returns text language plpgsql as $$
begin
  perform faculty_save(jsonb_build_object('name', 'eager', 'accepts', '["eager"]'::jsonb, 'hooks', p_hooks,
    'engage', '{"tools": ["look", "change", "peek"]}'::jsonb || p_engage));
  perform take((work_submit('eager', 'Look')).id);
  perform drive();
  return iteration_begin(item(), lease()) ->> 'early';
end
$$;
select agent('{"tools": ["look"]}');

select is(pg_temp.early('{}')::jsonb, '{"look": "look", "peek": "peek", "ledger_append": null}', 'tools that leave nothing behind, and entries');
select is(pg_temp.early('{"require_approval": "moderate"}')::jsonb, '{"look": "look", "ledger_append": null}', 'none about which a person is asked');
select is(pg_temp.early('{}', '{"after_tool": "./see"}')::jsonb, '{"ledger_append": null}', 'none whose results a hook sees; entries are not among these');
select is(pg_temp.early('{}', '{"before_tool": "./ask"}')::jsonb, '{"ledger_append": null}', 'none about which a hook is asked');

select is(pg_temp.early('{}')::jsonb, '{"look": "look", "peek": "peek", "ledger_append": null}', 'as before');
select from ledger_watch(item(), 60);
select is(iteration_begin(item(), lease()) ->> 'early', '{}', 'none while somebody watches, who sees the response first');

select * from finish();
rollback;
