// What look.accessibility asks of a page, beside axe: what on it is alike, or like what was looked at
// before, so that axe, which takes long for each element, need not look at every one of them.
window.look = {
  known: null, // what was looked at before: {looks, forms: a key for each, grounds: a number}
  marks: new Map(), // element -> what its words decide, not its form
  places: [], // [what stands in its place, element], to be put back
  style: Object.assign(document.createElement("style"), {
    textContent: "* { content-visibility: visible !important }",
  }),

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

  // Choose whose contrast axe is to look at in this setting: of the elements with words (or of a
  // form), one for each look that is not known. Equal looks have equal contrast: it depends on the
  // color, whether the text is large, and what lies behind. (The names of classes are there to be
  // on the safe side, as are positions: what is placed elsewhere can come to lie on another ground.)
  choose(setting) {
    const { looks, grounds } = this.known;
    const behind = new Map([[null, 0]]);
    const ground = (e) => {
      if (!behind.has(e)) {
        const s = getComputedStyle(e);
        const own = [ground(e.parentElement), s.backgroundColor, s.backgroundImage, s.opacity,
          s.filter, s.mixBlendMode, s.position !== "static" && s.position + e.className].join();
        behind.set(e, grounds[own] ??= Object.keys(grounds).length + 1);
      }
      return behind.get(e);
    };
    for (const e of document.body.querySelectorAll("*")) {
      if (!e.checkVisibility()) continue;
      const words = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if (!words && !e.matches("input, select, textarea, button")) continue;
      const s = getComputedStyle(e), up = e.parentElement;
      const points = Math.ceil(parseFloat(s.fontSize) * 72) / 96; // as axe counts
      const large = points >= 18 || (points >= 14 && s.fontWeight >= 700);
      const look = [e.tagName, e.className, up.tagName, up.className, s.color, large,
        s.textShadow, ground(e)].join();
      if (!looks[look]) e.dataset.look = `${e.dataset.look ?? ""} ${setting}`;
      looks[look] = true;
    }
    return document.querySelectorAll(`[data-look~="${setting}"]`).length;
  },

  // Note what the words of an element decide at this width, and not its form: whether it scrolls (and
  // can be reached, which a script sees to), and whether it is narrow for a finger.
  measure(width) {
    const mark = (e, what) => this.marks.set(e, `${this.marks.get(e) ?? ""} ${width} ${what}`);
    for (const e of document.querySelectorAll("body :not(span, svg *)"))
      if (e.scrollWidth > e.clientWidth && e.clientWidth) mark(e, `scrolls ${e.tabIndex}`);
    for (const e of document.querySelectorAll("body :is(a, button, input, summary, [tabindex])"))
      if (e.getBoundingClientRect().width < 24) mark(e, "narrow");
  },

  // The form of a node: its elements and their attributes, without the words. Of what names something,
  // leads somewhere or draws a picture it counts only whether it is there. But for contrast and the
  // words, axe finds in two blocks of one form the same. (What it may find between blocks, such as
  // headings out of order or an id that stands twice, test_pages.py reads from the HTML.)
  form(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.data.trim() && "·";
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const kept = /^(class|role|type|tabindex|lang|scope|hidden|aria-(?!label|describedby|controls))/;
    const attributes = [...node.attributes].filter(({ name }) => name !== "data-look")
      .map(({ name, value }) => name === "style" ? value.replace(/--[^;]*/g, "")
        : name + "=" + (kept.test(name) ? value : value && "x"));
    const inside = [...node.childNodes]
      .filter((n) => !node.matches("svg") || /title|desc/.test(n.nodeName));
    return `<${node.nodeName} ${attributes}${this.marks.get(node) ?? ""}>` +
      inside.map((n) => this.form(n)).join("").replace(/·+/g, "·") + "/";
  },

  // Leave of the colored words of code their text, and of a block of a known form, unless something
  // in it was chosen, its place: the styles of what follows may ask what stands before.
  thin() {
    for (const e of document.querySelectorAll("pre code span:not([data-look], :has(span))"))
      this.put(document.createTextNode(e.textContent), e);
    const blocks = document.querySelectorAll("nav li, header li, main :is(p, ul, ol, li, table, " +
      "tr, div, figure, details):not(:has(h1, h2, h3, h4, h5, h6))");
    for (const e of blocks) {
      if (!e.isConnected) continue;
      const form = this.form(e);
      if (this.known.forms[form] && !e.matches("[data-look], :has([data-look])"))
        this.put(e.cloneNode(false), e);
      this.known.forms[form] = true;
    }
  },

  put(place, e) {
    e.replaceWith(place);
    this.places.push([place, e]);
  },

  // Put all back; return what is known now.
  restore() {
    for (const [place, e] of this.places.reverse()) place.replaceWith(e);
    for (const e of document.querySelectorAll("[data-look]")) delete e.dataset.look;
    this.style.remove();
    const { known } = this;
    delete window.look;
    return JSON.stringify(known);
  },

  // Run axe; return what it finds: [rule, what, [[where, why]]].
  async ask(runOnly, setting) {
    axe.configure({ rules: [{ id: "color-contrast", selector: `[data-look~="${setting}"]` }] });
    const run = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return run.violations.map((found) => [found.id, found.help, found.nodes.map((node) =>
      [node.target.join(" "), node.any.concat(node.all).map((check) => check.message)[0]])]);
  },
};
