// What look.accessibility asks of a page, beside axe: which elements look alike, so that axe, which
// takes long for each, need not look at every one of them in every width and scheme.
window.look = {
  looks: new Set(), // what has been chosen already
  grounds: new Map(), // what lies behind an element -> a number for it
  seen: {}, // width -> the elements to be seen there
  style: Object.assign(document.createElement("style"), {
    textContent: "* { content-visibility: visible !important }",
  }),
  places: [], // [what stands in its place, element], to be put back

  // All that can be unfolded, on the screen or not; and let the page's own scripts follow, and
  // follow a change of its width before.
  async unfold() {
    document.head.append(this.style);
    const drawn = async () => {
      for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    };
    await drawn();
    for (const details of document.querySelectorAll("main details, .outline details"))
      details.open = true;
    for (const input of document.querySelectorAll(".quiz input")) input.checked = true;
    await drawn();
  },

  // Choose what axe is to look at in this setting: of the elements with words (or of a form), one
  // for each look that no setting before this one had. Equal looks have equal contrast: it depends
  // on the color, whether the text is large, and what lies behind. (The names of classes are there to be on the safe
  // side, as are positions: what is placed elsewhere can come to lie on another ground.)
  choose(setting, width) {
    const seen = (this.seen[width] = new Set());
    const grounds = new Map([[null, 0]]);
    const ground = (e) => {
      if (!grounds.has(e)) {
        const s = getComputedStyle(e);
        const own = [ground(e.parentElement), s.backgroundColor, s.backgroundImage, s.opacity,
          s.filter, s.mixBlendMode, s.position !== "static" && s.position + e.className].join();
        if (!this.grounds.has(own)) this.grounds.set(own, this.grounds.size + 1);
        grounds.set(e, this.grounds.get(own));
      }
      return grounds.get(e);
    };
    for (const e of document.body.querySelectorAll("*")) {
      if (!e.checkVisibility()) continue;
      seen.add(e);
      const words = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if (!words && !e.matches("input, select, textarea, button")) continue;
      const s = getComputedStyle(e), up = e.parentElement;
      const points = Math.ceil(parseFloat(s.fontSize) * 72) / 96; // as axe counts
      const large = points >= 18 || (points >= 14 && s.fontWeight >= 700);
      const look = [e.tagName, e.className, up.tagName, up.className, s.color, large,
        s.textShadow, ground(e)].join();
      if (!this.looks.has(look)) e.dataset.look = `${e.dataset.look ?? ""} ${setting}`;
      this.looks.add(look);
    }
    return document.querySelectorAll(`[data-look~="${setting}"]`).length;
  },

  // Make plain text of the colored words of code that were not chosen.
  plain() {
    for (const e of document.querySelectorAll("pre code span:not([data-look], :has(span))"))
      this.put(document.createTextNode(e.textContent), e);
  },

  // Leave of what was not chosen, and holds nothing that was, its place alone.
  thin() {
    const kept = new Set();
    for (const e of document.querySelectorAll("[data-look]"))
      for (let up = e; up && !kept.has(up); up = up.parentElement) kept.add(up);
    for (const e of document.body.querySelectorAll(":not(script, style)"))
      if (e.firstChild && !kept.has(e) && kept.has(e.parentElement)) this.put(e.cloneNode(false), e);
  },

  put(place, e) {
    e.replaceWith(place);
    this.places.push([place, e]);
  },

  restore() {
    for (const [place, e] of this.places.reverse()) place.replaceWith(e);
    for (const e of document.querySelectorAll("[data-look]")) delete e.dataset.look;
    this.style.remove();
    delete window.look;
  },

  // What is to be seen or scrolls at one width and not at the other.
  only(width, other) {
    const seen = this.seen[width], before = this.seen[other];
    const scrolls = (e) => e.clientWidth && e.scrollWidth > e.clientWidth &&
      /auto|scroll/.test(getComputedStyle(e).overflowX);
    return [...seen].filter((e) => scrolls(e) || (!before.has(e) &&
      (before.has(e.parentElement) || !seen.has(e.parentElement))));
  },

  // Run axe on the document, or on `part` of it; return what it finds: [rule, what, [[where, why]]].
  async ask(options, setting, part) {
    if (part && !part.length) return [];
    axe.configure({ rules: [{ id: "color-contrast", selector: `[data-look~="${setting}"]` }] });
    const run = await axe.run(part ? { include: part } : document,
      { ...options, resultTypes: ["violations"] });
    return run.violations.map((found) => [found.id, found.help, found.nodes.map((node) =>
      [node.target.join(" "), node.any.concat(node.all).map((check) => check.message)[0]])]);
  },
};
