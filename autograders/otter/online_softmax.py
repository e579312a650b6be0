"""The points of online_softmax.toy, which a cell of the notebook writes."""
import flashlab
from otter.test_files import test_case

OK_FORMAT = False
name = "online_softmax"
points = 10


def graded():
    return flashlab.grade("online_softmax.toy", 8, secret="secret.txt")[0]


@test_case(points=6, name="the result is right")
def test_right():
    row = graded()
    assert row["passed"], row["message"]


@test_case(points=4, name="it costs no more than full marks allow")
def test_costs():
    row = graded()
    assert row["outcome"] == "full", row["message"]
