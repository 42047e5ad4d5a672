-- Indexes for drawing the tree of turns: the turns around a depth, and errors there.

create index turns_depth on turns (work_item_id, depth);
create index work_ledger_turn_errors on work_ledger (turn_id) where entry_type = 'error';
