"""regression - the SQL of PostgreSQL's own regression tests, from the source package of this machine's archive.

It is fetched where it is needed, into a directory that is thrown away, and is no part of this repository.
"""
import glob
import os
import re
import subprocess
import tarfile

SOURCES = "/etc/apt/sources.list.d/*.sources"
FOLDER = "/src/test/regress/"


def _archives():
    """The archives of the distribution, as archives of sources."""
    found = []
    for path in glob.glob(SOURCES):
        with open(path, encoding="utf-8") as file:
            found += [s for s in re.split(r"\n\s*\n", file.read()) if "debian" in s and re.search(r"^Types: .*deb", s, re.M)]
    return "\n\n".join(re.sub(r"^Types:.*", "Types: deb-src", stanza, flags=re.M) for stanza in found)


def fetch(directory, major):
    """{name: text} of the regression tests, in the order of their schedule; None where there is no source package."""
    def apt(*words):
        return subprocess.run(
            [*words[:1], "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={directory}/parts",
             "-o", f"Dir::State::Lists={directory}/lists", "-o", f"Dir::Cache={directory}/cache", *words[1:]],
            cwd=directory, capture_output=True, text=True, timeout=180, check=False)

    for name in ("parts", "lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(directory, name))
    with open(os.path.join(directory, "parts", "d.sources"), "w", encoding="utf-8") as file:
        file.write(_archives() + "\n")
    try:
        apt("apt-get", "update")
        versions = re.findall(r"^Version: (\S+)", apt("apt-cache", "showsrc", f"postgresql-{major}").stdout, re.M)
        # What an archive lists it may not have.
        while versions and not glob.glob(os.path.join(directory, "*.orig.tar.*")):
            apt("apt-get", "source", "--download-only", f"postgresql-{major}={versions.pop()}")
    except (OSError, subprocess.TimeoutExpired):
        return None
    archives = glob.glob(os.path.join(directory, "*.orig.tar.*[!c]"))
    return _read(archives[0]) if archives else None


def _read(archive):
    texts, schedule = {}, ""
    with tarfile.open(archive) as tar:
        for member in tar:
            _, found, name = member.name.partition(FOLDER)
            if found and name == "parallel_schedule":
                schedule = tar.extractfile(member).read().decode()
            elif found and re.fullmatch(r"sql/[\w.]+\.sql", name):
                texts[name[4:-4]] = tar.extractfile(member).read().decode("utf-8", "surrogateescape")
    names = " ".join(re.findall(r"^test: (.*)", schedule, re.M)).split()
    return {name: texts[name] for name in names if name in texts}


TOKEN = re.compile(r"""
    (?P<space>\s+|--[^\n]*) | (?P<comment>/\*) | (?P<string>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*') |
    (?P<name>"(?:[^"]|"")*") | (?P<dollar>\$(?:[^\W\d]\w*)?\$) | (?P<word>[^\W\d][\w$]*|\d[\w.]*) |
    (?P<variable>(?<!:):(?:'\w+'|"\w+"|[a-zA-Z_]\w*)) | (?P<command>\\(?:;|\S*)) | (?P<other>.)""", re.X | re.S)


def _end_of_comment(text, at):
    depth = 1
    for found in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def statements(text):
    """(statement, data of COPY or None), as psql would send them; not those that need its variables."""
    at = start = depth = atomic = 0
    usable, words = True, []
    while at < len(text):
        token = TOKEN.match(text, at)
        kind, part = token.lastgroup, token.group()
        at = token.end()
        if kind == "comment":
            at = _end_of_comment(text, at)
        elif kind == "dollar":
            end = text.find(part, at)
            at = end + len(part) if end >= 0 else len(text)
        elif kind == "variable":
            usable = False
        elif kind == "word":
            words.append(part.lower())
            routine = words[0] == "create" and {"function", "procedure"} & set(words[:4])
            if routine and words[-1] == "begin" or atomic and words[-1] == "case":
                atomic += 1
            elif atomic and words[-1] == "end":
                atomic -= 1
        elif part in "()":
            depth += 1 if part == "(" else -1
        ends = part == ";" and depth <= 0 and atomic == 0
        if kind == "command" and part != "\\;":
            line = text.find("\n", at)
            at = line if line >= 0 else len(text)
            ends = True
            usable = usable and part.startswith(("\\g", "\\crosstabview"))
        elif kind == "command":
            usable = False
        if not ends:
            continue
        sql = text[start:token.start()].strip()
        start, depth, atomic = at, 0, 0
        data = None
        if words[:1] == ["copy"] and ("from", "stdin") in zip(words, words[1:]):
            first = text.find("\n", at) + 1 or len(text)
            end = re.compile(r"^\\\.$", re.M).search(text, first)
            data = text[first:end.start() if end else len(text)]
            at = start = end.end() if end else len(text)
        if usable and words:
            yield sql, data
        usable, words = True, []
