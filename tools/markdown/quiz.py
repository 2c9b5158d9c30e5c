"""A quiz that answers at once, without a script and without a network.

    /// quiz | Which dtype do the weights have under autocast?
    - [ ] `float16`
      > Autocast makes 16-bit copies; the weights themselves stay.
    - [x] `float32`
      > They catch updates that 16 bits would lose.
    ///

becomes a fieldset with a radio button for each choice (check boxes where several are right). The
explanation of a choice stands in a live region (`role="status"`) beside it, shown by the style
sheet once its choice is `:checked`, so a screen reader says it then; without a style sheet
everything is readable:

    <div class="quiz" id="quiz-1"><fieldset>
      <legend>…</legend> <p class="quiz-hint">…</p>
      <div class="quiz-choice quiz-choice--right">
        <input type="radio" name="quiz-1" id="quiz-1-2"> <label for="quiz-1-2">…</label>
        <div class="quiz-why" role="status"><div><p><strong>Right.</strong> …</p></div></div>
      </div>
    </fieldset></div>
"""

import re
import xml.etree.ElementTree as etree

from pymdownx.blocks import BlocksExtension
from pymdownx.blocks.block import Block

from tools.languages import words
from tools.markdown import OPEN, PageFault, Unclosed

_MARK = re.compile(r"\s*\[([ xX])\][ \t]+(?=\S)")
_WHY = re.compile(r"\n[ \t]*>[ \t]?")


class Quiz(Block):
    """The block: its argument is the question, its content the list of choices."""

    NAME = "quiz"
    ARGUMENT = True

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Start the quiz; ids count through the page, so they are the same in all languages."""
        self.number = self.tracker.setdefault("quiz", 0) + 1
        self.tracker["quiz"] = self.number
        quiz = etree.SubElement(parent, "div", {"class": "quiz", "id": f"quiz-{self.number}"})
        quiz.set(OPEN, f"/// quiz | {self.argument}")
        return quiz

    def on_end(self, block: etree.Element) -> None:
        """Turn the list into choices. Raises PageFault for a quiz that can't be answered."""
        del block.attrib[OPEN]
        word = words(self.config["lang"])
        content = list(block)
        lists = [at for at, element in enumerate(content) if element.tag == "ul"]
        if not lists:
            self._fault("it has no list of choices (`- [ ] …`, `- [x] …`)")
        before, (choices, *after) = content[: lists[0]], content[lists[0] :]
        if after:
            self._fault("something follows its choices; is its closing `///` missing?")
        parsed = [self._choice(li) for li in choices]
        rights = sum(right for right, _, _ in parsed)
        if not rights or len(parsed) < 2:
            self._fault("it needs two choices or more, and one marked [x]")

        for element in content:
            block.remove(element)
        field = etree.SubElement(block, "fieldset")
        etree.SubElement(field, "legend").text = self.argument
        field.extend(before)  # what stands before the choices belongs to the question
        hint = etree.SubElement(field, "p", {"class": "quiz-hint"})
        hint.text = word["quiz_one" if rights == 1 else "quiz_all"]
        for n, (right, text, why) in enumerate(parsed, 1):
            verdict = "right" if right else "wrong"
            key = f"quiz-{self.number}-{n}"
            choice = etree.SubElement(
                field, "div", {"class": f"quiz-choice quiz-choice--{verdict}"}
            )
            kind = "radio" if rights == 1 else "checkbox"
            # autocomplete: a browser that reloads the page must not keep the answer marked
            name = {"name": f"quiz-{self.number}", "id": key, "autocomplete": "off"}
            etree.SubElement(choice, "input", {"type": kind, **name})
            etree.SubElement(choice, "label", {"for": key}).text = text
            status = etree.SubElement(choice, "div", {"class": "quiz-why", "role": "status"})
            said = etree.SubElement(etree.SubElement(status, "div"), "p")
            etree.SubElement(said, "strong").text = word[f"quiz_{verdict}"]
            said[0].tail = " " + why

    def _choice(self, li: etree.Element) -> tuple[bool, str, str]:
        """Return whether a choice is right, its text and its explanation."""
        # A list with blank lines between its items holds paragraphs.
        holder = li if (li.text or "").strip() or not len(li) else li[0]
        text = holder.text or ""
        mark = _MARK.match(text)
        if not mark:
            self._fault(f"the choice {' '.join(text.split())!r} starts with neither [ ] nor [x]")
        text, *why = _WHY.split(text[mark.end() :])
        for element in li:
            if element.tag == "blockquote" and all(p.tag == "p" for p in element):
                why += [p.text or "" for p in element]
            elif element is not holder:
                self._fault(f"the choice {text!r} holds more than words and its `> ` explanation")
        if not " ".join(why).strip():
            self._fault(f"the choice {text!r} has no explanation (`> …` on the line beneath)")
        return mark[1] in "xX", text.strip(), " ".join(why).strip()

    def _fault(self, message: str) -> None:
        raise PageFault(f"quiz {self.argument!r}: {message}", self.argument)


class QuizExtension(BlocksExtension):
    """Option: `lang`, the language of the words around the quiz."""

    def __init__(self, **options):
        self.config = {"lang": ["en", "language of the words around the quiz"]}
        super().__init__(**options)

    def extendMarkdownBlocks(self, md, block_mgr) -> None:  # noqa: N802 (pymdownx's name)
        """Register the block."""
        md.treeprocessors.register(Unclosed(md), "unclosed_blocks", 100)
        block_mgr.register(Quiz, self.getConfigs())


def makeExtension(**options) -> QuizExtension:  # noqa: N802 (Markdown's name)
    """Return the extension: Markdown calls this."""
    return QuizExtension(**options)
