"""Makes the client's types and methods from the published document: `make clients` runs it.

openapi-python-client makes the models, and a module for each operation. Its functions answer any of an operation's statuses;
`operations.py` is made from them: two classes with a method for each operation, which answers what a success does, takes the
fields of a body by their names, and reads lists page by page."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
DOCUMENT = json.loads((FOLDER.parents[1] / "openapi.json").read_text())
OUT = FOLDER / "src/moments_client/generated"
# What a client keeps of an answer.
KEPT = {
    "log_in": "self.credentials.token = answer.token",
    "create_api_key": "self.credentials.api_key = answer.api_key",
    "log_out": "self.credentials.token = None",
}
HEAD = '''"""Made by generate.py from openapi.json."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

from ..sending import AsyncSender, Sender, new_key
{modules}
from .models import (
    {models},
)
from .types import UNSET, Unset
'''


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    options = ["--meta", "none", "--config", FOLDER / "generator.json", "--fail-on-warning"]
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", FOLDER.parents[1] / "openapi.json"]
    subprocess.run([*command, "--output-path", OUT, *options], check=True, stdout=subprocess.DEVNULL)
    modules = {path.stem: path for path in sorted(OUT.glob("api/*/[!_]*.py"))}
    operations = {snake(it["operationId"]): it for path in DOCUMENT["paths"].values() for it in path.values()}
    assert modules.keys() == operations.keys(), modules.keys() ^ operations.keys()
    body = ""
    for kind in ("", "Async"):
        body += f'\n\nclass {kind}Operations({kind}Sender):\n    """The operations of the service."""\n'
        for name, path in modules.items():
            body += methods(name, path, operations[name], kind)
    modules = [f"from .api.{path.parent.name} import {name} as _{name}" for name, path in modules.items() if f"_{name}." in body]
    declared = ast.parse((OUT / "models/__init__.py").read_text()).body
    models = {alias.name for node in declared if isinstance(node, ast.ImportFrom) for alias in node.names}
    models &= set(re.findall(r"\w+", body))
    (OUT / "operations.py").write_text(HEAD.format(modules="\n".join(modules), models=",\n    ".join(sorted(models))) + body)


def methods(name, path, operation, kind):
    """The methods of one operation: one that calls it, and two for a list."""
    answers = {status: answer for status in ("200", "202") if (answer := model_of(operation, status))}
    if not answers:
        return ""  # A text or a file, for which its address is enough.
    functions = {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
    own = [field for field in parameters(functions["_get_kwargs"]) if field[0] != "idempotency_key"]
    body = next((field for field in own if field[0] == "body"), None)
    own = [field for field in own if field[0] != "body"]
    model = body and body[1].removesuffix(" | Unset")
    # A body beside a query says the same as it.
    inner = [] if model is None or body[2] and own else fields(model)
    assert not {field[0] for field in own} & {field[0] for field in inner}, name
    passed = [f"{field}={field}" for field, *_ in own]
    if inner:
        passed.append(f"body={model}({', '.join(f'{field}={field}' for field, *_ in inner)})")
    taken = own + inner
    is_write = any("IdempotencyKey" in each.get("$ref", "") for each in operation.get("parameters", []))
    if is_write:
        answers.pop("202", None)
        taken += [("idempotency_key", "str | None", "None"), ("wait", "float | None", "None")]
        passed.append("idempotency_key=idempotency_key or new_key()")
    taken = sorted(taken, key=lambda field: field[2] is not None)
    signature = ", ".join(["self", *(["*"] if taken else []), *(f"{n}: {t}{f' = {d}' if d else ''}" for n, t, d in taken)])
    words = ast.get_docstring(functions["sync_detailed"]).split("\nArgs:")[0].split("\nRaises:")[0].strip()
    if is_write:
        words += "\n\nReturns once it is mined; TransactionPendingError after `wait` seconds, if they are given."
    words = words.replace("\n", "\n        ")
    request = f"        request = _{name}._get_kwargs({', '.join(passed)})\n"
    sending = "self._write(request, wait)" if is_write else "self._send(request)"
    asynchronous, awaiting = ("async ", "await ") if kind else ("", "")
    text = f'\n    {asynchronous}def {name}({signature}) -> {" | ".join(answers.values())}:\n        """{words}"""\n{request}'
    text += f"        response = {awaiting}{sending}\n"
    usual = "200" if "200" in answers else "202"
    if usual == "200" and "202" in answers:
        text += f"        if response.status_code == 202:\n            return {answers['202']}.from_dict(response.json())\n"
    text += f"        answer = {answers[usual]}.from_dict(response.json())\n"
    text += f"        {KEPT[name]}\n" if name in KEPT else ""
    text += "        return answer\n"
    headers = operation["responses"][usual].get("headers", {})
    return text + (list_methods(name, answers[usual], signature, request, kind) if "link" in headers else "")


def list_methods(name, page, signature, request, kind):
    """The methods that follow a list's `Link`."""
    rows = [(field, row[1]) for field, type_, _ in fields(page) if (row := re.fullmatch(r"list\[(\w+)\]", type_))]
    items, asynchronous = name.removeprefix("list_"), "async " if kind else ""
    # A page may have more beside its rows, which are named after the list.
    rows = [row for row in rows if row[0] == items] or rows
    assert len(rows) == 1, name
    (field, row) = rows[0]
    return f'''
    {asynchronous}def {items}_pages({signature}) -> {kind}Iterator[{page}]:
        """The pages of `{name}`, from the asked one on."""
{request}        {asynchronous}for response in self._pages(request):
            yield {page}.from_dict(response.json())

    {asynchronous}def iterate_{items}({signature}) -> {kind}Iterator[{row}]:
        """The rows of `{name}`, page after page."""
{request}        {asynchronous}for response in self._pages(request):
            for row in {page}.from_dict(response.json()).{field}:
                yield row
'''


def model_of(operation, status):
    """The type of an answer that is always JSON."""
    answer = operation["responses"].get(status, {})
    if reference := answer.get("$ref"):
        answer = DOCUMENT["components"]["responses"][reference.rsplit("/", 1)[1]]
    content = answer.get("content", {})
    return content["application/json"]["schema"]["$ref"].rsplit("/", 1)[1] if content.keys() == {"application/json"} else None


def parameters(function):
    """A function's parameters as (name, type, default)."""
    arguments = function.args
    return [(it.arg, ast.unparse(it.annotation), None) for it in arguments.args] + [
        (it.arg, ast.unparse(it.annotation), default and ast.unparse(default))
        for it, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
    ]


def fields(model):
    """A model's fields as (name, type, default)."""
    module = ast.parse((OUT / f"models/{snake(model)}.py").read_text())
    body = next(node for node in module.body if isinstance(node, ast.ClassDef)).body
    found = [node for node in body if isinstance(node, ast.AnnAssign) and node.target.id != "additional_properties"]
    return [(it.target.id, ast.unparse(it.annotation), it.value and ast.unparse(it.value)) for it in found]


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


main()
