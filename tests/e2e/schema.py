# SPDX-License-Identifier: Apache-2.0
"""Whether a value is what a JSON Schema says, for the words our schemas use and no others.

Stricter than a client's: a member that its schema does not name is a fault.
"""

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
WORDS = {"type", "properties", "required", "items", "enum", "anyOf"}


def faults(value, schema, where="result"):
    """What is wrong with a value, one sentence each."""
    found = []
    if unknown := schema.keys() - WORDS:
        raise AssertionError(f"{where}: this validator does not know {unknown}")
    kind = schema.get("type")
    if kind and (not isinstance(value, KINDS[kind]) or
                 (kind == "integer" and isinstance(value, bool))):
        return [f"{where} is no {kind}: {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is none of {schema['enum']}: {value!r}")
    if isinstance(value, dict):
        found += object_faults(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += faults(item, schema["items"], f"{where}[{number}]")
    if "anyOf" in schema and all(faults(value, one, where) for one in schema["anyOf"]):
        found.append(f"{where} is none of the alternatives: {value!r}")
    return found


def object_faults(value, schema, where):
    """What is wrong with the members of an object."""
    known = schema.get("properties", {})
    found = [f"{where}.{name} is missing" for name in schema.get("required", [])
             if name not in value]
    for name, member in value.items():
        if name in known:
            found += faults(member, known[name], f"{where}.{name}")
        elif known:
            found.append(f"{where}.{name} should not be there")
    return found
