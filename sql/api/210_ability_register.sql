create or replace function ability_register(
    p_name text,
    p_description text,
    p_input_schema json,
    p_effect text default 'unsafe',
    p_risk text default 'moderate',
    p_function regprocedure default null,
    p_output_schema json default null)
  returns abilities
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_function text;
  v_ability abilities;
begin
  if p_name is null or p_name !~ '^[a-zA-Z0-9_:-]{1,128}$' then
    perform _raise_invalid(format('"%s" is not a name for an ability', p_name), 'Letters, digits, _ - and :, at most 128.');
  end if;
  if coalesce(p_description, '') !~ '\S' then
    perform _raise_invalid(format('ability "%s" needs a description: it is what the model reads', p_name));
  end if;
  if p_input_schema is null or p_input_schema ->> 'type' is distinct from 'object' then
    perform _raise_invalid(format('the input schema of ability "%s" must be a JSON Schema of type object', p_name));
  end if;
  if p_effect is null or p_effect not in ('pure', 'idempotent', 'unsafe') then
    perform _raise_invalid(format('"%s" is not an effect', p_effect), 'One of: pure, idempotent, unsafe.');
  end if;
  if p_risk is null or p_risk not in ('safe', 'moderate', 'dangerous') then
    perform _raise_invalid(format('"%s" is not a risk', p_risk), 'One of: safe, moderate, dangerous.');
  end if;
  if exists (select from abilities where name = p_name and is_builtin) then
    perform _raise_invalid(format('ability "%s" belongs to Work Ledger', p_name), 'Choose another name.');
  end if;
  if p_function is not null then
    select format('%I.%I', n.nspname, p.proname)
      into v_function
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
     where p.oid = p_function and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype and not p.proretset;
    if not found then
      perform _raise_invalid(format('%s cannot implement an ability', p_function),
        'It must take one jsonb argument (the input) and return one value.');
    end if;
  end if;
  insert into abilities (name, description, input_schema, output_schema, effect, risk, implementation, function_name)
  values (p_name, p_description, p_input_schema, p_output_schema, p_effect, p_risk,
          case when v_function is null then 'runtime' else 'sql' end, v_function)
  on conflict (name) do update
     set description = excluded.description,
         input_schema = excluded.input_schema,
         output_schema = excluded.output_schema,
         effect = excluded.effect,
         risk = excluded.risk,
         implementation = excluded.implementation,
         function_name = excluded.function_name,
         updated_at = _now()
   where (abilities.description, abilities.input_schema::text, abilities.output_schema::text, abilities.effect,
          abilities.risk, abilities.implementation, abilities.function_name)
     is distinct from (excluded.description, excluded.input_schema::text, excluded.output_schema::text, excluded.effect,
          excluded.risk, excluded.implementation, excluded.function_name)
  returning * into v_ability;
  if not found then
    select * into v_ability from abilities where name = p_name;
  end if;
  return v_ability;
end
$$;

comment on function ability_register(text, text, json, text, text, regprocedure, json) is
  'Adds a tool to the registry or changes it; a faculty offers it by naming it in engage.tools. p_effect says what a crash does to a call: pure and idempotent calls run again, an unsafe one is reported to the model as uncertain. p_function f(input jsonb) returns text, json or jsonb runs in the transaction that stores its result, with work_ledger.work_item_id set, and may call ledger_append() for that item; without a function the worker must bring the tool (TypeScript). Registering the same again changes nothing. Raises WL002.';
