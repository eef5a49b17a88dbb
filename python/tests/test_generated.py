"""Modules that `bsoap generate --lang python` writes: what type checkers say, and what they do with messages."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import bsoap
import bsoap.codec
import pytest
from bsoap import typed

ROOT = Path(__file__).parents[2]
TESTDATA = ROOT / "crates/generate/tests/testdata"
GENERATED = ROOT / "crates/generate/tests/generated"
CORPUS = Path(os.environ.get("BSOAP_CORPUS", ROOT.parent / "shared/corpus"))

CHECKED = [
    ("kitchen", TESTDATA / "kitchen.wsdl", []),
    ("kitchen_wire", TESTDATA / "kitchen.wsdl", ["--names", "wire", "--embed", "--closed-enumerations"]),
    ("devicemgmt", CORPUS / "onvif/devicemgmt.wsdl", []),
    ("devicemgmt_wire", CORPUS / "onvif/devicemgmt.wsdl", ["--names", "wire"]),
    ("waterml", CORPUS / "waterml/usgs/usgs_wsdl.xml", []),
    ("claim", CORPUS / "zeep/tests/wsdl_files/claim.wsdl", ["--embed"]),
    ("benchmark", CORPUS / "zeep/benchmark/benchmark.wsdl", ["--only", "client"]),
]

USER = """
import bsoap
import kitchen
from bsoap import typed

client = kitchen.KitchenClient("kitchen.wsdl").with_options(timeout=2.0)
total: float = client.sum(kitchen.Sum(a=1, match=[1.5, 2.5])).sum
tool = client.sharpen(kitchen.Knife(name="k", length=1.5))
if isinstance(tool, kitchen.Box):
    names = [inside.name for inside in tool.inside]
client.sum(kitchen.Sum(a="1", match=[1.5]))  # type: ignore[arg-type]


async def asynchronous() -> int | None:
    return await kitchen.KitchenAsyncClient("kitchen.wsdl").maybe(7)


class Service(kitchen.KitchenService):
    async def maybe(self, request: int | None) -> int | None:
        return request

    def both(self, request: kitchen.BothRequest) -> str:
        return request.words

    def print(
        self, request: kitchen.Print, headers: kitchen.PrintHeaders
    ) -> tuple[kitchen.PrintResponse, kitchen.PrintAnswerHeaders]:
        return kitchen.PrintResponse(label=request.label), kitchen.PrintAnswerHeaders(queue=bsoap.NIL)

    def sum(self, request: kitchen.Sum) -> int:  # type: ignore[override]
        return 1


def note(recipe: kitchen.Recipe) -> str:
    if recipe.note is bsoap.NIL or recipe.note is None:
        return ""
    return recipe.note


def minutes(error: kitchen.BurntError) -> int:
    return error.detail.minutes


