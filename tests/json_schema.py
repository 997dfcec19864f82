"""The part of JSON Schema (draft 4) that our schemas use, so that the tests need
no package for it. A keyword that is not known here is an error: it would
otherwise hold for everything."""

import re

TYPES = {
    "array": list, "object": dict, "string": str, "integer": int,
    "boolean": bool, "null": type(None),
}
NOTES = {"$schema", "title", "description", "definitions", "format"}


def is_type(value, name):
    if name == "integer" and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


def breaches(value, schema, root=None, where="$"):
    """What in `value` is not as `schema` has it, as sentences."""
    root = root or schema
    found = []
    for keyword, wanted in schema.items():
        found += KEYWORDS[keyword](value, wanted, schema, root, where) \
            if keyword not in NOTES else []
    return found


def ref(value, wanted, _, root, where):
    target = root
    for step in wanted.removeprefix("#/").split("/"):
        target = target[step]
    return breaches(value, target, root, where)


def type_(value, wanted, _, __, where):
    names = wanted if isinstance(wanted, list) else [wanted]
    if any(is_type(value, name) for name in names):
        return []
    return [f"{where}: {value!r} is not {wanted}"]


def enum(value, wanted, _, __, where):
    return [] if value in wanted else [f"{where}: {value!r} is not of {wanted}"]


def pattern(value, wanted, _, __, where):
    if not isinstance(value, str) or re.search(wanted, value):
        return []
    return [f"{where}: {value!r} is not like {wanted}"]


def minimum(value, wanted, _, __, where):
    if not isinstance(value, int) or value >= wanted:
        return []
    return [f"{where}: {value} is below {wanted}"]


def required(value, wanted, _, __, where):
    if not isinstance(value, dict):
        return []
    return [f"{where}: no {name}" for name in wanted if name not in value]


def properties(value, wanted, _, root, where):
    if not isinstance(value, dict):
        return []
    return [line for name, schema in wanted.items() if name in value
            for line in breaches(value[name], schema, root, f"{where}.{name}")]


def additional(value, wanted, schema, root, where):
    if not isinstance(value, dict):
        return []
    return [line for name in value if name not in schema.get("properties", {})
            for line in breaches(value[name], wanted, root, f"{where}.{name}")]


def items(value, wanted, _, root, where):
    if not isinstance(value, list):
        return []
    return [line for i, item in enumerate(value)
            for line in breaches(item, wanted, root, f"{where}[{i}]")]


def all_of(value, wanted, _, root, where):
    return [line for schema in wanted
            for line in breaches(value, schema, root, where)]


def any_of(value, wanted, _, root, where):
    tried = [breaches(value, schema, root, where) for schema in wanted]
    return [] if not all(tried) else min(tried, key=len)


KEYWORDS = {
    "$ref": ref, "type": type_, "enum": enum, "pattern": pattern,
    "minimum": minimum, "required": required, "properties": properties,
    "additionalProperties": additional, "items": items, "allOf": all_of,
    "anyOf": any_of,
}
