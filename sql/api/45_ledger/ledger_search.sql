-- Full-text search over everything that was recorded or said.

create or replace function ledger_search(
    p_query text,
    p_before text default null,
    p_limit integer default 20,
    p_work_item_id uuid default null,
    p_sources text[] default null,
    p_faculty text default null,
    p_since timestamptz default null,
    p_project text default null)
  returns table (
    "position" text, source text, work_item_id uuid, entry_id uuid, seq integer, entry_type text, created_at timestamptz, rank real,
    snippet text, description text)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_query tsquery := _search_query(p_query);
  v_marks text := _search_marks(p_query);
  v_before text[] := regexp_match(p_before, '^(\d{1,9}) (\d{1,18}) ([0-9a-f-]{36}) ([a-z]+)$');
  v_projects text[] := case when p_project is not null then _awareness_projects(nullif(p_project, ''), 'project') end;
begin
  perform _check_page(p_limit, 100);
  perform _check_word('a source to search', s, _search_sources()) from unnest(p_sources) s;
  if p_before is not null and v_before is null then
    perform _raise_invalid(format('"%s" is not the position of a hit', _one_line(p_before, 60)),
      'Pass the position of the last hit of the page before, or null.');
  elsif numnode(v_query) = 0 then
    return;
  end if;
  return query
    with hit as materialized (
      select e.source::text as source, e.id, e.work_item_id, e.created_at, (ts_rank(e.words, v_query, 1) * 1000000)::integer as rank,
             (extract(epoch from e.created_at) * 1000000)::bigint as at
        from search_entries e
       where e.words @@ v_query
         and (p_work_item_id is null or e.work_item_id = p_work_item_id)
         and (p_sources is null or e.source = any (p_sources))
         and (p_since is null or e.created_at >= p_since)
         and (v_projects is null or (select coalesce(w.project, '') from work_items w where w.id = e.work_item_id) = any (v_projects))
         and (p_faculty is null or (select _faculty_of(w) from work_items w where w.id = e.work_item_id) = p_faculty)
    ),
    page as (
      select * from hit h
       where v_before is null
          or (h.rank, h.at, h.id::text, h.source) < (v_before[1]::integer, v_before[2]::bigint, v_before[3], v_before[4])
       order by h.rank desc, h.at desc, h.id::text desc, h.source desc
       limit p_limit
    )
    select concat_ws(' ', p.rank, p.at, p.id, p.source), p.source, p.work_item_id, p.id, l.seq,
           coalesce(l.entry_type::text, j.entry_type), p.created_at, (p.rank / 1000000.0)::real,
           _search_snippet(case p.source
             when 'ledger' then l.content
             when 'journal' then (select string_agg(v #>> '{}', ' · ') from jsonb_path_query(j.content, 'strict $.** ? (@.type() == "string")') v)
             when 'message' then i.content
             when 'work' then w.description
             else coalesce(w.outcome_data ->> 'summary', w.outcome_data ->> 'error') end, v_marks),
           _one_line(left(w.description, 1000), 200)
      from page p
      join work_items w on w.id = p.work_item_id
      left join lateral (
        select * from work_ledger l
         where p.source = 'ledger' and l.work_item_id = p.work_item_id and l.created_at = p.created_at and l.id = p.id) l on true
      left join journal_entries j on p.source = 'journal' and j.id = p.id
      left join inbox i on p.source = 'message' and i.id = p.id
     order by p.rank desc, p.at desc, p.id::text desc, p.source desc;
end
$$;

comment on function ledger_search(text, text, integer, uuid, text[], text, timestamptz, text) is
  'Searches all ledgers, entries logged with journal_log(), messages from people and other agents, and descriptions and outcomes of work: select * from ledger_search(''index slow''). Best hits first (ties: newest first), p_limit of them (1 to 100); then ledger_search(''index slow'', p_before => the last row''s position). p_query: words that must all occur, or "as a phrase", this or that, -without. A word also matches longer words that begin with it, and src/a.ts, contextReplay or context_replay match their parts in this order. No query is an error; one that cannot be searched finds nothing. p_work_item_id, p_sources: search only there. p_faculty: only work items that it works on, would work on next, or worked on last. p_since: only what was written from then on. p_project: only work in that project, or in none ('''': only in none). source: ledger, journal, message (from a person or another agent), work (a description), outcome. entry_id: the row. seq: for ledger entries. entry_type: for ledger and journal. snippet: one line of at most about 300 characters; matches are enclosed in the characters U+0002 and U+0003, which occur nowhere else in it (ledger_search_lines() has none of them). description: the work item''s, on one line. Raises WL002.';

create or replace function ledger_search_lines(p_query text, p_before text default null, p_project text default null, p_max_tokens integer default 1500)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  -- Minus a line for the position, however long the results are.
  v_chars bigint := greatest(_count('p_max_tokens', p_max_tokens::text), 100)::bigint * 1000000 / _tokens(1000000, 'claude') - 120;
  v_said text;
begin
  select string_agg(f.line, E'\n' order by f.n) filter (where f.is_shown)
           || case when bool_or(not f.is_shown) or count(*) = 20 then
                E'\nMore: before "' || (array_agg(f."position" order by f.n desc) filter (where f.is_shown))[1] || '"' else '' end
    into v_said
    from (select l.*, l.n = 1 or sum(char_length(l.line) + 1) over (order by l.n) <= v_chars as is_shown
            from (select h."position", h.ordinality as n,
                         format('- %s of %s, %s: %s', case h.source when 'work' then 'task' else coalesce(h.entry_type, h.source) end, _agent_name(w),
                                _ago(h.created_at, _now()), translate(h.snippet, E'\x02\x03', '')) as line
                    from ledger_search(p_query, p_before, 20, p_project => p_project) with ordinality h
                    join work_items w on w.id = h.work_item_id) l) f;
  return coalesce(v_said, 'Nothing was found.');
end
$$;

comment on function ledger_search_lines(text, text, text, integer) is
  'The hits of ledger_search() as text of at most p_max_tokens, one line per hit and no control characters: select ledger_search_lines(''index slow''). If there may be more, the last line is More: before "…". Then call ledger_search_lines(''index slow'', ''…''). p_project: as in ledger_search(). Raises WL002.';

create or replace function ledger_search_newest(p_query text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with q as materialized (select _search_query(p_query) as words)
  select concat_ws('/',
           (select s.id from (select * from search_entries order by id desc limit 500) s, q where s.words @@ q.words order by s.id desc limit 1),
           (select w.id
              from (select id, resolved_at from work_items where state = 'completed' order by resolved_at desc limit 50) w
              join search_entries s on s.id = w.id and s.source = 'outcome', q
             where s.words @@ q.words
             order by w.resolved_at desc
             limit 1));
$$;

comment on function ledger_search_newest(text) is
  'For programs that display the hits of ledger_search(p_query): returns a different text once something new that matches is written. It looks only at the newest 500 things written and the newest 50 outcomes, so a call costs next to nothing.';

create or replace function _search_query(p_query text)
  returns tsquery
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  -- One word to people may be several here; these become a phrase.
  v_words text := (
    select string_agg(case
             when m[2] is not null then m[1] || '"' || _search_text(m[2]) || '"'
             when _search_text(m[3]) ~ '\S \S' then m[1] || '"' || _search_text(m[3]) || '"'
             else m[1] || _search_text(m[3]) end, ' ')
      from regexp_matches(left(p_query, 1000), '(-?)(?:"([^"]*)"|([^\s"]+))', 'g') m);
begin
  -- Words of three or more characters match as prefixes; shorter prefixes would match half of everything.
  return regexp_replace(websearch_to_tsquery('simple', v_words)::text, '''([[:alnum:]]{3,})''', '''\1'':*', 'g')::tsquery;
end
$$;

comment on function _search_query(text) is 'What a person typed as a query over words; empty: there is nothing in it to search.';

create or replace function _search_marks(p_query text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select '\m(?:' || string_agg(replace(btrim(_search_text(m[1])), ' ', '[^[:alnum:]]*'), '|' order by char_length(m[1]) desc) || ')[[:alnum:]]*'
    from regexp_matches(left(p_query, 1000), '(?<![^\s])("[^"]+"|[^\s"-][^\s"]*)', 'g') m
   where _search_text(m[1]) ~ '[[:alnum:]]' and lower(m[1]) <> 'or';
$$;

comment on function _search_marks(text) is 'A regular expression for what a query finds in a text, to be shown; null: nothing.';

create or replace function _search_snippet(p_text text, p_marks text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select regexp_replace(
           case when f.at > 80 then '…' else '' end || _one_line(substr(s.text, greatest(f.at - 80, 1), 300), 300)
             || case when char_length(s.text) > greatest(f.at - 80, 1) + 299 then '…' else '' end,
           coalesce(p_marks, '$^'), E'\x02\\&\x03', 'gi')
    from (select translate(p_text, E'\x02\x03', '')) as s(text)
    cross join lateral (select greatest(regexp_instr(s.text, coalesce(p_marks, '$^'), 1, 1, 0, 'i'), 1)) as f(at);
$$;

comment on function _search_snippet(text, text) is 'The part of a text around the first match of p_marks, on one line, with each match between U+0002 and U+0003.';

create or replace function _search_words(p_text text)
  returns tsvector
  language sql
  immutable
  parallel safe
  return to_tsvector('simple', _search_text(p_text));

comment on function _search_words(text) is 'search_entries.words of a text.';

create or replace function _search_add(p_source text, p_id uuid, p_work_item_id uuid, p_text text, p_at timestamptz)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set client_min_messages = warning -- a word over 2 kB is left out, and its author needs no notice about it
as $$
  insert into search_entries (source, id, work_item_id, words, created_at)
  select p_source, p_id, p_work_item_id, _search_words(left(p_text, 65536)), p_at
   where p_text ~ '\S' and p_text <> '[erased]' -- erased work in a dump
  on conflict do nothing;
$$;

comment on function _search_add(text, uuid, uuid, text, timestamptz) is 'Adds a text to what ledger_search() finds.';

create or replace function _search_entry()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  case tg_argv[0]
    when 'message' then perform _search_add('message', new.id, new.work_item_id, new.content, new.created_at);
    when 'work', 'outcome' then
      -- A restored item already has its outcome.
      perform _search_add('work', new.id, new.id, new.description, new.created_at) where tg_argv[0] = 'work';
      perform _search_add('outcome', new.id, new.id, coalesce(new.outcome_data ->> 'summary', new.outcome_data ->> 'error'), new.resolved_at);
    when 'journal' then
      perform _search_add('journal', new.id, new.work_item_id, (
        select string_agg(v #>> '{}', ' ') from jsonb_path_query(new.content, 'strict $.** ? (@.type() == "string")') v), new.created_at);
    when 'deleted' then delete from search_entries where id = new.id and source = 'journal';
  end case;
  return null;
end
$$;

comment on function _search_entry() is 'Trigger: adds what was recorded to search_entries, under the source that is its argument; deleted: takes it out.';

create or replace trigger search_journal after insert on journal_entries for each row execute function _search_entry('journal');
create or replace trigger search_deleted after update of deleted_at on journal_entries
  for each row when (new.deleted_at is not null) execute function _search_entry('deleted');
create or replace trigger search_message after insert on inbox for each row when (new.kind <> 'child_result') execute function _search_entry('message');
create or replace trigger search_work after insert on work_items for each row execute function _search_entry('work');
create or replace trigger search_outcome after update of state on work_items
  for each row when (new.resolved_at is not null and old.resolved_at is null) execute function _search_entry('outcome');