members: dict[str, object] = typed.dump(kitchen.Knife(name="k", length=1.5))
"""


def generate(wsdl: Path, *options: str) -> str:
    command = os.environ.get("BSOAP_COMMAND")
    start = command.split() if command else [sys.executable, "-m", "bsoap"]
    ran = subprocess.run(
        [*start, "generate", "--lang", "python", str(wsdl), *options], capture_output=True, text=True, encoding="utf-8"
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Pickles name the module.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module for each WSDL that is there."""
    folder = tmp_path_factory.mktemp("generated")
    for name, wsdl, options in CHECKED:
        if wsdl.exists():
            (folder / f"{name}.py").write_text(generate(wsdl, *options), encoding="utf-8")
    (folder / "user.py").write_text(USER, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def kitchen() -> ModuleType:
    return load_module(GENERATED / "kitchen.py")


@pytest.fixture(scope="module")
def wsdl() -> bsoap.Wsdl:
    return bsoap.Wsdl(str(TESTDATA / "kitchen.wsdl"))


def test_mypy_finds_nothing_in_modules_and_what_is_wrong_in_their_use(folder: Path) -> None:
    pytest.importorskip("mypy")
    # Unused ignores are errors, so each of them is checked to be needed.
    names = sorted(path.name for path in folder.glob("*.py"))
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", *names],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_ruff_finds_nothing(folder: Path) -> None:
    pytest.importorskip("ruff")
    ran = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E4,E7,E9,F", "--no-cache", str(folder)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_modules_are_imported_and_all_their_classes_compile(folder: Path) -> None:
    for path in sorted(folder.glob("*.py")):
        if path.stem == "user":
            continue
        module = load_module(path)
        for cls in list(vars(module).values()):
            if isinstance(cls, type) and issubclass(cls, typed.Struct) and cls.__module__ == path.stem:
                # An object without members lacks those that are required; otherwise it loads.
                try:
                    made = typed.load(cls, {})
                except (bsoap.DecodeError, AttributeError):
                    continue
                assert typed.dump(made) is not None


def test_the_embedded_wsdl_is_loaded_from_the_module() -> None:
    module = load_module(GENERATED / "kitchen_wire.py")
    assert "kitchen.wsdl" in module.wsdl().documents
    assert "Cook" in module.KitchenClient().inner.operations


def recipe(kitchen: ModuleType, id: str, **members: Any) -> Any:
    source = kitchen.RecipeSource(value="u", value_attribute="v", any_attribute={"{urn:x}y": "1"})
    rest = {"heat": kitchen.Heat.LOW, "weights": [1.5, 2.0], "empty": kitchen.RecipeEmpty(), **members}
    return kitchen.Recipe(title="t", id=id, source=source, **rest)


def requests(kitchen: ModuleType) -> list[tuple[Any, Any, Any]]:
    knife = kitchen.Knife(name="k", length=1.5)
    like = recipe(kitchen, "i3", until=datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC))
    box = kitchen.Box(name="b", inside=[knife, kitchen.Box(name="c")])
    whole = recipe(
        kitchen,
        "i1",
        minutes=3,
        note=bsoap.NIL,
        rating=[1, None, 3],
        add=["a", "b"],
        wait=[5],
        tool=knife,
        knife=bsoap.NIL,
        size=kitchen.RecipeSize(width=1.0),
        text=kitchen.RecipeText(content=["x", {"b": "y"}]),
        any=['<x xmlns="urn:o"/>'],
        variation=[recipe(kitchen, "i2", heat="3", like=like, portions=4, knife=box)],
        photo=b"abc",
        title_attribute="ta",
    )
    label = kitchen.Label(
        packed=datetime.datetime(2024, 1, 1),
        keeps=datetime.timedelta(days=1),
        vintage="2000",
        price=decimal.Decimal("1.50"),
        count=10**20,
        seal=b"\xab",
        opens=bsoap.NIL,
        discounts=[decimal.Decimal("1.5")],
    )
    ticket = kitchen.TicketBlock(number=7, must_understand="1")
    return [
        (kitchen._COOK, kitchen.Cook(recipe=whole), kitchen.CookHeaders(ticket=ticket)),
        (kitchen._SHARPEN, box, None),
        (kitchen._MAYBE, 5, None),
        (kitchen._MAYBE, None, None),
        (kitchen._SUM, kitchen.Sum(a=1, match=[1.5, float("inf")]), None),
        (kitchen._LOOP, None, None),
        (kitchen._PRINT, kitchen.Print(label=label), kitchen.PrintHeaders(queue=kitchen.QueueBlock(value=5))),
        (kitchen._PRINT, kitchen.Print(label=label), kitchen.PrintHeaders(ticket=ticket, queue=bsoap.NIL)),
    ]


def test_what_is_dumped_is_loaded_again_from_the_message(kitchen: ModuleType, wsdl: bsoap.Wsdl) -> None:
    for operation, request, headers in requests(kitchen):
        blocks = None if headers is None else typed.dump(headers)
        text = bsoap.codec.encode(wsdl, operation.name, operation.body(request), soap_headers=blocks)
        decoded = bsoap.codec.decode_request(wsdl, text)
        assert operation.request(decoded.value) == request
        if headers is not None:
            assert typed.load(type(headers), decoded.headers) == headers


def test_arrays_of_numbers_stay_arrays_of_numpy(kitchen: ModuleType, wsdl: bsoap.Wsdl) -> None:
    numpy = pytest.importorskip("numpy")
    request = kitchen.Sum(a=1, match=numpy.array([1.5, 2.5]))
    text = bsoap.codec.encode(wsdl, "Sum", kitchen._SUM.body(request))
    loaded = kitchen._SUM.request(bsoap.codec.decode_request(wsdl, text).value)
    assert isinstance(loaded.match, numpy.ndarray)
    assert loaded == request == kitchen.Sum(a=1, match=[1.5, 2.5])
    assert loaded != kitchen.Sum(a=1, match=[1.5])


