"""Renders conversations by published chat templates with transformers, as expectations of the Rust renderer.

Run by record.sh, with the folder of the templates. Writes there recorded.json, of the families whose templates are kept beside
this file, and fetched.json, of the others. No weights and no network are needed.
"""

import copy
import datetime
import json
import pathlib
import re
import sys

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

HERE = pathlib.Path(__file__).parent
TEMPLATES = pathlib.Path(sys.argv[1])


class FixedDate(datetime.datetime):
    """The date on which Llama's templates fall back."""

    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26)


BOS, EOS = "<s>", "</s>"

# What a template can refuse; a conversation is then written in the form that it accepts, as the adapter writes it. Tried in order.
REFUSED = [
    [],
    ["objects"],
    ["several calls"],
    ["several calls", "objects"],
    ["system"],
    ["system", "several calls"],
    ["system", "several calls", "objects"],
]
# What a template drops without a word: the adapter gives it the form in which nothing is lost.
DROPPED = {
    "mistralai-Mistral-Nemo-Instruct-2407": ["system before a result"],
    "GigaChat3-10B-A1.8B": ["several calls"],
    "GigaChat3.1-10B-A1.8B": ["several calls"],
    "openai-gpt-oss-120b": ["several calls"],
}

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Says how the weather is, \"now\" <or> later.\nIn metric units.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city's name, such as Zürich."},
                "days": {"type": "integer", "description": "Number of days."},
            },
            "required": ["city", "days"],
        },
    },
}
CLOSE = {
    "type": "function",
    "function": {
        "name": "close_ticket",
        "description": "Closes a ticket.",
        "parameters": {
            "type": "object",
            "properties": {
                "ticket": {"type": "string", "description": "Its number.", "enum": ["T-7", "T-8"]},
            },
            "required": ["ticket"],
        },
    },
}
TOOLS = [WEATHER, CLOSE]
SYSTEM = {"role": "system", "content": "You help at a desk. Answer {\"done\": true} at the end."}
ASK = {"role": "user", "content": "How is the weather in \"Zürich\"?"}


