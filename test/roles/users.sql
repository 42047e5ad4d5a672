-- Tools of users: one that everybody may call and that names its table without a schema, one with a path of its own, and one that is
-- granted to nobody but whoever runs it.

create table public.customers (id integer, name text);
insert into public.customers values (1, 'Ada');
create function public.find_customer(p jsonb) returns text language sql as $$ select name from customers where id = (p ->> 'id')::int $$;
create function public.price(p jsonb) returns text language sql set search_path = pg_catalog, public, pg_temp as $$ select upper('free') $$;
create function public.pay(p jsonb) returns text language sql set search_path = pg_catalog, public, pg_temp as $$ select 'paid' $$;
revoke execute on function public.pay from public;
do $do$
declare
  v_role name;
begin
  for v_role in select role from ledger_roles where kind in ('owner', 'tools') loop
    execute format('grant select on public.customers to %I; grant execute on function public.pay to %I', v_role, v_role);
  end loop;
end
$do$;
select ability_register(name, 'What it does.', '{"type": "object"}', p_function => ('public.' || name || '(jsonb)')::regprocedure)
  from unnest(array['find_customer', 'price', 'pay']) name;
