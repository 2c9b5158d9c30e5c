"""Check the pages: against the snippets, the English pages, the glossary, and as rendered.

    python -m tools.checks          (make check)

prints each fault as ``file:line: what is wrong; what to do`` and ends with 1 if there are any. Each
check is a function over plain data that returns a list of faults; a fault is never raised.
A translation that English has left behind is no fault, only a notice: whoever mends an English
sentence need not know the other languages.
"""

from .fault import Fault
from .page import (
    check_differences,
    check_fences,
    check_front_matter,
    check_headings,
    check_includes,
    check_references,
    check_unshown,
    load_commands,
    shell_commands,
)
from .rendered import Block, check_links, check_notes, check_rendered, read_html
from .repository import check_site, check_sources, main, stale_notices
from .translation import (
    UNTRANSLATED,
    check_languages,
    check_records,
    check_sections,
    check_translation,
)
from .wording import Term, check_glossary, check_typography, load_glossary

__all__ = [
    "Block",
    "Fault",
    "Term",
    "UNTRANSLATED",
    "check_differences",
    "check_fences",
    "check_front_matter",
    "check_glossary",
    "check_headings",
    "check_includes",
    "check_languages",
    "check_links",
    "check_notes",
    "check_records",
    "check_references",
    "check_rendered",
    "check_sections",
    "check_site",
    "check_sources",
    "check_translation",
    "check_typography",
    "check_unshown",
    "load_commands",
    "load_glossary",
    "main",
    "read_html",
    "shell_commands",
    "stale_notices",
]
