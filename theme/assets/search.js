// The search: reads the index of one language and answers queries.
//
// A reader looks for names (`DataParallel`, `gradscaler`, `torch.amp.GradScaler`) and for words (`échelle`,
// typed `echelles`). So the text is cut into words at everything that is not a letter or digit, names with
// capitals inside are also cut at these, all is folded to lower case without accents, and a word of the
// query matches a word of the text that is equal, begins with it, contains it, or is another form of it.
// All words of a query must be found in a section; of a long one (an error message, say, with other numbers
// in it) seven words of ten. The offline copy calls index(); elsewhere this is a worker. Messages in: {index, lang} once, then {query}.
// Message out: {query, results: [{location, title, page, text}]}, each text a list of [words, is a hit].
"use strict";

const fold = text => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/ß/g, "ss").replace(/œ/g, "oe").replace(/æ/g, "ae");

// A word of the text and, for GradScaler, its parts. Underscores stay in names: torch.finfo, unscale_, all_reduce.
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const PARTS = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}\p{N}]+|\p{Lu}+/gu;
function* cut(text) {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    yield [fold(word), index, index + word.length];
    const parts = [...word.matchAll(PARTS)];
    if (parts.length > 1) for (const { 0: part, index: at } of parts) if (part.length > 1) yield [fold(part), index + at, index + at + part.length];
  }
}

// The stem of a folded word: its form without the endings of plural, gender, case and common verb forms. It only
// has to be the same for the forms of one word, and is never shown. A word keeps three letters or more.
const STEPS = {
  en: [[/ies$/, "y"], [/(?<=x|ch|sh|ss|z)es$/, ""], [/(?<!s)s$/, ""], [/(?<=[aeiouy].*)(ing|ed)$/, ""], [/e$/, ""], [/([^aeiouy])\1$/, "$1"]],
  fr: [[/eaux$/, "eau"], [/aux$/, "al"], [/[sx]$/, ""], [/(ement|ees?|er|ez|ent|ant|ante|e)$/, ""], [/([^aeiouy])\1$/, "$1"]],
  de: [[/ungen$/, "ung"], [/(ern|em|en|er|es|e|n|s)$/, ""]],
};
function stem(word, lang) {
  for (const [ending, to] of STEPS[lang] || []) {
    const shorter = word.replace(ending, to);
    if (shorter.length >= 3) word = shorter;
  }
  return word;
}

const plain = html => html.replace(/<(?:[^>"]|"[^"]*")*>/g, " ").replace(/&(lt|gt|amp|quot|#39|nbsp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", nbsp: " " })[name]).replace(/\s+/g, " ").trim();

/** Returns a function from a query to its results, best first. `docs` is Material's index of sections. */
function index(docs, lang) {
  const sections = docs.map(({ location, title, text }) => ({ location, title: plain(title), text: plain(text) }));
  const pages = new Map(sections.filter(s => !s.location.includes("#")).map(s => [s.location, s.title]));
  const vocabulary = new Map(); // word -> Map(section number -> weight: a hit in a title counts for more)
  const stems = new Map(); // stem -> words
  sections.forEach(({ title, text }, n) => {
    for (const [field, weight] of [[title, 6], [text, 1]])
      for (const [word] of cut(field)) {
        if (!vocabulary.has(word)) {
          vocabulary.set(word, new Map());
          const key = stem(word, lang);
          stems.set(key, [...(stems.get(key) || []), word]);
        }
        const where = vocabulary.get(word);
        where.set(n, (where.get(n) || 0) + weight);
      }
  });

  // The words of the text that answer one word of a query, and how well.
  const answers = asked => {
    const found = new Map();
    if (asked.length >= 2) for (const word of vocabulary.keys()) {
      if (word.startsWith(asked)) found.set(word, 3 * asked.length / word.length);
      else if (asked.length >= 3 && word.includes(asked)) found.set(word, asked.length / word.length);
    }
    const root = stem(asked, lang);
    for (const word of stems.get(root) || []) found.set(word, 4);
    // Part of another form: `Gewichte` in `Gewichtsmatrix`, `Faktoren` in `Skalierungsfaktor`.
    if (root.length >= 5) for (const word of vocabulary.keys()) if (!found.has(word) && word.includes(root)) found.set(word, root.length / word.length / 2);
    if (vocabulary.has(asked)) found.set(asked, 6);
    return found;
  };

  const marked = (text, hits) => {
    const spans = [];
    for (const [word, from, to] of cut(text)) {
      if (!hits.has(word)) continue;
      const last = spans.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to);
      else spans.push([from, to]);
    }
    const pieces = [];
    let at = 0;
    for (const [from, to] of spans) {
      if (from > at) pieces.push([text.slice(at, from), false]);
      pieces.push([text.slice(from, to), true]);
      at = to;
    }
    if (at < text.length) pieces.push([text.slice(at), false]);
    return pieces;
  };

  // About 160 letters around the first hit, cut between words.
  const excerpt = (text, hits) => {
    let first = 0;
    for (const [word, from] of cut(text)) if (hits.has(word)) { first = from; break; }
    const from = first < 60 ? 0 : text.indexOf(" ", first - 60) + 1;
    const end = from + 160 >= text.length ? text.length : text.lastIndexOf(" ", from + 160);
    return marked((from ? "… " : "") + text.slice(from, Math.max(end, first + 1)) + (end < text.length ? " …" : ""), hits);
  };

  return query => {
    const asked = [...new Set([...query.matchAll(WORD)].map(([word]) => fold(word)))];
    if (!asked.length) return [];
    const scores = new Map(); // section -> [words of the query found in it, score]
    const hits = new Set();
    for (const word of asked) {
      const here = new Map();
      // `ä` may be typed `ae`.
      const typed = lang === "de" ? new Set([word, word.replace(/([aou])e/g, "$1")]) : [word];
      for (const form of typed) for (const [answer, quality] of answers(form)) {
        hits.add(answer);
        const where = vocabulary.get(answer);
        const rare = Math.log(1 + sections.length / where.size);
        for (const [section, weight] of where) here.set(section, Math.max(here.get(section) || 0, quality * rare * weight / (weight + 2)));
      }
      for (const [section, score] of here) {
        const [words, sum] = scores.get(section) || [0, 0];
        scores.set(section, [words + 1, sum + score]);
      }
    }
    const enough = asked.length <= 3 ? asked.length : Math.ceil(0.7 * asked.length);
    const found = [...scores].filter(([, [words]]) => words >= enough);
    // A section that is called what was asked comes first.
    for (const [n, counted] of found) if ((sections[n].title.match(WORD) || []).every(word => hits.has(fold(word)))) counted[1] *= 4;
    found.sort(([n, [words, score]], [m, [others, other]]) => others - words || other - score || n - m);
    return found.map(([n]) => {
      const { location, title, text } = sections[n];
      const page = pages.get(location.split("#")[0]) || "";
      return { location, title: marked(title, hits), page: page === title ? [] : [[page, false]], text: excerpt(text, hits) };
    });
  };
}

let ready;
if (self.WorkerGlobalScope) self.addEventListener("message", ({ data }) => {
  if (data.index) ready = fetch(data.index).then(answer => { if (!answer.ok) throw new Error(`${answer.status}`); return answer.json(); }).then(({ docs }) => index(docs, data.lang));
  else ready.then(search => postMessage({ query: data.query, results: search(data.query) }));
  ready.catch(error => postMessage({ error: String(error) }));
});
