-- Indexes by which the tree of turns is drawn: the turns around a depth, and what went wrong there.

create index turns_depth on turns (work_item_id, depth);
create index work_ledger_turn_errors on work_ledger (turn_id) where entry_type = 'error';
