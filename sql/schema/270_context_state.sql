-- The type that functions of the context pass to each other: whose request is next, its settings, and what it shows.

create type context_state as (
  item work_items,
  focus foci,
  engage jsonb,
  head turns,
  cuts elisions[],
  shown turns[]
);

comment on type context_state is 'The next request of a focus, before a compaction: the item and its focus; engage: the [engage] part of its faculty; head: the newest turn that is not a compaction; cuts: those that apply, oldest first; shown: the turns that they show, oldest first, see _shown_turns().';
