-- The digest has the sections and the lines of the design document.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "social", "accepts": ["engage"]}');
select from faculty_save('{"name": "computer-use", "accepts": ["analyze"]}');
create temporary table social as select id from work_submit('engage', 'Checking in with Kelly');
create temporary table computer as select id from work_submit('analyze', 'Reviewing PR #47 on animus-rs');
select drive(id) from social union all select drive(id) from computer;
select from social, ledger_append(id, 'plan', 'Ask about weekend, share project update', p_lease => lease(id));
select from computer, ledger_append(id, 'finding', E'PR #47 introduces breaking change\nto memory API', p_lease => lease(id));
set local work_ledger.now = '2026-11-20 10:00:00+00';
create temporary table done as select id from work_submit('propose', 'Proposed collaborative writing project with Kelly', p_faculty => 'initiative');
select from ledger_append((select id from done), 'finding', 'Kelly mentioned interest in Rust');
select from work_complete((select id from done), 'Kelly expressed interest, suggested starting next week');
set local work_ledger.now = '2026-11-20 12:00:00+00';
select is(awareness_digest(), $$== AWARENESS ==

Currently active:
- [Computer Use/analyze] Reviewing PR #47 on animus-rs
- [Social/engage] Checking in with Kelly
  Plan: Ask about weekend, share project update

Recently completed:
- [Initiative/propose] Proposed collaborative writing project with Kelly (2h ago)
  Outcome: Kelly expressed interest, suggested starting next week

Recent findings:
- PR #47 introduces breaking change to memory API (Computer Use, in progress)
- Kelly mentioned interest in Rust (Initiative/propose, 2h ago)$$, 'the digest has three sections and a line for each entry');
select unalike(awareness_digest((select id from computer)), '%PR #47%', 'nobody is told what he does himself');
set local work_ledger.now = '2026-11-22 12:00:00+00';
select unalike(awareness_digest((select id from social)), '%Initiative%', 'what lies further back than the lookback is left out');

select * from finish();
rollback;
