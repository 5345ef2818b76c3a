"""Renders conversations by published chat templates with transformers, as expectations of the Rust renderer.

Run by record.sh, with the folder of the templates. Writes there recorded.json, of the families whose templates are kept beside
this file, and fetched.json, of the others. No weights and no network are needed.
"""

import copy
import datetime
import json
import pathlib
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


# Family, template, BOS, EOS, and what the template does not accept.
FAMILIES = [
    ("Qwen 2.5", "Qwen-Qwen2.5-7B-Instruct", "", "<|im_end|>", []),
    ("Qwen 3", "Qwen-Qwen3-0.6B", "", "<|im_end|>", []),
    ("Hermes 3", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "<|begin_of_text|>", "<|im_end|>", ["no tools"]),
    ("Llama 3.1", "meta-llama-Llama-3.1-8B-Instruct", "<|begin_of_text|>", "<|eot_id|>", ["several calls"]),
    ("Mistral Nemo", "mistralai-Mistral-Nemo-Instruct-2407", "<s>", "</s>", ["system before a result"]),
    ("Mistral Small 3.2", "Mistral-Small-3.2-24B-Instruct-2506", "<s>", "</s>", []),
    ("Gemma 2", "google-gemma-2-2b-it", "<bos>", "<eos>", ["system", "tools"]),
    ("Functionary 3.1", "meetkai-functionary-medium-v3.1", "<|begin_of_text|>", "<|eot_id|>", ["no tools", "objects"]),
    ("DeepSeek R1 distilled", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "<BOS>", "<EOS>", ["tools"]),
]

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
    # The template drops it without a word; it is written where it stood before the call.
    if "system before a result" in refuses and messages[0]["role"] == "system" and messages[-1]["role"] == "tool":
        rules, *messages = messages
        asked = [one for one in messages if one["role"] == "user"][-1]
        asked["content"] = rules["content"] + "\n\n" + asked["content"]
    if "system" in refuses and messages[0]["role"] == "system":
        rules, first, *rest = messages
        first["content"] = rules["content"] + "\n\n" + first["content"]
        messages = [first, *rest]
    return messages


def tokenizer(template, bos, eos):
    empty = Tokenizer(WordLevel({"x": 0}, unk_token="x"))
    made = PreTrainedTokenizerFast(tokenizer_object=empty, bos_token=bos or None, eos_token=eos)
    made.chat_template = (TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8")
    return made


def rendered(model, messages, tools, thinking, generates):
    options = {} if thinking is None else {"enable_thinking": thinking}
    return model.apply_chat_template(
        messages,
        tools=tools or None,
        tokenize=False,
        add_generation_prompt=generates,
        **options,
    )


def family(name, template, bos, eos, refuses):
    model = tokenizer(template, bos, eos)
    cases = []
    for case, messages, tools, thinking in CASES:
        if (tools and "tools" in refuses) or (not tools and "no tools" in refuses):
            continue
        text = rendered(model, accepted(messages, refuses), tools, thinking, True)
        cases.append({"name": case, "messages": messages, "tools": tools, "thinking": thinking, "rendered": text})
    answers = []
    if "tools" not in refuses:
        for made in ([ZURICH], [ZURICH, BERN]):
            if len(made) > 1 and "several calls" in refuses:
                continue
            calling = [{"role": "assistant", "content": "", "tool_calls": made}]
            before = rendered(model, accepted([ASK], refuses), TOOLS, None, True)
            after = rendered(model, accepted([ASK, *calling], refuses), TOOLS, None, False)
            # Qwen 3 writes an empty thought into the last message; the model's own text begins behind the common part.
            common = 0
            while common < min(len(before), len(after)) and before[common] == after[common]:
                common += 1
            answers.append({"text": after[common:], "calls": [one["function"] for one in made]})
    return {
        "family": name,
        "template": f"{template}.jinja",
        "bos": bos,
        "eos": eos,
        "cases": cases,
        "answers": answers,
    }


def main():
    chat_template_utils.datetime = FixedDate
    parts = {"recorded": [], "fetched": []}
    for one in FAMILIES:
        is_kept = (HERE / f"{one[1]}.jinja").exists()
        recorded = family(*one)
        parts["recorded" if is_kept else "fetched"].append(recorded)
        print(f"{recorded['family']}: {len(recorded['cases'])} conversations, {len(recorded['answers'])} answers")
    for name, recorded in parts.items():
        text = json.dumps(recorded, ensure_ascii=False, indent=1)
        (TEMPLATES / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