def test_structured_arrays_become_instances() -> None:
    numpy = pytest.importorskip("numpy")
    module = load_module(GENERATED / "calculator.py")
    rows = numpy.array([(1, 2), (3, 4)], dtype=[("a", "i8"), ("b", "i8")])

    class Sums(typed.Struct):
        __slots__ = ("sums",)

    typed.describe(Sums, sums=typed.values("sums", module.Add))
    loaded = typed.load(Sums, {"sums": rows})
    assert loaded.sums == [module.Add(a=1, b=2), module.Add(a=3, b=4)]  # type: ignore[attr-defined]


def test_absent_and_nil_are_told_apart(kitchen: ModuleType) -> None:
    whole = typed.dump(recipe(kitchen, "i", note=bsoap.NIL))
    assert whole["note"] is bsoap.NIL and whole["portions"] is None and "base" not in whole
    loaded = typed.load(kitchen.Recipe, {**whole, "note": None})
    assert loaded.note is bsoap.NIL and loaded.base is None
    del whole["note"]
    assert typed.load(kitchen.Recipe, whole).note is None


def test_values_that_an_enumeration_does_not_list_are_kept_unless_it_is_closed(kitchen: ModuleType) -> None:
    members = typed.dump(recipe(kitchen, "i", heat="lukewarm"))
    loaded = typed.load(kitchen.Recipe, members)
    assert loaded.heat == "lukewarm" and not isinstance(loaded.heat, kitchen.Heat)
    wire = load_module(GENERATED / "kitchen_wire.py")
    with pytest.raises(bsoap.DecodeError, match="lukewarm"):
        typed.load(wire.Recipe, members)


def test_derived_types_are_named_and_others_refused(kitchen: ModuleType) -> None:
    assert kitchen._SHARPEN.body(kitchen.Knife(name="k", length=1.5)) == {
        "tool": {"@type": "Knife", "name": "k", "length": 1.5}
    }
    with pytest.raises(TypeError, match="Sum is none of the types"):
        kitchen._SHARPEN.body(kitchen.Sum(a=1, match=[]))
    with pytest.raises(bsoap.DecodeError, match="names none of the types Knife, Box"):
        kitchen._SHARPEN.request({"name": "k"})


def test_what_is_missing_is_named(kitchen: ModuleType) -> None:
    with pytest.raises(bsoap.DecodeError, match="the message is no Sum: it has no member 'a'"):
        typed.load(kitchen.Sum, {"match": [1.5]})
    with pytest.raises(bsoap.DecodeError, match="this is no answer of Sum"):
        kitchen._SUM.answer({})


def test_instances_are_shown_without_defaults_compared_and_pickled(kitchen: ModuleType) -> None:
    sum_ = kitchen.Sum(a=1, match=[1.5])
    assert repr(sum_) == "Sum(a=1, match=[1.5])"
    assert sum_ != kitchen.SumResponse(sum=1.0) and sum_ != 1
    assert pickle.loads(pickle.dumps(sum_)) == sum_


class Inner:
    """What a client needs of the client underneath."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []

    def call(self, operation: str, body: Any, **options: Any) -> Any:
        self.calls.append((operation, body, options))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client_over(kitchen: ModuleType, answer: Any) -> tuple[Any, Inner]:
    client = kitchen.KitchenClient.__new__(kitchen.KitchenClient)
    client.inner = Inner(answer)
    return client, client.inner


def test_a_client_sends_and_reads_instances(kitchen: ModuleType) -> None:
    client, inner = client_over(kitchen, bsoap.Object({"sum": 4.0}))
    assert client.with_options(timeout=2.0).sum(kitchen.Sum(a=1, match=[3.0])) == kitchen.SumResponse(sum=4.0)
    assert client.sum({"a": 1, "match": []}).sum == 4.0
    assert inner.calls == [
        ("Sum", {"a": 1, "match": [3.0]}, {"timeout": 2.0}),
        ("Sum", {"a": 1, "match": []}, {}),
    ]
    client, inner = client_over(kitchen, None)
    assert client.maybe(None) is None
    headers = kitchen.CookHeaders(ticket=kitchen.TicketBlock(number=7))
    with pytest.raises(bsoap.DecodeError):
        client.with_options(soap_headers={"more": 1}).cook(kitchen.Cook(recipe=recipe(kitchen, "i")), headers=headers)
    assert inner.calls[-1][2] == {"soap_headers": {"more": 1, "ticket": {"number": 7}}}


def test_declared_faults_are_raised_as_their_exceptions(kitchen: ModuleType) -> None:
    fault = bsoap.Fault("burnt", "Sender", detail=bsoap.Object({"Burnt": {"minutes": 3}}))
    client, _ = client_over(kitchen, fault)
    with pytest.raises(kitchen.BurntError, match="burnt") as caught:
        client.cook(kitchen.Cook(recipe=recipe(kitchen, "i")))
    assert caught.value.detail == kitchen.Burnt(minutes=3)
    assert (caught.value.code, caught.value.message) == ("Sender", "burnt")
    client, _ = client_over(kitchen, bsoap.Fault("other"))
    with pytest.raises(bsoap.Fault) as other:
        client.cook(kitchen.Cook(recipe=recipe(kitchen, "i")))
    assert type(other.value) is bsoap.Fault


class Registered:
    """What the function that registers a service needs of a service."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def operation(self, name: str) -> Any:
        return lambda handler: self.handlers.setdefault(name, handler)


