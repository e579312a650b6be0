"""Programs, their runs, costs and traces."""
import html
import os
import pathlib
import re
from typing import Any, Dict, List, Mapping, Optional, Union

from flashlab._session import Session, default_session

Inputs = Mapping[str, Any]


class Run(Dict[str, Any]):
    """A run's counters and outputs, with the keys of `flashlab run --json`."""

    @property
    def outputs(self) -> Dict[str, Any]:
        """The output arrays as nested lists. -inf is a float here; None was never written."""
        return {name: _numbers(values) for name, values in self["outputs"].items()}

    def arrays(self) -> Dict[str, Any]:
        """Returns the output arrays as NumPy arrays of float64, where None becomes NaN."""
        import numpy  # pylint: disable=import-outside-toplevel
        return {name: numpy.array(values, dtype=float) for name, values in self.outputs.items()}


class Cost(Dict[str, Any]):
    """Formulas by counter: cost["loads"] == "2n". `value` has the numbers, `domain` the sizes for which
    the formulas are exact, `whole` all of `flashlab cost --json`."""

    def __init__(self, answer: Dict[str, Any]):
        super().__init__(answer["formula"] or {})
        self.whole = answer
        self.domain: str = answer.get("domain") or ""
        self.value: Optional[Dict[str, Any]] = answer["value"]

    def sympy(self, counter: str) -> Any:
        """Returns a formula as a SymPy expression; a Piecewise if it has several pieces.

        Raises KeyError for an unknown counter, ValueError if it has no formula.
        """
        formula = self[counter]
        if not isinstance(formula, str):
            raise ValueError(f"{counter} has no formula for all sizes, expected one that has: " +
                             ", ".join(key for key, text in self.items() if isinstance(text, str)))
        return _expression(formula)


class Trace(Dict[str, Any]):
    """Every step of a run, with the keys of `flashlab trace --json`. A notebook shows the player."""

    def __init__(self, answer: Dict[str, Any], owner: "Program", request: Dict[str, Any]):
        super().__init__(answer)
        self._owner, self._request = owner, request

    def page(self) -> str:
        """Returns the player as one HTML page that needs no network."""
        page: str = self._owner._session.call({**self._request, "page": True})["page"]
        return page

    def _repr_html_(self) -> str:
        # sandbox: the page's script reaches nothing of the notebook.
        return ('<iframe sandbox="allow-scripts" title="the player" width="100%" height="640" '
                f'style="border:1px solid #8888;box-sizing:border-box" srcdoc="{html.escape(self.page(), quote=True)}">'
                "</iframe>")


