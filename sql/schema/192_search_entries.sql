-- The words of everything that was recorded or said, for ledger_search(): one index over all of it. Triggers fill it in the transaction that records. Words
-- are
-- not stemmed and none is left out: half of what is recorded is names of files, functions and errors, and not all of the rest is English.

-- Spaces stay as they are: replacing each would take a quarter of the time that extracting a text's words takes.
create function _search_text(p_text text) returns text
  language sql immutable parallel safe
  return regexp_replace(regexp_replace(p_text, '([[:lower:][:digit:]])([[:upper:]])', '\1 \2', 'g'), '[^[:alnum:] ]+', ' ', 'g');

create table search_entries (
  source search_source not null,
  id uuid not null,
  work_item_id uuid not null,
  words tsvector not null,
  created_at timestamptz not null,
  primary key (id, source)
);

create index search_entries_words on search_entries using gin (words);
create index search_entries_work_item on search_entries (work_item_id, created_at);

comment on function _search_text(text) is 'Text as it is searched: words apart, also those within a path, a name in camelCase or in snake_case.';
comment on table search_entries is 'What ledger_search() finds: a row for each ledger entry, entry of journal_log(), message of a person, description of a work item and outcome.';
comment on column search_entries.words is 'Its words, neither stemmed nor left out.';
comment on column search_entries.source is 'ledger: an entry of work_ledger. journal: of journal_entries. message: of inbox, what people and other agents said. work: the description of the work item. outcome: its result.';
comment on column search_entries.id is 'The row that was recorded; of work and outcome: the work item.';