def test_a_service_gets_and_returns_instances(kitchen: ModuleType) -> None:
    import asyncio

    class Service(kitchen.KitchenService):  # type: ignore[misc, name-defined]
        def sum(self, request: Any) -> Any:
            assert isinstance(request, kitchen.Sum)
            return kitchen.SumResponse(sum=float(request.a))

        async def maybe(self, request: int | None) -> int | None:
            return request

        def cook(self, request: Any, headers: Any) -> Any:
            raise kitchen.BurntError("burnt", kitchen.Burnt(minutes=headers.ticket.number))

        def print(self, request: Any, headers: Any) -> Any:
            return kitchen.PrintResponse(label=request.label), kitchen.PrintAnswerHeaders(queue=bsoap.NIL)

    registered = Registered()
    assert kitchen.serve_kitchen(Service(), registered) is registered
    assert sorted(registered.handlers) == ["Cook", "Maybe", "Print", "Sum"]
    assert registered.handlers["Sum"]({"a": 3, "match": []}) == {"sum": 3.0}
    assert asyncio.run(registered.handlers["Maybe"](7)) == {"maybe": 7}
    members = {"recipe": typed.dump(recipe(kitchen, "i")), "@headers": {"ticket": {"number": 7}}}
    with pytest.raises(kitchen.BurntError) as caught:
        registered.handlers["Cook"](members)
    assert caught.value.detail == {"Burnt": {"minutes": 7}}
    label = kitchen.Label(
        packed="x", keeps="P1D", vintage="2000", price=decimal.Decimal(1), count=1, seal=b"", opens=None
    )
    answered = registered.handlers["Print"]({"label": typed.dump(label)})
    assert answered == {"label": typed.dump(label), "@headers": {"queue": bsoap.NIL}}


def test_an_instance_sent_as_any_type_names_its_type(kitchen: ModuleType) -> None:
    class Holder(typed.Struct):
        __slots__ = ("any", "many")

    typed.describe(Holder, any=typed.value("any", typed.anything), many=typed.values("many", typed.anything))
    holder = typed.load(Holder, {"any": "text", "many": [1, {"a": 2}]})
    assert typed.dump(holder) == {"any": "text", "many": [1, {"a": 2}]}
    holder.any = kitchen.Knife(name="k", length=1.5)  # type: ignore[attr-defined]
    assert typed.dump(holder)["any"] == {"@xsi:type": "{urn:bsoap:kitchen}Knife", "name": "k", "length": 1.5}


def test_the_examples_of_the_guide_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs/guide/python/generated.md").read_text()
    client, service = (block.split("```")[0] for block in text.split("```python\n")[1:])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    wsdl = ROOT / "examples/telemetry/telemetry.wsdl"
    Path("telemetry.wsdl").write_bytes(wsdl.read_bytes())
    Path("telemetry.py").write_text(generate(wsdl))
    names: dict[str, Any] = {"__name__": "guide"}
    exec(service, names)
    with names["service"].start() as running:
        located = wsdl.read_text().replace("http://localhost:8080/telemetry", running.url)
        Path("telemetry.wsdl").write_text(located)
        exec(client, names)
    assert capsys.readouterr().out == "2\na reading is out of range 60.0\n"
    monkeypatch.delitem(sys.modules, "telemetry")
