"""Where a source could be wrong: small changes of C++ text, found in its tokens.

sites(path, text) yields every Site of a source. No parser stands behind it: operands are found by the
precedence of operators and by matching brackets, in text that clang-format has formatted. A change that
does not compile is left to the compiler to refuse.
"""

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
        |(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    |(?P<number>(?:0[xXbB][\da-fA-F']+|\d[\d']*\.?[\d']*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)[uUlLzZfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
    |(?P<space>\s+)""",
    re.VERBOSE | re.DOTALL,
)

# From loose to tight. What is not listed (names, numbers, brackets, ! ~ . -> ::) belongs to an operand.
PRECEDENCE = {op: level for level, ops in enumerate((
    (",",), ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "?", ":"), ("||",), ("&&",),
    ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<=>",), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"))) for op in ops}
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
STATEMENT_WORDS = {"return", "case", "else", "do", "throw", "co_return", "goto", "new", "delete", "using",
                   "typename", "struct", "class", "enum", "template", "operator", "co_yield"}
NOT_CALLED = STATEMENT_WORDS | {"if", "for", "while", "switch", "sizeof", "alignof", "decltype", "noexcept",
                                "catch", "requires", "static_assert", "alignas", "defined", "constexpr", "auto"}


@dataclasses.dataclass(frozen=True)
class Site:
    path: str
    line: int        # where the change is, from 1
    start_line: int  # of the text that is exchanged
    last_line: int
    start: int      # the text that is exchanged
    end: int
    kind: str
    was: str        # what the reader of a report sees
    becomes: str
    original: str   # text[start:end]
    mutant: str     # in its place

    def switched(self, number):
        """The text that is the original, or with a switch the mutant."""
        switch = f"flashlab_mutants::alive({number})"
        if self.kind == "dropped call":
            return f"({switch} ? void() : void({self.original}))"
        if self.kind == "dropped condition":
            return f"({switch} ? {self.mutant} : bool({self.original}))"
        return f"({switch} ? ({self.mutant}) : ({self.original}))"


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    line: int
    partner: int = -1  # of a bracket: the index of the other


def tokens_of(text):
    """Without spaces, comments and preprocessor lines."""
    lines, kept, skip = [], [], False
    for line in text.split("\n"):
        directive = skip or line.lstrip().startswith("#")
        skip = directive and line.endswith("\\")
        lines.append(" " * len(line) if directive else line)
    code, line = "\n".join(lines), 1
    for match in TOKEN.finditer(code):
        kind = match.lastgroup if match.lastgroup != "mark" else "text"
        if kind not in ("space", "comment"):
            kept.append(Token(kind, match.group(), match.start(), match.end(), line))
        line += match.group().count("\n")
    stack = []
    for index, token in enumerate(kept):
        if token.kind != "op":
            continue
        if token.text in "([{":
            stack.append(index)
        elif token.text in ")]}" and stack:
            kept[index].partner = stack.pop()
            kept[kept[index].partner].partner = index
    return kept


def level_of(tokens, index):
    """The precedence of a binary operator, or None: operators of two operands stand between blanks."""
    token = tokens[index]
    if token.kind != "op" or token.text not in PRECEDENCE or index + 1 >= len(tokens) or index == 0:
        return None
    before, after = tokens[index - 1], tokens[index + 1]
    if token.text == ",":
        return 0
    spaced = before.end < token.start and token.end < after.start
    return PRECEDENCE[token.text] if spaced else None


def left_end(tokens, index, level):
    """The first token of the operand that ends before tokens[index]."""
    first = index
    while first > 0:
        token = tokens[first - 1]
        if token.text in (")", "]", "}") and token.partner >= 0:
            first = token.partner
            continue
        if token.text in ("(", "[", "{", ";", "}") or token.text in STATEMENT_WORDS:
            break
        other = level_of(tokens, first - 1)
        if other is not None and other < level:
            break
        first -= 1
    return first


def right_end(tokens, index, level):
    """The last token of the operand that begins after tokens[index]."""
    last = index
    while last + 1 < len(tokens):
        token = tokens[last + 1]
        if token.text in ("(", "[", "{") and token.partner >= 0:
            last = token.partner
            continue
        if token.text in (")", "]", "}", ";", "{"):
            break
        other = level_of(tokens, last + 1)
        if other is not None and other <= level:
            break
        last += 1
    return last


def callee_start(tokens, opening):
    """The first token of what is called by the bracket at `opening`, or None if nothing is."""
    at = opening - 1
    if at < 0 or tokens[at].kind != "name" or tokens[at].text in NOT_CALLED:
        return None
    while at > 0:
        before = tokens[at - 1]
        if before.text not in ("::", ".", "->"):
            break
        at -= 1
        if at > 0 and tokens[at - 1].text in (")", "]") and tokens[at - 1].partner >= 0:
            at = tokens[at - 1].partner
            if at > 0 and tokens[at - 1].kind == "name":
                at -= 1
        elif at > 0 and tokens[at - 1].kind == "name":
            at -= 1
        else:
            return at if before.text == "::" else None
    return at


def arguments_of(tokens, opening):
    """[(first, last)] of the arguments between a bracket and its partner."""
    closing, found, first, at = tokens[opening].partner, [], opening + 1, opening + 1
    while at <= closing:
        token = tokens[at]
        if at == closing or token.text == ",":
            if at > first:
                found.append((first, at - 1))
            first = at + 1
        elif token.text in ("(", "[", "{") and token.partner > at:
            at = token.partner
        at += 1
    return found


def statement_has(tokens, index, words):
    """Whether one of `words` stands before tokens[index] in its statement or around it up to a brace."""
    at = index
    while at > 0 and tokens[at].text not in (";", "{", "}"):
        if tokens[at].text in words:
            return True
        at -= 1
    return False


def sites(path, text):
    tokens = tokens_of(text)

    def site(first, last, at, kind, was, becomes, mutant):
        start, end = tokens[first].start, tokens[last].end
        return Site(path, tokens[at].line, tokens[first].line, tokens[first].line + text[start:end].count("\n"), start, end, kind,
                    was, becomes, text[start:end], mutant)

    def text_of(first, last):
        return text[tokens[first].start:tokens[last].end]

    for index, token in enumerate(tokens):
        if statement_has(tokens, index, ("template", "requires", "concept", "static_assert", "enum", "using",
                                         "namespace", "case", "operator", "alignas")):
            continue
        level = level_of(tokens, index)
        if level is not None and token.text in (*COMPARISONS, "+", "-", "&&", "||", "+=", "-="):
            first, last = left_end(tokens, index, level), right_end(tokens, index, level)
            if first < index < last:
                left, right = text_of(first, index - 1), text_of(index + 1, last)
                changes = {**COMPARISONS, "+": "-", "-": "+", "&&": "||", "||": "&&", "+=": "-=", "-=": "+="}
                new = changes[token.text]
                kind = ("comparison" if token.text in COMPARISONS else
                        "condition" if token.text in ("&&", "||") else
                        "assignment" if "=" in token.text else "plus and minus")
                joined = '"' in left + right and token.text in ("+", "+=")  # texts have no difference
                if not joined:
                    yield site(first, last, index, kind, token.text, new, f"{left} {new} {right}")
        if token.kind == "number" or token.text in ("true", "false"):
            new = changed_constant(token.text)
            if new and not (index and tokens[index - 1].text == "<" and tokens[index - 1].end == token.start):
                yield site(index, index, index, "constant", token.text, new, new)
        if token.text == "(" and token.partner > index:
            yield from calls(tokens, index, site, text_of)


def changed_constant(number):
    if number in ("true", "false"):
        return "false" if number == "true" else "true"
    match = re.fullmatch(r"(\d+)([uUlLzZ]*)", number)
    if match:
        return f"{int(match[1]) + 1}{match[2]}" if match[1] == "0" or match[1][0] != "0" else None
    match = re.fullmatch(r"(\d+\.\d*)([fF]?)", number)
    return f"{float(match[1]) + 1}{match[2]}" if match else None


def calls(tokens, opening, site, text_of):
    """Changes of what a round bracket opens: a call, or a condition."""
    closing = tokens[opening].partner
    before = tokens[opening - 1] if opening else None
    if before and before.text == "if" and not any(t.text in (";", "=") for t in tokens[opening:closing]):
        if closing > opening + 1:
            for value in ("true", "false"):
                condition = text_of(opening + 1, closing - 1)
                yield site(opening + 1, closing - 1, opening + 1, "dropped condition", f"if ({condition})",
                           f"if ({value})", value)
    first = callee_start(tokens, opening)
    if first is None:
        return
    name = tokens[opening - 1]
    if name.text in ("min", "max"):
        new = "max" if name.text == "min" else "min"
        call, at = text_of(first, closing), name.start - tokens[first].start
        yield site(first, closing, opening - 1, "min and max", name.text, new,
                   call[:at] + new + call[at + len(name.text):])
    after = tokens[closing + 1].text if closing + 1 < len(tokens) else ""
    if after == ";" and first > 0 and tokens[first - 1].text in (";", "{", "}", ")", "else"):
        yield site(first, closing, first, "dropped call", f"{text_of(first, opening - 1)}(...)", "nothing", "void()")
    arguments = arguments_of(tokens, opening)
    for one, two in zip(arguments, arguments[1:]):
        a, b = text_of(*one), text_of(*two)
        if a == b or max(len(a), len(b)) > 60 or "{" in a + b:
            continue
        head, tail = text_of(first, one[0])[:-len(tokens[one[0]].text)], text_of(two[1], closing)
        tail = tail[len(tokens[two[1]].text):]
        yield site(first, closing, one[0], "swapped arguments", f"{name.text}({a}, {b})", f"({b}, {a})",
                   f"{head}{b}, {a}{tail}")
