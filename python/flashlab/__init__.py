"""flashlab: programs for a small machine, run, counted, traced and graded from Python.

    import flashlab
    run = flashlab.program("softmax_online").run(n=64)     # run["loads"] == 128
    flashlab.program("softmax_online").cost()["loads"]     # "2n", exact for every n >= 1
    flashlab.program("my.toy").trace(n=4)                  # in a notebook: the player
    flashlab.grade("class/", "08")                         # a row for each student
    O = flashlab.attention(Q, K, V, mask="causal")         # of NumPy arrays, on all cores

The answers have the keys of the command's --json (docs/json_interface.md). Nothing but the standard
library is required; NumPy arrays are accepted as inputs, and SymPy makes expressions of formulas.

Errors   ProgramError, RequestError, LimitError: place, value, what was expected; all are FlashlabError
Process  requests go to one `flashlab answer` process, which a later request starts again if it ended
Command  $FLASHLAB, else the one installed with this module, else the one on the PATH
"""
from flashlab._attention import attention, attention_backward, attention_forward
from flashlab._command import CommandError, command
from flashlab._grading import grade
from flashlab._program import Cost, Program, Run, Trace, program, programs
from flashlab._session import (FlashlabError, LimitError, ProgramError, RequestError, Session, call,
                               default_session)

__all__ = [
    "CommandError", "Cost", "FlashlabError", "LimitError", "Program", "ProgramError", "RequestError",
    "Run", "Session", "Trace", "attention", "attention_backward", "attention_forward", "call",
    "command", "default_session", "grade", "program", "programs"
]
