"""What is wrong with the arguments of a call, in words that name field, given value and what is allowed."""

from typing import TYPE_CHECKING

from pydantic import ValidationError

from zomem_graph.nodes.rules.counting import number_of

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["what_is_wrong"]

_MOST = 3
_SHOULD = "Input should be "
_ALLOWED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def what_is_wrong(error: ValidationError) -> str:
    """Return one sentence for each of the first few faults: "importance must be at most 2, not 9."."""
    faults = error.errors(include_url=False)
    told = list(dict.fromkeys(_told(".".join(map(str, one["loc"])), one) for one in faults))
    more = f" Also wrong: {number_of(len(told) - _MOST, 'more arguments')}." if len(told) > _MOST else ""
    return " ".join(told[:_MOST]) + more


def _told(field: str, fault: "ErrorDetails") -> str:
    kind, said, given = fault["type"], fault["msg"], fault["input"]
    if kind in ("missing", "missing_argument"):
        return f"{field} is missing."
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{field} is no argument of it."
    allowed = _ALLOWED.get(kind) or said.removeprefix(_SHOULD)
    allowed = allowed.replace("less than or equal to", "at most").replace("greater than or equal to", "at least")
    return f"{field} must be {allowed}, not {given!r:.60}."
