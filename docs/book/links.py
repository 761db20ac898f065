"""Check the built book: `python docs/book/links.py build/docs`.

Every link, anchor, picture, script and style sheet in its pages must exist.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TARGETS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The ids of a page, and the addresses to which it refers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(name for name in (given.get("id"), given.get("name")) if name)
        link = given.get(TARGETS.get(tag, ""))
        if link:
            self.links.append(link)


def broken(folder: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = [] if pages else ["no pages"]
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:  # outside: the book does not need the network
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{path.relative_to(folder)}: {link} does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{path.relative_to(folder)}: {link} has no such anchor")
    return found


def main(folder: str) -> int:
    found = broken(Path(folder).resolve())
    print("\n".join(found) or "every internal link of the book leads somewhere")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
