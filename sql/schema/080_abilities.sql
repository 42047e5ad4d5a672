-- The registry of everything that can be called.

create table abilities (
  name text primary key,
  tool_name text not null generated always as (replace(name, ':', '_')) stored,
  description text not null,
  input_schema json not null,
  output_schema json,
  effect text not null,
  risk text not null,
  source text not null default 'web',
  implementation text not null,
  function_name text,
  is_builtin boolean not null default false,
  position integer not null default 1000,
  created_at timestamptz not null default _now(),
  updated_at timestamptz not null default _now(),
  search_path name[],
  constraint name_fits_providers check (name ~ '^[a-zA-Z0-9_:-]{1,128}$'),
  constraint effect_is_known check (effect in ('pure', 'idempotent', 'unsafe')),
  constraint risk_is_known check (risk in ('safe', 'moderate', 'dangerous')),
  constraint source_is_known check (source in ('none', 'own_test', 'file', 'other_agent', 'web')),
  constraint implementation_is_known check (implementation in ('engine', 'sql', 'runtime')),
  constraint sql_abilities_name_a_function check ((implementation = 'runtime') = (function_name is null)),
  constraint functions_of_users_have_a_path check ((implementation = 'sql' and not is_builtin) = (search_path is not null)),
  constraint input_schema_describes_an_object check (input_schema ->> 'type' = 'object')
);

create unique index abilities_tool_name on abilities (tool_name);

comment on table abilities is 'Everything that can be called: its schemas, what a crash does to a call (effect), how dangerous it is (risk) and what runs it (implementation). Written by ability_register().';
comment on column abilities.description is 'What it does and when to use it, as the model reads it.';
comment on column abilities.input_schema is 'JSON Schema of its arguments.';
comment on column abilities.output_schema is 'JSON Schema of its value; null: none is promised.';
comment on column abilities.effect is 'What may happen to a call whose worker died. pure or idempotent: it runs again; unsafe: it does not, and the model is told that it may have happened.';
comment on column abilities.risk is 'How dangerous a call is: safe, moderate or dangerous. A faculty''s engage.require_approval says from which on a person is asked.';
comment on column abilities.source is 'Where its results come from: own_test (what the agent itself ran), file, other_agent, web (from outside; also where nobody says); none: they tell nothing new. work_ledger.trust follows from it, and from the files and URLs that a call touches.';
comment on column abilities.position is 'Order in which those of a ledger are offered to a model.';
comment on column abilities.tool_name is 'The name by which a model calls it, in the characters that providers accept; see _tool_name().';
comment on column abilities.implementation is
  'engine: a function of this ledger, always offered. sql: a user''s SQL function, run in the transaction that stores its result. runtime: run by the worker.';
comment on column abilities.function_name is 'Schema-qualified name of the SQL function f(input jsonb).';
comment on column abilities.search_path is
  'The schemas in which a user''s SQL function finds what it names without a schema; the ledger''s follows, and the temporary one of the session comes last.';
comment on column abilities.is_builtin is 'True: comes with Work Ledger (not dumped: the extension brings it).';
