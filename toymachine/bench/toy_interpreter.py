#!/usr/bin/env python3
"""A toy program run by a straightforward interpreter: registers in a list, arrays in dicts.

Usage: toy_interpreter.py PROGRAM.toy n=1000 [m=..]
Prints one JSON object: steps and seconds. Reads the subset of the language that the programs of the
benchmark use: for, the instructions, parameters, arrays of floats.
"""
import json
import math
import re
import sys
import time


def load(path):
    """The lines that do something, and the parameters' defaults."""
    lines, params = [], {}
    for raw in open(path, encoding="utf-8"):
        line = re.split("[;#]", raw)[0].strip()
        if line.startswith(".param"):
            for entry in line[len(".param"):].split(","):
                name, value = entry.split("=")
                params[name.strip()] = int(value)
        elif line and (not line.startswith(".") or line.split()[0] in (".input", ".output")):
            lines.append(line)
    return lines, params


def parse(lines):
    """Nested lists: ("for", var, lower, upper, body) or (mnemonic, operand...)."""
    arrays, stack = {}, [[]]
    for line in lines:
        word, _, rest = line.partition(" ")
        if word in (".input", ".output"):
            match = re.match(r"(\w+)((\[[^]]*\])+)", rest.strip())
            arrays[match[1]] = (word, re.findall(r"\[([^]]*)\]", match[2]))
        elif word == "for":
            var, lower, upper = re.match(r"(\w+)\s+in\s+(.+)\.\.(.+)", rest).groups()
            body = []
            stack[-1].append(("for", var, compile(lower, "", "eval"), compile(upper, "", "eval"), body))
            stack.append(body)
        elif word == "end":
            stack.pop()
        else:
            stack[-1].append((word.upper(), *[operand(o.strip()) for o in rest.split(",")]))
    return arrays, stack[0]


def operand(text):
    match = re.fullmatch(r"[Rr](\d+)", text)
    if match:
        return int(match[1])
    name = text[: text.index("[")]
    return name, [compile(i, "", "eval") for i in re.findall(r"\[([^]]*)\]", text)]


class Machine:
    def __init__(self, arrays, params):
        self.registers = [None] * 64
        self.scope = dict(params)
        self.steps = 0
        self.dram = {}
        for number, (name, (role, extents)) in enumerate(arrays.items()):
            sizes = [eval(e, {}, self.scope) for e in extents]
            self.dram[name] = {} if role == ".output" else self.values(sizes, number)

    @staticmethod
    def values(sizes, seed):
        cells = [()]
        for size in sizes:
            cells = [cell + (i,) for cell in cells for i in range(size)]
        return {cell: math.sin(1.7 * i + seed) for i, cell in enumerate(cells)}

    def index(self, operand):
        return tuple(eval(i, {}, self.scope) for i in operand[1])

    def run(self, body):
        r = self.registers
        for statement in body:
            op = statement[0]
            if op == "for":
                _, var, lower, upper, inner = statement
                for value in range(eval(lower, {}, self.scope), eval(upper, {}, self.scope)):
                    self.scope[var] = value
                    self.run(inner)
                continue
            self.steps += 1
            if op == "LOAD":
                r[statement[2]] = self.dram[statement[1][0]][self.index(statement[1])]
            elif op == "STORE":
                self.dram[statement[2][0]][self.index(statement[2])] = r[statement[1]]
            elif op == "MAC_Z":
                r[statement[3]] = r[statement[1]] * r[statement[2]]
            elif op == "MAC":
                r[statement[4]] = r[statement[1]] * r[statement[2]] + r[statement[3]]
            elif op == "MAX":
                r[statement[3]] = max(r[statement[1]], r[statement[2]])
            elif op == "SUB":
                r[statement[3]] = r[statement[1]] - r[statement[2]]
            elif op == "ADD":
                r[statement[3]] = r[statement[1]] + r[statement[2]]
            elif op == "MUL":
                r[statement[3]] = r[statement[1]] * r[statement[2]]
            elif op == "DIV":
                r[statement[3]] = r[statement[1]] / r[statement[2]]
            elif op == "EXP":
                r[statement[2]] = math.exp(r[statement[1]])
            elif op == "MOV":
                r[statement[2]] = r[statement[1]]
            else:
                sys.exit(f"unknown instruction {op}")


def main():
    lines, params = load(sys.argv[1])
    for entry in sys.argv[2:]:
        name, value = entry.split("=")
        params[name] = int(value)
    arrays, body = parse(lines)
    machine = Machine(arrays, params)
    start = time.perf_counter()
    machine.run(body)
    print(json.dumps({"steps": machine.steps, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
