#!/usr/bin/env python3
"""A stand-in for the two model APIs that agents call: Anthropic Messages and OpenAI Responses.

    python3 mock_api.py [--port N] [--log FILE] [--attached]

It listens on 127.0.0.1 only and prints its base URL as the first line of stdout. Port 0, the
default, lets the kernel choose. --log FILE gets one JSON line a request (no keys, no bodies).
--attached ends the server at end of file on stdin, so that it does not outlive who started it.

What it answers is written in the last user prompt, as markers. Each marker is one model response, a
"step"; [[+...]] joins the step before it (parallel tool calls, several blocks in one response).
Which step is next is read from the tool ids in the request, so nothing is kept between requests
but the counters of [[err]]. After the last step it answers "Done."; without a marker,
"Mock reply to: <the prompt's first 80 characters>".

  [[text WORDS]]      plain text                     [[ko]]  Korean and emoji text
  [[think WORDS]]     a thinking block               [[slow N]]  numbers streamed over N seconds
  [[big [BYTES]]]     BYTES of text, 5,000,000 if not given
  [[stall N]]         the beginning of a message, then nothing for N seconds, then text
  [[bash CMD]]        shell tool call (Claude: Bash; Codex: whichever shell tool it offers)
  [[bg CMD]]          the same in the background     [[bashms MS CMD]]  the same with a timeout
  [[write PATH TEXT]] [[edit PATH A B]] [[read PATH]]  file tools (Codex: apply_patch, cat)
  [[task PROMPT]]     subagent; markers within its prompt are written {{...}}
  [[bgtask PROMPT]]   the same in the background (Claude)
  [[tool NAME JSON]]  any tool, arguments verbatim   [[js SOURCE]]  Codex: its "exec" tool
  [[err CODE [N]]]    HTTP error CODE, to the first N requests or to all
  [[sseerr]]          a stream that holds an error event
  [[drop]]            half a message, then the connection is closed
  [[hang]]            the request is taken and never answered
  [[maxtok]] [[refusal]]  that stop_reason
  [[usage IN OUT]]    no step: the token usage that every response of this script reports
"""
import argparse
import http.server
import json
import os
import re
import socket
import sys
import threading
import time
import uuid

KOREAN = (
    "안녕하세요! 작업을 마쳤습니다 🎉👩‍💻🇰🇷 — 파일 3개를 고쳤어요. "
    "한글·이모지·“따옴표”·\\역슬래시\\·\u2028줄구분·𝕌𝕟𝕚."
)
BIG_LINE = "0123456789 가나다 🙂 the quick brown fox jumps over the lazy dog\n"
MARKER = re.compile(r"\[\[(.*?)\]\]", re.S)


# Scripts ------------------------------------------------------------------------------------------


def parse_script(prompt):
    """The prompt's markers as (steps, usage); a step is a list of (verb, argument)."""
    steps, usage = [], None
    for match in MARKER.finditer(prompt):
        body = match.group(1).strip()
        joins = body.startswith("+")
        verb, _, argument = body.lstrip("+").strip().partition(" ")
        if verb == "usage":
            usage = [int(word) for word in argument.split()[:2]]
        elif joins and steps:
            steps[-1].append((verb, argument.strip()))
        else:
            steps.append([(verb, argument.strip())])
    return steps, usage


class Errors:
    """Counts the requests that each [[err CODE N]] has refused."""

    def __init__(self):
        self.lock = threading.Lock()
        self.refused = {}

    def skip_spent(self, steps, step, prompt):
        """The first step from `step` on that is not an [[err]] whose N requests are over."""
        while step < len(steps) and steps[step][0][0] == "err":
            _, *times = steps[step][0][1].split()
            with self.lock:
                count = self.refused[prompt, step] = self.refused.get((prompt, step), 0) + 1
            if not times or count <= int(times[0]):
                break
            step += 1
        return step


