"""A worker in Python: SQL decides what comes next, this program calls the model and the tools."""
import json, os, threading, time, urllib.error, urllib.request, uuid
import psycopg

URL = os.environ["DATABASE_URL"]
SCHEMA = os.environ.get("WORK_LEDGER_SCHEMA", "work_ledger")
API = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com") + "/v1/messages"
WORKER = f"python-{uuid.uuid4()}"
leases = {}  # of each item that this worker drives


def connect():
    return psycopg.connect(URL, autocommit=True, options=f"-c search_path={SCHEMA},public")


def ask(db, function, *args):
    row = db.execute(f"select {function}({', '.join(['%s'] * len(args))})", args).fetchone()
    return row[0]


def renew(db):
    """A worker that does not renew loses what it drives to the next one."""
    db.execute("select lease_renew(%s, %s::uuid[], %s::uuid[], 'python', 30)", (WORKER, list(leases), list(leases.values())))


def keep_renewing():
    with connect() as db:
        while True:
            renew(db)
            db.execute("select work_sweep()")  # ends the leases of workers that died
            time.sleep(10)


def model(request):
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    body = json.dumps(request | {"stream": False}).encode()
    with urllib.request.urlopen(urllib.request.Request(API, body, headers), timeout=600) as answer:
        message = json.load(answer)
    usage = message["usage"]
    counts = {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"],
              "cached_input_tokens": usage.get("cache_read_input_tokens", 0), "cache_write_tokens": usage.get("cache_creation_input_tokens", 0)}
    return {key: message.get(key) for key in ("id", "model", "content", "stop_reason")} | {"provider": "anthropic", "usage": counts}


def count_words(path):
    with open(path) as file:
        return f"{len(file.read().split())} words"


TOOLS = {"count_words": count_words}


def run(db, item, lease, call):
    if call["name"] not in TOOLS:  # the ledger's own are SQL; what they do and their result commit together
        return ask(db, "tool_call_execute", item, lease, call["id"])
    try:
        tool, given = TOOLS[call["name"]], call["input"]
        content, failed = tool(**given), False
    except Exception as error:
        content, failed = f"{type(error).__name__}: {error}", True
    ask(db, "tool_call_settle", item, lease, call["id"], content, failed)


def drive(db, item):
    begun = ask(db, "focus_begin", item, WORKER, 30)
    claim, began = begun["claim"], time.monotonic()
    if claim["kind"] != "claimed":
        return
    lease, iteration = claim["lease"], claim["iteration"]
    leases[item] = lease
    step = begun["begin"] or ask(db, "iteration_begin", item, lease)
    while step["kind"] in ("call_model", "run_tools"):
        try:
            response = json.dumps(model(step["request"])) if step["kind"] == "call_model" else None
        except OSError as error:  # tried again by the clock of the ledger
            limited = isinstance(error, urllib.error.HTTPError) and error.code == 429
            step = ask(db, "iteration_fail", item, lease, json.dumps({"class": "rate_limited" if limited else "transport", "message": str(error)}))
            break
        for call in step.get("calls", []):
            run(db, item, lease, call)
        step = ask(db, "iteration_step", item, lease, iteration, time.monotonic() - began, step["turn_id"], response, None)
        if step["kind"] == "continued" and step.get("next"):
            iteration, step = step["iteration"], step["next"]
    leases.pop(item, None)
    print(item, step["kind"], step.get("reason") or "", flush=True)


with connect() as db:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    db.execute("select ability_register('count_words', 'Counts the words of a file.', %s, 'pure', 'safe')", (json.dumps(schema),))
    engage = {"model": "claude-sonnet-5-5", "tools": ["count_words"]}
    db.execute("select faculty_save(%s)", (json.dumps({"name": "python", "accepts": ["count"], "hosts": ["python"], "engage": engage}),))
    renew(db)  # now there is a worker on this host
    threading.Thread(target=keep_renewing, daemon=True).start()
    while True:
        due = db.execute("select work_item_id from v_queue where faculty = 'python' and waits_for = 'worker' union all "
                         "select work_item_id from v_now where faculty = 'python' and waits_for = 'worker'").fetchall()
        for (item,) in due:
            drive(db, item)
        time.sleep(1)
