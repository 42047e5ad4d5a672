-- The shell command that a call runs, under the keys that different harnesses use in their inputs.

create or replace function _command_of(p_input json)
  returns text
  language sql
  immutable
  parallel safe
  return (select case json_typeof(c.command) when 'string' then c.command #>> '{}' when 'array' then c.command ->> -1 end
            from (select case when p_input ->> 'command' is not null then p_input -> 'command' else p_input -> 'cmd' end as command) c);

comment on function _command_of(json) is 'The command in a call''s input: its command or cmd, the last element of a list like ["bash", "-lc", "make"]; null: it has none.';

create or replace function _is_command(p_input json)
  returns boolean
  language sql
  immutable
  parallel safe
  return (coalesce(json_typeof(p_input), 'null') <> 'object' or _command_of(p_input) is not null) and p_input ->> 'path' is null;

comment on function _is_command(json) is 'Whether a call runs a shell command: what it prints may be anything.';
