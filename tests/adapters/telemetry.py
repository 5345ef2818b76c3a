"""The names that OpenTelemetry's conventions have for spans like ours, as one line of JSON.

    python tests/adapters/telemetry.py          in the environment that tests/adapters/collector.sh makes

`released` is the package `opentelemetry-semantic-conventions`. `current` has what the conventions for generative AI have got since
they moved to their own repository, with the type of each attribute, as of the commit `ref`. Neither package is imported:
the first would need its dependencies.
"""

import ast
import importlib.util
import json
import pathlib
import re
import sys
import sysconfig

PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
AREAS = ["error", "exception", "gen_ai", "server"]


def released():
    """Attributes, and the values of `gen_ai.operation.name`."""
    attributes, operations = set(), set()
    for area in AREAS:
        path = PACKAGES / f"opentelemetry/semconv/_incubating/attributes/{area}_attributes.py"
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.AnnAssign):
                attributes.add(ast.literal_eval(statement.value))
            elif isinstance(statement, ast.ClassDef) and statement.name == "GenAiOperationNameValues":
                values = [one for one in statement.body if isinstance(one, ast.Assign)]
                operations.update(ast.literal_eval(one.value) for one in values)
    return {"attributes": sorted(attributes), "operations": sorted(operations)}


def current():
    """The snapshot of the repository in `pytest_genai_semconv/spec.py`, a file of values."""
    path = PACKAGES / "pytest_genai_semconv/spec.py"
    found = importlib.util.spec_from_file_location("genai_spec", path)
    spec = importlib.util.module_from_spec(found)
    sys.modules[found.name] = spec
    found.loader.exec_module(spec)
    ref = re.search(r"Ref:\s+([0-9a-f]{40})", spec.__doc__)
    return {"ref": ref and ref[1], "attributes": spec.ATTRIBUTE_TYPES, "operations": sorted(spec.OPERATION_NAMES)}


if __name__ == "__main__":
    print(json.dumps({"released": released(), "current": current()}))
