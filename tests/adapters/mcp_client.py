"""The official Python client of MCP (package `mcp`, 2.x) against a library that `journeyman serve mcp` serves.

    python tests/adapters/mcp_client.py target/debug/journeyman skills

Imports these skills into a new library, releases them, and serves it over standard streams and over HTTP. Over each it lists the skills, reads every
file, and compares its SHA-256 with the manifest and with the library's folder; then it searches and reports an outcome
twice. Prints a line for each figure; the exit code is 1 where one is not as it should be.
"""

import asyncio
import base64
import hashlib
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
from urllib.parse import unquote

import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from pydantic import TypeAdapter

EXTENSION = "io.modelcontextprotocol/skills"
ANY = TypeAdapter(dict)
bad = []


def expect(what, found, expected):
    if found != expected:
        bad.append(f"{what}: expected {expected}, found {found}")


async def ask(session, method, params):
    """A request that the client has no method for."""
    return await session.send_request(types.Request[dict, str](method=method, params=params), ANY)


async def every_skill(session):
    cursor, skills = None, []
    while True:
        page = await ask(session, "skills/list", {"cursor": cursor} if cursor else {})
        skills += page["skills"]
        cursor = page.get("nextCursor")
        if not cursor:
            return skills


async def compare(session, folder):
    skills, files = await every_skill(session), 0
    for skill in skills:
        got = await ask(session, "skills/get", {"uri": skill["uri"]})
        expect(f"skills/get {skill['uri']}", got["skill"], skill)
        for entry in skill["resources"]:
            contents = (await session.read_resource(entry["uri"])).contents[0]
            text = getattr(contents, "text", None)
            data = text.encode() if text is not None else base64.b64decode(contents.blob)
            digest = "sha256:" + hashlib.sha256(data).hexdigest()
            expect(f"size of {entry['uri']}", len(data), entry["size"])
            expect(f"digest of {entry['uri']}", digest, entry["digest"])
            path = folder / unquote(entry["uri"].removeprefix("skill://"))
            expect(f"the folder's {path.name}", hashlib.sha256(path.read_bytes()).hexdigest(), digest[7:])
            files += 1
    folders = sum(1 for path in folder.iterdir() if (path / "SKILL.md").is_file())
    expect("skills in folders", folders, len(skills))
    return len(skills), files


async def report(session):
    """Whether the first report of an attempt counted, and the second."""
    found = await session.call_tool("search_skills", {"task": "find the remainder modulo a number"})
    found = found.structured_content
    counted = []
    for _ in range(2):
        answer = await session.call_tool("report_outcome", {"attempt": found["attempt"], "success": True})
        counted.append(answer.structured_content["counted"])
    expect("counted", counted, [True, False])
    return [skill["name"] for skill in found["skills"]]


async def check(how, streams, folder):
    async with streams as opened, ClientSession(opened[0], opened[1], read_timeout_seconds=60) as session:
        started = await session.initialize()
        extensions = started.capabilities.extensions or {}
        expect(f"{how}: the extension", EXTENSION in extensions, True)
        tools = [tool.name for tool in (await session.list_tools()).tools]
        expect(f"{how}: tools", tools, ["search_skills", "report_outcome"])
        skills, files = await compare(session, folder)
        given = await report(session)
        print(f"mcp client, {how}: protocol {started.protocol_version}, {skills} skills, {files} files equal in "
              f"SHA-256, search gave {given}, counted once")


def fill(program, library, skills):
    def ask(*arguments):
        command = [program, "--library", str(library), "--json", *arguments]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    ask("skill", "import", skills, "--create", "--trust")
    for skill in ask("skill", "list")["skills"]:
        ask("skill", "release", skill["name"], "--reason", "shipped with the project")


async def main(program, skills):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = folder / "library"
        fill(program, library, skills)
        serve = ["--library", str(library), "serve", "mcp"]
        child = StdioServerParameters(command=program, args=serve, env={})
        await check("stdio", stdio_client(child), library / "skills")

        token = secrets.token_hex(16)
        environment = {**os.environ, "JOURNEYMAN_MCP_TOKEN": token}
        server = subprocess.Popen([program, *serve, "--http", "0"], env=environment, stderr=subprocess.PIPE, text=True)
        try:
            url = server.stderr.readline().split()[-1]
            client = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
            await check("http", streamable_http_client(url, http_client=client), library / "skills")
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
    print("\n".join(bad), file=sys.stderr)
    sys.exit(1 if bad else 0)
