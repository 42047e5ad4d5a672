-- Indexes by which the tree of turns is drawn: the turns around a depth, and the work that was forked from a turn.

create index turns_depth on turns (work_item_id, depth);
create index work_items_fork on work_items (fork_turn_id) where fork_turn_id is not null;
create index work_ledger_turn_errors on work_ledger (turn_id) where entry_type = 'error';