def call(number, name, arguments):
    return {
        "id": f"call{number:05}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def answer(number, name, text):
    return {"role": "tool", "tool_call_id": f"call{number:05}", "name": name, "content": text}


ZURICH = call(0, "get_weather", {"city": "Zürich \"HB\"\n", "days": 2})
BERN = call(1, "get_weather", {"city": "Bern", "days": 1})
CALLING = {"role": "assistant", "content": "", "tool_calls": [ZURICH]}
CALLED = [CALLING, answer(0, "get_weather", "sunny, 21 °C")]
BOTH = [
    {"role": "assistant", "content": "", "tool_calls": [ZURICH, BERN]},
    answer(0, "get_weather", "sunny, 21 °C"),
    answer(1, "get_weather", "rain"),
]
SAID = {"role": "assistant", "content": "It is sunny."}
AGAIN = {"role": "user", "content": "And tomorrow?"}

# Name, messages, tools, and the value of `enable_thinking`.
CASES = [
    ("no system", [ASK], [], None),
    ("system", [SYSTEM, ASK], [], None),
    ("two user turns", [SYSTEM, ASK, SAID, AGAIN], [], None),
    ("tools", [SYSTEM, ASK], TOOLS, None),
    ("tools, no system", [ASK], TOOLS, None),
    ("a call and its result", [SYSTEM, ASK, *CALLED], TOOLS, None),
    ("a call, its result and another turn", [SYSTEM, ASK, *CALLED, SAID, AGAIN], TOOLS, None),
    ("several calls", [SYSTEM, ASK, *BOTH], TOOLS, None),
    ("thinking", [SYSTEM, ASK], [], True),
    ("no thinking", [SYSTEM, ASK], [], False),
]


def accepted(messages, refuses):
    """The messages in the form that the family's template accepts."""
    messages = copy.deepcopy(messages)
    if "several calls" in refuses:
        apart = []
        results = {one["tool_call_id"]: one for one in messages if one["role"] == "tool"}
        for message in messages:
            if message["role"] == "tool":
                continue
            for made in message.get("tool_calls", []):
                apart.append({**message, "tool_calls": [made]})
                apart += [results[made["id"]]] if made["id"] in results else []
            if "tool_calls" not in message:
                apart.append(message)
        messages = apart
    if "objects" in refuses:
        for message in messages:
            for made in message.get("tool_calls", []):
                function = made["function"]
                function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    # It is written where it stood before the call.
    if "system before a result" in refuses and messages[0]["role"] == "system" and messages[-1]["role"] == "tool":
        rules, *messages = messages
        asked = [one for one in messages if one["role"] == "user"][-1]
        asked["content"] = rules["content"] + "\n\n" + asked["content"]
    if "system" in refuses and messages[0]["role"] == "system":
        rules, first, *rest = messages
        first["content"] = rules["content"] + "\n\n" + first["content"]
        messages = [first, *rest]
    return messages


def tokenizer(path):
    empty = Tokenizer(WordLevel({"x": 0}, unk_token="x"))
    made = PreTrainedTokenizerFast(tokenizer_object=empty, bos_token=BOS, eos_token=EOS)
    made.chat_template = path.read_text(encoding="utf-8")
    return made


def rendered(model, messages, tools, thinking, generates=True):
    options = {} if thinking is None else {"enable_thinking": thinking}
    # Firefunction's template reads these in place of `tools`.
    functions = json.dumps(tools, ensure_ascii=False, indent=4)
    return model.apply_chat_template(
        messages,
        tools=tools or None,
        tokenize=False,
        add_generation_prompt=generates,
        functions=functions,
        datetime="2024-07-26 00:00:00",
        **options,
    )


def first_accepted(render, drops):
    """What `render` gives for the first form of the messages that the template accepts; None where it accepts none."""
    for refused in REFUSED:
        try:
            return render(refused + drops)
        except Exception:
            continue
    return None


def answer_of(model, made, refused):
    """What a template writes for calls, behind the opening of the model's turn."""
    calling = [{"role": "assistant", "content": "", "tool_calls": made}]
    before = rendered(model, accepted([ASK], refused), TOOLS, None)
    after = rendered(model, accepted([ASK, *calling], refused), TOOLS, None, generates=False)
    # Qwen 3 writes an empty thought into the last message; the model's own text begins behind the common part.
    common = 0
    while common < min(len(before), len(after)) and before[common] == after[common]:
        common += 1
    # A mark of which both have the beginning belongs to the model's text as a whole.
    begun = re.search(r"<[^<>\s]*$", after[:common])
    common = begun.start() if begun else common
    text = after[common:]
    # Command R's template writes the opening of the model's turn behind another message.
    opening = [text[:length] for length in range(1, len(text)) if before.endswith(text[:length])]
    return text.removeprefix(max(opening, key=len, default=""))


def family(path):
    model = tokenizer(path)
    drops = DROPPED.get(path.stem, [])
    cases = []
    for case, messages, tools, thinking in CASES:
        def render(refused):
            return rendered(model, accepted(messages, refused), tools, thinking)

        text = first_accepted(render, drops)
        if text is not None:
            cases.append({"name": case, "messages": messages, "tools": tools, "thinking": thinking, "rendered": text})
    answers = []
    for made in ([ZURICH], [ZURICH, BERN]):
        def write(refused):
            assert len(made) == 1 or "several calls" not in refused
            return answer_of(model, made, refused)

        text = first_accepted(write, drops)
        # Some templates show no tools, or drop calls.
        if text is not None and all(one["function"]["name"] in text for one in made):
            answers.append({"text": text, "calls": [one["function"] for one in made]})
    return {
        "family": path.stem,
        "template": path.name,
        "bos": BOS,
        "eos": EOS,
        "cases": cases,
        "answers": answers,
    }


def main():
    chat_template_utils.datetime = FixedDate
    parts = {"recorded": [], "fetched": []}
    for path in sorted(TEMPLATES.glob("*.jinja")):
        recorded = family(path)
        is_kept = (HERE / path.name).exists()
        parts["recorded" if is_kept else "fetched"].append(recorded)
        left = len(CASES) - len(recorded["cases"])
        print(f"{recorded['family']}: {len(recorded['cases'])} conversations, {left} refused, {len(recorded['answers'])} answers")
    for name, recorded in parts.items():
        text = json.dumps(recorded, ensure_ascii=False, indent=1)
        (TEMPLATES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
