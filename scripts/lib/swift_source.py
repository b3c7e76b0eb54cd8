"""What scripts/lib/lint-docs reads of a Swift file: its declarations, and its comments."""

import re
from dataclasses import dataclass, field

ATTRIBUTE = r"(?:@\w+(?:\([^)]*\))?\s+)*"
MODIFIERS = (
    r"((?:(?:public|package|open|internal|private|fileprivate|static|class|final|mutating|nonmutating|nonisolated|"
    r"override|convenience|required|indirect|lazy|weak|unowned|dynamic|isolated|prefix|postfix|infix|borrowing|"
    r"consuming|distributed|async)(?:\((?:set|unsafe|safe|nonsending)\))?\s+)*)")
DECLARATION = re.compile(
    r"^\s*" + ATTRIBUTE + MODIFIERS +
    r"(struct|enum|class|actor|protocol|extension|func|init|deinit|subscript|var|let|case|typealias|associatedtype|"
    r"macro|precedencegroup|operator)\b(?!:)")
TYPES = {"struct", "enum", "class", "actor", "protocol"}
LITERAL = re.compile(r'#*"""|#*"')
PATTERN = re.compile(r"(?<=[(=,:{ ])/(?![/*\s=])(?:\\.|[^/\n\\])+/(?=[).,\s])")
PLAIN = re.compile(r'[^"#/]+|[#/]')


@dataclass
class Declaration:
    """A declaration of a file scope, a type, an extension or a protocol."""

    keyword: str
    name: str
    """Dotted, and with argument labels: `Timestamp.init(seconds:)`."""
    modifiers: set
    line: int
    documentation: str
    """The text of its `///` comment, empty without one."""
    inherits: list = field(default_factory=list)
    """What a type, an extension or a protocol names after its colon."""
    parent: "Declaration" = None

    @property
    def last(self):
        return self.name.rsplit(".", 1)[-1] if "(" not in self.name else re.sub(r"^(?:[\w<>, ]+\.)*(?=[^.]+\()", "", self.name)


def blanked(text):
    """The text with what is in literals and comments made blank, and the comments, as (line, is documentation, text)."""
    out, comments, n = [], [], 0
    line = 1

    def skip(to):
        nonlocal n, line
        piece = text[n:to]
        out.append(re.sub(r"[^\n]", " ", piece))
        line += piece.count("\n")
        n = to

    while n < len(text):
        two = text[n:n + 2]
        if two == "//":
            end = text.find("\n", n)
            end = len(text) if end < 0 else end
            comment = text[n:end]
            is_documentation = comment.startswith("///")
            comments.append((line, is_documentation, comment.lstrip("/").removeprefix(" ") if is_documentation else comment[2:].strip()))
            skip(end)
        elif two == "/*":
            depth, end = 1, n + 2
            while depth and end < len(text):
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
            comments.append((line, False, text[n + 2:end - 2]))
            skip(end)
        elif match := LITERAL.match(text, n):
            out.append(" ")
            skip_from = match.end()
            skip(literal_end(text, skip_from, match.group()))
        elif match := PATTERN.match(text, n):
            skip(match.end())
        else:
            piece = PLAIN.match(text, n).group()
            out.append(piece)
            line += piece.count("\n")
            n += len(piece)
    return "".join(out), comments


def literal_end(text, n, opening):
    """Where a string literal ends that was opened before `n`. What it interpolates is skipped with it."""
    hashes = opening.count("#")
    closing = opening.lstrip("#") + "#" * hashes
    escape = "\\" + "#" * hashes
    while n < len(text):
        if text.startswith(closing, n):
            return n + len(closing)
        if text.startswith(escape, n):
            n += len(escape)
            if text.startswith("(", n):
                depth, n = 1, n + 1
                while depth and n < len(text):
                    if match := LITERAL.match(text, n):
                        n = literal_end(text, match.end(), match.group())
                        continue
                    depth += (text[n] == "(") - (text[n] == ")")
                    n += 1
            else:
                n += 1
        else:
            n += 1
    return n


