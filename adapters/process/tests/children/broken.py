"""Children that break the protocol, each in its own way. Standard library only."""

import json
import os
import sys
import time

HOW = sys.argv[1]
HELLO = {"type": "hello", "id": 1, "protocol": 1, "part": "environment", "name": "broken"}


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def hello(**change):
    message = json.loads(sys.stdin.readline())
    say(json.dumps({**HELLO, "id": message["id"], **change}) + "\n")


if HOW == "exits":
    print("no module named desk", file=sys.stderr)
    sys.exit(1)
if HOW == "mute":
    time.sleep(600)
if HOW == "version":
    hello(protocol=9)
elif HOW == "executor":
    hello(part="executor")
elif HOW == "noisy start":
    say("Loading weights, api_key=q7Zt2mKx9Lw4Vb6nHd " + "x" * 300 + "\n")
else:
    hello()
request = json.loads(sys.stdin.readline())
if HOW == "noise":
    say("Traceback: " + "y" * 500 + "\n")
elif HOW == "half":
    say('{"type": "observation", "id": 2, "obs')
    os._exit(0)
elif HOW == "flood":
    while True:
        say("z" * 65536)
elif HOW == "chatter":
    while True:
        say('{"type": "closed", "id": 77}\n')
elif HOW == "other answer":
    say(json.dumps({"type": "closed", "id": request["id"]}) + "\n")
elif HOW == "unknown field":
    say(json.dumps({"type": "observation", "id": request["id"], "observation": {"text": "here", "mood": 1}}) + "\n")
elif HOW == "errors":
    print("w" * 100000 + " the end", file=sys.stderr)
    sys.exit(5)
sys.stdin.read()
