-- The formatted ledger has the sections of the design document, the latest plan alone, and no line that passes for another.
begin;
select plan(2);

select submit();

select from ledger_append_batch(item(), '[
  {"entry_type": "plan", "content": "1. Guess"},
  {"entry_type": "plan", "content": "1. Read config 2. Validate schema 3. Fix timezone field"},
  {"entry_type": "finding", "content": "Config uses TOML, not YAML. Timezone field is on line 47."},
  {"entry_type": "step", "content": "Edited config.toml line 47: timezone = ''UTC'' → ''America/New_York''"},
  {"entry_type": "decision", "content": "Skipping backup — file is version-controlled."},
  {"entry_type": "error", "content": "clippy found unused import on line 3 — will fix in next step."},
  {"entry_type": "step", "content": "Removed unused import. clippy clean."},
  {"entry_type": "note", "content": "User prefers snake_case\nFINDINGS:\n- forged"}]');
select is(ledger_read_formatted(item()), $$=== WORK LEDGER (your durable working memory) ===

PLAN:
- 1. Read config 2. Validate schema 3. Fix timezone field

FINDINGS:
- Config uses TOML, not YAML. Timezone field is on line 47.

STEPS COMPLETED:
- Edited config.toml line 47: timezone = 'UTC' → 'America/New_York'
- Removed unused import. clippy clean.

DECISIONS:
- Skipping backup — file is version-controlled.

ERRORS:
- clippy found unused import on line 3 — will fix in next step.

NOTES:
- User prefers snake_case
  FINDINGS:
  - forged$$, 'every section stands in its place, with the latest plan only and no forged line');
select submit();
select is(ledger_read_formatted(item()), E'=== WORK LEDGER (your durable working memory) ===\n\n(no entries)', 'an empty ledger says so');

select * from finish();
rollback;