def labels(text):
    """The argument labels of a parameter list that begins at the first parenthesis: `(seconds:)`."""
    depth, parts, part = 0, [], ""
    for character in text[text.index("("):]:
        if character in "([{<":
            depth += 1
            if depth == 1:
                continue
        elif character in ")]}>" and not part.endswith("-"):
            depth -= 1
            if depth == 0:
                break
        if character == "," and depth == 1:
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    found = (re.match(r"\s*([\w`]+)(?:\s+[\w`]+)?\s*:|(?=.*\S)", part, re.DOTALL) for part in parts)
    return "(" + "".join((match.group(1) or "_") + ":" for match in found if match) + ")"


def split(text):
    """What is separated by commas outside of parentheses."""
    depth, parts, part = 0, [], ""
    for character in text:
        depth += character in "([{<"
        depth -= character in ")]}>"
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return parts + [part]


def names(keyword, rest):
    """The names that a declaration gives, which begins with `rest` after its keyword."""
    if keyword in TYPES or keyword in ("extension", "typealias", "associatedtype", "macro"):
        match = re.match(r"\s*([\w.`]+)", rest)
        return [match.group(1)] if match else []
    if keyword == "func":
        match = re.match(r"\s*([\w`]+|[^\s\w(]+)\s*(?:<[^(]*>)?\s*\(", rest)
        return [match.group(1) + labels(rest[match.end() - 1:])] if match else []
    if keyword in ("init", "subscript"):
        return [keyword + labels(rest)] if "(" in rest else []
    head = rest.split("{")[0] if keyword != "case" else rest
    head = re.split(r"\n\s*(?:///|//|case\b|public\b|var\b|let\b|func\b|static\b|init\b|private\b|}|@|#)", head)[0]
    if keyword == "case":
        found = []
        for part in split(head):
            if match := re.match(r"\s*([\w`]+)\s*(\()?", part):
                found.append(match.group(1) + (labels(part[match.end() - 1:]) if match.group(2) else ""))
        return [name.replace("()", "") for name in found]
    match = re.match(r"\s*\(?((?:[\w`]+\s*,\s*)*[\w`]+)", head)
    return re.split(r"\s*,\s*", match.group(1)) if match else []


def declarations(text):
    """The declarations of a file, outermost first, and its comments."""
    blank, comments = blanked(text)
    documentation = {line: comment for line, is_documentation, comment in comments if is_documentation}
    lines = blank.split("\n")
    found = []
    # What each open brace belongs to: a type, an extension or a protocol, or None for everything else.
    scopes, parentheses, pending = [], 0, None
    start = 0
    for number, line in enumerate(lines, 1):
        scope = scopes[-1] if scopes else "file"
        if scope is not None and not parentheses and (match := DECLARATION.match(line)):
            modifiers = set(re.findall(r"[\w()]+", match.group(1)))
            keyword = match.group(2)
            rest = blank[start + match.end():]
            parent = None if scope == "file" else scope
            inherits = []
            head = rest.split("{")[0]
            if keyword in TYPES or keyword == "extension":
                clause = re.sub(r"<[^>]*>", "", head.split("\n\n")[0])
                if ":" in clause:
                    clause = re.split(r"\bwhere\b", clause.split(":", 1)[1])[0]
                    inherits = [re.sub(r"@\w+\s+", "", piece).strip() for piece in clause.split(",")]
            first = number - 1
            while first > 0 and lines[first - 1].strip().startswith(("@", "#if")):
                first -= 1
            said = []
            while first in documentation:
                said.insert(0, documentation[first])
                first -= 1
            made = None
            for name in names(keyword, rest):
                full = f"{parent.name}.{name}" if parent else name
                made = Declaration(keyword, full, modifiers, number, "\n".join(said), inherits, parent)
                found.append(made)
            pending = made if keyword in TYPES or keyword == "extension" else None
        for character in line:
            if character == "{":
                scopes.append(pending if not parentheses else None)
                pending = None
            elif character == "}":
                if scopes:
                    scopes.pop()
            elif character in "([":
                parentheses += 1
            elif character in ")]":
                parentheses -= 1
        start += len(line) + 1
    return found, comments