class Program:
    """A program of the machine: its name and its text.

    The methods take a program's parameters by name (n=64) and, for machine and run, what the command
    has as flags:

    registers  registers of the machine, instead of the program's
    operands   "any", or "pinned": products take R0 and R1 only
    sram       bytes that the registers hold together, "48KiB", or a GPU's name
    cost       cycles of instructions: {"LOAD": 100, "MAC": "1/flop"}
    precision  "float" or "double": what a register holds
    inputs     {"x": values}: nested lists, a NumPy array, "random:7" or "constant:0"
    params     parameters whose names are taken by the above: {"cost": 3}

    Raises ProgramError, RequestError, LimitError.
    """

    def __init__(self, name: str, text: str, session: Optional[Session] = None):
        self.name, self.text = name, text
        self._session = session or default_session()

    def __repr__(self) -> str:
        return f"flashlab.program({self.name!r})"

    def run(self, **settings: Any) -> Run:
        """Runs the program. Returns its counters and outputs."""
        return Run(self._session.call(self._request("run", settings)))

    def cost(self, **settings: Any) -> Cost:
        """Counts without running, at any size. Returns formulas, and numbers if all parameters are
        known."""
        return Cost(self._session.call(self._request("cost", settings)))

    def trace(self, *, first: int = 1, last: Optional[int] = None, elide: bool = False,
              **settings: Any) -> Trace:
        """Runs the program and returns the steps from `first` to `last`; with `elide`, of each loop
        only the first, second and last round."""
        request = self._request("trace", settings)
        request["from"] = first
        if last is not None:
            request["to"] = last
        if elide:
            request["elide"] = True
        return Trace(self._session.call(request), self, request)

    def sweep(self, **settings: Any) -> List[Dict[str, Any]]:
        """Counts over a range of one parameter, n="8..1024*2" or n=[8, 16], or of registers. Returns a
        row for each value, for example for pandas.DataFrame."""
        points: List[Dict[str, Any]] = self._session.call(self._request("sweep", settings))["points"]
        return points

    def timeline(self, model: str = "both", buffers: int = 2, **settings: Any) -> Dict[str, Any]:
        """Returns when each instruction runs: in turn, and with loads running ahead."""
        request = {**self._request("timeline", settings), "model": model, "buffers": buffers}
        answer: Dict[str, Any] = self._session.call(request)
        return answer

    def _request(self, kind: str, settings: Dict[str, Any]) -> Dict[str, Any]:
        request: Dict[str, Any] = {"request": kind, "program": self.name,
                                   "files": {self.name: self.text}}
        params = dict(settings.pop("params", {}))
        for name in ("registers", "operands", "sram", "cost", "precision", "max_steps", "fit"):
            if settings.get(name) is not None:
                request[name] = settings[name]
            settings.pop(name, None)
        inputs: Inputs = settings.pop("inputs", {})
        if inputs:
            request["inputs"] = {name: _input(values) for name, values in inputs.items()}
        params.update(settings)
        request["params"] = {name: _plain(value) for name, value in params.items()}
        return request


def program(name: "Union[str, os.PathLike[str]]", session: Optional[Session] = None) -> Program:
    """Returns a program by the path of a file, or by the name of a bundled one: "softmax_online".

    Raises RequestError: there is no such file and no bundled program, with a similar name.
    """
    path = pathlib.Path(name)
    if path.is_file():
        return Program(path.name, path.read_text(encoding="utf-8"), session)
    answer = (session or default_session()).call({"request": "programs", "name": str(name)})
    return Program(answer["name"] + ".toy", answer["text"], session)


def programs() -> Dict[str, str]:
    """Returns the bundled programs: their names, and what each is."""
    return {row["name"]: row["title"] for row in default_session().call({"request": "programs"})}


def _plain(value: Any) -> Any:
    """Returns a number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _input(values: Any) -> Any:
    if hasattr(values, "tolist"):
        values = values.tolist()
    return values if isinstance(values, str) else _for_json(values)


def _for_json(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return [_for_json(value) for value in values]
    return "-inf" if values == -float("inf") else values


def _numbers(values: Any) -> Any:
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    return float(values) if isinstance(values, str) else values


def _expression(formula: str) -> Any:
    """Turns "4n*d + ceil(n/B) for n >= B; …" into an expression."""
    import sympy  # pylint: disable=import-outside-toplevel
    functions = {"ceil": sympy.ceiling, "floor": sympy.floor, "min": sympy.Min, "max": sympy.Max}
    names = {name: sympy.Symbol(name, integer=True)
             for name in re.findall(r"[A-Za-z_]\w*", formula) if name not in functions}

    def parsed(text: str) -> Any:
        starred = re.sub(r"(?<![\w.])(\d+)(?=[A-Za-z_(])", r"\1*", text)
        return sympy.sympify(starred.replace("^", "**"), locals={**names, **functions})

    pieces = [piece.split(" for ", 1) for piece in formula.split("; ")]
    if len(pieces) == 1 and len(pieces[0]) == 1:
        return parsed(formula)
    return sympy.Piecewise(*((parsed(piece[0]), sympy.And(*map(parsed, piece[1].split(", ")))
                              if len(piece) > 1 else True) for piece in pieces))
