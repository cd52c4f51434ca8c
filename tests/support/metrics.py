"""metrics - reads pgwicket's page of metrics."""
import re
import urllib.request

LINE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def fetch(url):
    """The page as text, and its Content-Type."""
    with urllib.request.urlopen(url + "/metrics", timeout=20) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


class Page(dict):
    """{(name, (label values in the order of the page)): number}"""

    def __init__(self, text):
        super().__init__()
        self.text = text
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            name, labels, value = LINE.match(line).groups()
            values = tuple(value for _, value in LABEL.findall(labels or ""))
            if (name, values) in self:
                raise AssertionError(f"{name}{values} is there twice")
            self[name, values] = float(value)

    def value(self, name, *labels):
        return self.get(("pgwicket_" + name, labels), 0)

    def names(self):
        return {name for name, _ in self}


def page(url):
    return Page(fetch(url)[0])


class Change:
    """What was counted between two pages."""

    def __init__(self, before, after):
        self.before, self.after = before, after

    def value(self, name, *labels):
        return self.after.value(name, *labels) - self.before.value(name, *labels)

    def of(self, name):
        """{label values: change} of what changed."""
        found = {labels for page in (self.before, self.after) for n, labels in page if n == "pgwicket_" + name}
        changes = {labels: self.value(name, *labels) for labels in found}
        return {labels: change for labels, change in changes.items() if change != 0}