def next_actions(turns, errors):
    """What to answer to `turns`, a list of (role, text, tool ids): (actions, step, usage)."""
    spoken = [i for i, (role, text, _) in enumerate(turns) if role == "user" and text.strip()]
    prompt = turns[spoken[-1]][1] if spoken else ""
    if not MARKER.search(prompt):
        first = prompt.strip().split("\n")[0][:80]
        return [("text", "Mock reply to: " + first)], 0, None
    steps, usage = parse_script(prompt)
    made = [tool for _, _, ids in turns[spoken[-1] + 1 :] for tool in ids]
    marks = [re.search(r"mk(\d+)x", tool) for tool in made]
    done = [int(mark.group(1)) for mark in marks if mark]
    step = errors.skip_spent(steps, max(done, default=-1) + 1, (spoken[-1], prompt))
    return steps[step] if step < len(steps) else [("text", "Done.")], step, usage


def call_id(prefix, step, index):
    return f"{prefix}_mk{step}x{index}_{uuid.uuid4().hex[:10]}"


def text_of(verb, argument):
    """The text of an answer that is text."""
    if verb == "ko":
        return KOREAN
    if verb == "slow":
        count = max(1, int(float(argument.split()[0]) * 2))
        return "".join(f"{i + 1}/{count} " for i in range(count))
    if verb == "big":
        size = int(argument or 5_000_000)
        return BIG_LINE * (size // len(BIG_LINE.encode()) + 1)
    return argument or "Mock text."


def deltas_of(verb, text):
    """The text in the pieces in which it is streamed, and the pause after each, in seconds."""
    if verb == "slow":
        return re.findall(r"\S+ ", text), 0.5
    size = 4096 if verb == "big" else 12
    return [text[i : i + size] for i in range(0, len(text), size)] or [""], 0


def inner_prompt(argument):
    return argument.replace("{{", "[[").replace("}}", "]]")


def content_texts(content):
    if isinstance(content, str):
        return [content]
    kinds = ("text", "input_text", "output_text")
    return [block.get("text", "") for block in content or [] if block.get("type") in kinds]


# Anthropic Messages -------------------------------------------------------------------------------

# What Claude Code itself puts into a user turn; it is not the user's prompt.
CLAUDE_NOTES = ("Continue from where you left off.", "[Request interrupted by user for tool use]")


def anthropic_turns(request):
    turns = []
    for message in request.get("messages", []):
        content, text = message.get("content"), ""
        if message["role"] == "user":
            texts = content_texts(content)
            reminders = [t for t in texts if t.lstrip().startswith("<system-reminder>")]
            spoken = [t for t in texts if t not in reminders and t.strip() not in CLAUDE_NOTES]
            # The end of a background task starts a turn that has no prompt of the user's.
            if any("<task-notification>" in t for t in reminders):
                spoken.insert(0, "task notification")
            text = "\n".join(spoken)
        blocks = content if isinstance(content, list) else []
        ids = [block.get("id", "") for block in blocks if block.get("type") == "tool_use"]
        turns.append((message["role"], text, ids))
    return turns


def anthropic_tool(verb, argument, offered):
    """(name, input) of a Claude Code tool call, or None when `verb` is none."""
    first, _, rest = argument.partition(" ")
    shell = {"command": argument, "description": "mock command"}
    if verb == "bash":
        return "Bash", shell
    if verb == "bg":
        return "Bash", dict(shell, run_in_background=True)
    if verb == "bashms":
        return "Bash", dict(shell, command=rest, timeout=int(first))
    if verb == "write":
        return "Write", {"file_path": first, "content": rest + "\n"}
    if verb == "edit":
        old, _, new = rest.partition(" ")
        return "Edit", {"file_path": first, "old_string": old, "new_string": new}
    if verb == "read":
        return "Read", {"file_path": argument}
    if verb in ("task", "bgtask"):
        task = {"description": "mock subagent", "prompt": inner_prompt(argument)}
        task["subagent_type"] = "general-purpose"
        if verb == "bgtask":
            task["run_in_background"] = True
        return "Agent" if "Agent" in offered else "Task", task
    if verb == "tool":
        return first, json.loads(rest or "{}")
    return None


def anthropic_block(verb, argument, offered, tool_id):
    tool = anthropic_tool(verb, argument, offered)
    if tool:
        return {"type": "tool_use", "id": tool_id, "name": tool[0], "input": tool[1]}
    if verb == "think":
        return {"type": "thinking", "thinking": argument or "Hm.", "signature": "bW9jaw=="}
    return {"type": "text", "text": text_of(verb, argument)}


def anthropic_error(code):
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    words = {401: "invalid x-api-key", 529: "Overloaded"}.get(code, f"mock error {code}")
    return {"type": "error", "error": {"type": kinds.get(code, "api_error"), "message": words}}


# OpenAI Responses ---------------------------------------------------------------------------------

# What Codex itself sends under the user's role; it is not the user's prompt.
CODEX_NOTES = re.compile(
    r"\s*(<environment_context>|<user_instructions>|# AGENTS\.md|<permissions|<skills"
    r"|<turn_aborted>|<hook_)"
)


def openai_turns(request):
    turns = []
    for item in request.get("input", []):
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message":
            text = "\n".join(content_texts(item.get("content")))
            if not (role == "user" and CODEX_NOTES.match(text)):
                turns.append((role, text, []))
        elif kind == "agent_message":  # how a parent's task reaches its subagent
            blocks = item.get("content") or []
            text = "\n".join(b.get("text") or b.get("encrypted_content") or "" for b in blocks)
            if "Message Type: NEW_TASK" in text:
                turns.append(("user", text, []))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            turns.append(("assistant", "", [item.get("call_id") or ""]))
    return turns


def openai_tools(request):
    """The offered tools by name: a list of the request, or items of its input, or namespaces."""
    offered = list(request.get("tools") or [])
    for item in request.get("input", []):
        if item.get("type") == "additional_tools":
            offered += item.get("tools") or []
    tools = {}
    for tool in offered:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or []:
                tools[inner.get("name")] = dict(inner, namespace=tool.get("name"))
        else:
            tools[tool.get("name") or tool.get("type")] = tool
    return tools


class OpenAIItems:
    """Makes the output items of one response, with the tools that the request offers."""

    def __init__(self, tools):
        self.tools = tools
        # In "code mode" there is one freeform tool that runs JavaScript with the tools within.
        freeform = tools.get("exec", {}).get("type") == "custom"
        self.code_mode = freeform and "exec_command" not in tools

    def item(self, verb, argument, call):
        made = self.tool_call(verb, argument)
        if made:
            return dict(made, id="item_" + uuid.uuid4().hex[:16], call_id=call, status="completed")
        if verb == "think":
            summary = [{"type": "summary_text", "text": argument or "Hm."}]
            return {"type": "reasoning", "id": "rs_" + uuid.uuid4().hex[:16], "summary": summary}
        content = [{"type": "output_text", "text": text_of(verb, argument), "annotations": []}]
        made = {"type": "message", "id": "msg_" + uuid.uuid4().hex[:16], "role": "assistant"}
        return dict(made, status="completed", content=content)

    def tool_call(self, verb, argument):
        first, _, rest = argument.partition(" ")
        if verb == "bash":
            return self.shell(argument)
        if verb == "bg":
            return self.shell(argument, 1000)
        if verb == "bashms":
            return self.shell(rest, int(first))
        if verb == "read":
            return self.shell("cat " + argument)
        if verb == "write":
            return self.patch(f"*** Add File: {first}\n+{rest}")
        if verb == "edit":
            old, _, new = rest.partition(" ")
            return self.patch(f"*** Update File: {first}\n@@\n-{old}\n+{new}")
        if verb in ("task", "bgtask"):
            task = {"message": inner_prompt(argument)}
            parameters = self.tools.get("spawn_agent", {}).get("parameters") or {}
            if "task_name" in (parameters.get("properties") or {}):
                task.update(task_name="mock_sub", fork_turns="none")
            return self.function("spawn_agent", task)
        if verb == "js":
            return self.freeform("exec", argument)
        if verb == "tool":
            return self.function(first, json.loads(rest or "{}"))
        return None

    def named(self, call, name):
        namespace = self.tools.get(name, {}).get("namespace")
        return dict(call, name=name, **({"namespace": namespace} if namespace else {}))

    def function(self, name, arguments):
        arguments = json.dumps(arguments, ensure_ascii=False)
        return self.named({"type": "function_call", "arguments": arguments}, name)

    def freeform(self, name, source):
        return self.named({"type": "custom_tool_call", "input": source}, name)

    def shell(self, command, milliseconds=None):
        wait = {"yield_time_ms": milliseconds} if milliseconds else {}
        if self.code_mode:
            arguments = json.dumps(dict(wait, cmd=command), ensure_ascii=False)
            return self.freeform("exec", f"text(await tools.exec_command({arguments}));")
        if "exec_command" in self.tools:
            return self.function("exec_command", dict(wait, cmd=command))
        limit = {"timeout_ms": milliseconds} if milliseconds else {}
        if "shell_command" in self.tools:
            return self.function("shell_command", dict(limit, command=command))
        return self.function("shell", dict(limit, command=["bash", "-lc", command]))

    def patch(self, hunk):
        text = f"*** Begin Patch\n{hunk}\n*** End Patch"
        if self.code_mode:
            source = json.dumps(text, ensure_ascii=False)
            return self.freeform("exec", f"text(await tools.apply_patch({source}));")
        if self.tools.get("apply_patch", {}).get("type") == "custom":
            return self.freeform("apply_patch", text)
        if "apply_patch" in self.tools:
            return self.function("apply_patch", {"input": text})
        return self.shell(f"apply_patch <<'PATCH'\n{text}\nPATCH\n")


# HTTP ---------------------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def read_body(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def note(self, **facts):
        if self.server.log:
            facts = dict(at=round(time.time(), 3), method=self.command, path=self.path, **facts)
            with self.server.errors.lock:
                self.server.log.write(json.dumps(facts, ensure_ascii=False) + "\n")
                self.server.log.flush()

    def send_json(self, value, code=200):
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def event(self, kind, **fields):
        data = json.dumps(dict(fields, type=kind), ensure_ascii=False)
        data = f"event: {kind}\ndata: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def cut(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the client was quicker

    def do_HEAD(self):
        self.note()
        self.send_json({})

    def do_GET(self):
        self.note()
        path = self.path.split("?")[0]
        if path.endswith("/models"):  # Codex reads "models", the others "data"
            return self.send_json({"object": "list", "models": [], "data": [], "has_more": False})
        if path in ("/", "/api/hello"):
            return self.send_json({"message": "hello"})
        return self.send_json(anthropic_error(404), 404)

    def do_POST(self):
        body = self.read_body()
        path = self.path.split("?")[0]
        try:
            if path.endswith("/messages"):
                return self.anthropic(json.loads(body), len(body))
            if path.endswith("/responses"):
                return self.openai(json.loads(body), len(body))
            self.note()
            if path.endswith("/count_tokens"):
                return self.send_json({"input_tokens": max(1, len(body) // 4)})
            return self.send_json(anthropic_error(404), 404)
        except (BrokenPipeError, ConnectionResetError):
            self.note(gone=True)
            self.close_connection = True

    def anthropic(self, request, size):
        turns = anthropic_turns(request)
        actions, step, usage = next_actions(turns, self.server.errors)
        asked = json.dumps(request.get("output_config") or {})
        if "json_schema" in asked and not request.get("tools"):
            actions, step = [("text", '{"title": "Mock title"}')], 0  # the session's title
        self.note(step=step, actions=[verb for verb, _ in actions], turns=len(turns))
        verb, argument = actions[0]
        if verb == "err":
            code = int(argument.split()[0])
            return self.send_json(anthropic_error(code), code)
        if verb == "hang":
            time.sleep(3600)
            return self.cut()
        offered = [tool.get("name") for tool in request.get("tools") or []]
        blocks = [
            (action, anthropic_block(action, argument, offered, call_id("toolu", step, index)))
            for index, (action, argument) in enumerate(actions)
        ]
        stop = {"maxtok": "max_tokens", "refusal": "refusal"}.get(verb, "end_turn")
        if any(block["type"] == "tool_use" for _, block in blocks):
            stop = "tool_use"
        tokens_in, tokens_out = usage or (max(1, size // 4), 7)
        message = {
            "id": "msg_mock_" + uuid.uuid4().hex[:16],
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "mock"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": tokens_in, "output_tokens": 1},
        }
        if not request.get("stream"):
            message.update(content=[block for _, block in blocks], stop_reason=stop)
            message["usage"]["output_tokens"] = tokens_out
            return self.send_json(message)
        self.begin_stream()
        self.event("message_start", message=message)
        self.event("ping")
        if verb == "sseerr":
            self.event("error", error=anthropic_error(529)["error"])
            return self.end_stream()
        if verb == "stall":
            for _ in range(int(float(argument or 60) * 2)):
                time.sleep(0.5)
                self.event("ping")
        for index, (action, block) in enumerate(blocks):
            if not self.stream_block(index, action, block):
                return self.cut()
        usage = {"input_tokens": tokens_in, "output_tokens": tokens_out}
        self.event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        self.event("message_stop")
        return self.end_stream()

    def stream_block(self, index, verb, block):
        """Streams one content block; False when the script says to cut the connection instead."""
        kind = block["type"]
        if kind == "tool_use":
            empty, field, delta = dict(block, input={}), "partial_json", "input_json_delta"
            text = json.dumps(block["input"], ensure_ascii=False)
        elif kind == "thinking":
            empty, text = dict(block, thinking="", signature=""), block["thinking"]
            field, delta = "thinking", "thinking_delta"
        else:
            empty, field, delta, text = dict(block, text=""), "text", "text_delta", block["text"]
        self.event("content_block_start", index=index, content_block=empty)
        parts, pause = deltas_of(verb, text)
        for number, part in enumerate(parts):
            self.event("content_block_delta", index=index, delta={"type": delta, field: part})
            if verb == "drop" and number >= len(parts) // 2:
                return False
            time.sleep(pause)
        if kind == "thinking":
            signature = {"type": "signature_delta", "signature": block["signature"]}
            self.event("content_block_delta", index=index, delta=signature)
        self.event("content_block_stop", index=index)
        return True

    def openai(self, request, size):
        turns = openai_turns(request)
        actions, step, usage = next_actions(turns, self.server.errors)
        self.note(step=step, actions=[verb for verb, _ in actions], turns=len(turns))
        verb, argument = actions[0]
        if verb == "err":
            code = int(argument.split()[0])
            kind = "server_error" if code >= 500 else "invalid_request_error"
            error = {"message": f"mock error {code}", "type": kind, "param": None, "code": None}
            return self.send_json({"error": error}, code)
        if verb == "hang":
            time.sleep(3600)
            return self.cut()
        response = {
            "id": "resp_mock_" + uuid.uuid4().hex[:16],
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "model": request.get("model", "mock"),
            "output": [],
        }
        self.begin_stream()
        self.event("response.created", response=response)
        if verb == "sseerr":
            error = {"code": "server_is_overloaded", "message": "Overloaded"}
            self.event("response.failed", response=dict(response, status="failed", error=error))
            return self.end_stream()
        if verb == "stall":
            time.sleep(float(argument or 60))
        items = OpenAIItems(openai_tools(request))
        output = []
        for index, (action, argument) in enumerate(actions):
            item = items.item(action, argument, call_id("call", step, index))
            if not self.stream_item(index, action, item):
                return self.cut()
            output.append(item)
        tokens_in, tokens_out = usage or (max(1, size // 4), 7)
        usage = {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens_in + tokens_out,
        }
        response.update(status="completed", output=output, usage=usage)
        self.event("response.completed", response=response)
        return self.end_stream()

    def stream_item(self, index, verb, item):
        """Streams one output item; False when the script says to cut the connection instead."""
        self.event("response.output_item.added", output_index=index, item=dict(item, content=[]))
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            empty = {"type": "output_text", "text": "", "annotations": []}
            self.event("response.content_part.added", **place, part=empty)
            parts, pause = deltas_of(verb, item["content"][0]["text"])
            for number, part in enumerate(parts):
                self.event("response.output_text.delta", **place, delta=part)
                if verb == "drop" and number >= len(parts) // 2:
                    return False
                time.sleep(pause)
        self.event("response.output_item.done", output_index=index, item=item)
        return True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port, log):
        super().__init__(("127.0.0.1", port), Handler)
        self.errors = Errors()
        self.log = log


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=argparse.FileType("a", encoding="utf-8"))
    parser.add_argument("--attached", action="store_true")
    options = parser.parse_args()
    server = Server(options.port, options.log)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    if options.attached:

        def watch():
            while os.read(0, 4096):
                pass
            os._exit(0)

        threading.Thread(target=watch, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
