-- Linters' findings about files and code in messages.

create or replace function message_lints_save(p_message_id uuid, p_lints jsonb)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer;
begin
  if p_message_id is null then
    perform _raise_not_found('message', p_message_id);
  end if;
  if jsonb_typeof(p_lints) is distinct from 'array' then
    perform _raise_invalid('lints must be a list of {message, file_path, lint_source, start_line, start_col, end_line, end_col, severity}');
  end if;
  perform _hold_off_erasing((select t.work_item_id from messages m join turns t on t.id = m.turn_id where m.id = p_message_id));
  insert into message_lints (message_id, file_path, message, lint_source, start_line, start_col, end_line, end_col, severity)
  select p_message_id, l.file_path, l.message, l.lint_source, l.start_line, l.start_col, l.end_line, l.end_col, coalesce(l.severity, 'warning')
    from jsonb_to_recordset(p_lints) as l(
      file_path text, message text, lint_source text, start_line integer, start_col integer, end_line integer, end_col integer,
      severity text);
  get diagnostics v_count = row_count;
  return v_count;
exception
  when foreign_key_violation then
    perform _raise_not_found('message', p_message_id);
  when data_exception or integrity_constraint_violation or program_limit_exceeded then
    perform _raise_invalid(
      'lints cannot be stored: ' || sqlerrm,
      'A list of {message, file_path, lint_source, start_line, start_col, end_line, end_col, severity (error, warning, info)}.');
end
$$;

comment on function message_lints_save(uuid, jsonb) is
  'Stores linter findings for a message, as they were at its time: a list of {message, file_path, lint_source, start_line, start_col, end_line, end_col, severity (error, warning, info)}. Returns how many. Raises WL001, WL002, WL003 (erased).';
