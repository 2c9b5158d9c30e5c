// What a page does beyond being read: color scheme, language links, copy buttons, place in the contents,
// other versions, search. Reading needs none of it. No request leaves the site; the search is fetched when it is
// first used. In the offline copy (tools/offline.py) nothing is fetched at all: a browser would not let us.
"use strict";
{
  const script = document.currentScript;
  const html = document.documentElement;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const dialog = document.querySelector("dialog.search");

  // Color scheme: the system's, until the reader chooses; choosing the system's again forgets the choice.
  const system = matchMedia("(prefers-color-scheme: dark)");
  document.querySelector("[data-toggle-scheme]").addEventListener("click", () => {
    const now = html.dataset.scheme || (system.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    html.dataset.scheme = next === (system.matches ? "dark" : "light") ? "" : next;
    try { localStorage.scheme = html.dataset.scheme; } catch { /* storage is off: the choice lasts for this page */ }
  });

  // Links to another language or version lead to the same place of the page: ids are the same in all of them.
  const keepPlace = () => { for (const a of all("a[hreflang]:not(main a), [data-keeps-place]")) a.hash = location.hash; };
  addEventListener("hashchange", keepPlace);
  keepPlace();
  for (const menu of all("details.menu")) {
    addEventListener("click", event => { if (!menu.contains(event.target)) menu.open = false; });
    menu.addEventListener("keydown", event => {
      if (event.key === "Escape" && menu.open) { menu.open = false; menu.firstElementChild.focus(); }
    });
    // Tab leaves it: it must not lie over what has the focus then.
    menu.addEventListener("focusout", event => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });
  }
  // The page above the languages remembers what was chosen.
  addEventListener("click", event => {
    const chosen = event.target.closest?.("a[hreflang]:not(main a)");
    if (chosen) try { localStorage.language = chosen.hreflang; } catch { /* storage is off */ }
  });

  // Versions. A version's pages stay as they were published, so which others there are is asked of the list.
  const base = new URL(script.dataset.base + "/", location.href);  // of this language and version
  const offline = "offline" in script.dataset;
  const versions = document.querySelector("[data-version-menu]");
  if (versions && !offline) {
    const { version, here, without, newest } = versions.dataset;
    // The same pages are read as `latest` too: then the other languages are.
    const called = base.pathname.split("/").at(-2);
    for (const a of all("a[hreflang]")) a.pathname = a.pathname.replace(`/${a.hreflang}/${version}/`, `/${a.hreflang}/${called}/`);
    // Leads `a` to this page in another version, or to its home page, which then says why.
    const lead = (a, name, { properties }) => {
      const there = properties.pages.includes(here);
      a.href = new URL(`../${name}/${there ? here : ""}`, base);
      if (there) a.dataset.keepsPlace = "";
      else a.addEventListener("click", () => { try { sessionStorage.absent = document.title.split(" · ")[0]; } catch { /* storage is off */ } });
      return there;
    };
    fetch(new URL("../versions.json", base)).then(answer => answer.json()).then(list => {
      const latest = list.find(({ aliases }) => aliases.includes("latest"));
      versions.querySelector("li").replaceWith(...list.map(entry => {
        const item = document.createElement("li");
        const a = item.appendChild(Object.assign(document.createElement("a"), { textContent: entry.version }));
        if (entry.version === version) a.setAttribute("aria-current", "true");
        const there = lead(a, entry.version, entry);
        if (!there || entry === latest) a.append(" ", Object.assign(document.createElement("small"), { textContent: there ? newest : without }));
        return item;
      }));
      for (const a of all("[data-to-newest]")) { a.hidden = !latest; if (latest) lead(a, "latest", latest); }
      const old = document.querySelector("[data-old-version]");
      if (old) old.hidden = !latest || list.findIndex(entry => entry.version === version) <= list.indexOf(latest);
      keepPlace();
    }).catch(() => { /* without the list: the link to all versions is still in the menu */ });
    let absent;
    try { absent = sessionStorage.absent; delete sessionStorage.absent; } catch { /* storage is off */ }
    const note = document.querySelector("[data-page-absent]");
    if (absent && note) { note.textContent = note.dataset.pageAbsent.replace("{title}", absent); note.hidden = false; }
  }

  // The copy button gives the text of the block and nothing else.
  const icon = path => `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}"/></svg>`;
  const copyIcon = icon("M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7z");
  const doneIcon = icon("m4 10.5 4 4 8-9");
  const said = document.body.appendChild(Object.assign(document.createElement("p"), { className: "visually-hidden", role: "status" }));
  const copy = document.createElement("template");
  copy.innerHTML = `<button type="button" class="copy">${copyIcon}</button>`;
  copy.content.firstChild.title = dialog.dataset.copy;
  copy.content.firstChild.ariaLabel = dialog.dataset.copy;
  for (const block of navigator.clipboard ? all(".highlight:not([data-difference])") : []) (block.closest(".listing") || block).append(copy.content.cloneNode(true));
  addEventListener("click", async event => {
    const button = event.target.closest?.(".copy");
    if (!button) return;
    await navigator.clipboard.writeText(button.parentElement.querySelector("pre > code").textContent);
    button.dataset.done = ""; button.innerHTML = doneIcon; said.textContent = dialog.dataset.copied;
    setTimeout(() => { delete button.dataset.done; button.innerHTML = copyIcon; said.textContent = ""; }, 2000);
  });

  // What scrolls sideways can be reached and scrolled by keyboard, and only that.
  const measured = new ResizeObserver(entries => {
    const wide = entries.map(({ target }) => [target, target.scrollWidth > target.clientWidth]);
    for (const [box, scrolls] of wide) {
      if (!scrolls) { box.removeAttribute("tabindex"); box.removeAttribute("role"); box.removeAttribute("aria-label"); continue; }
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.dataset.scrolls || dialog.dataset.code);
    }
  });
  for (const box of all(".highlight pre, .table")) measured.observe(box);

  // Contents: open beside the text, folded above it on a narrow screen; the section being read is marked.
  const outline = document.querySelector(".outline");
  if (outline) {
    const beside = matchMedia("(min-width: 64em)");
    const fit = () => { outline.firstElementChild.open = beside.matches; };
    beside.addEventListener("change", fit);
    fit();
    const fold = () => { if (!beside.matches) outline.firstElementChild.open = false; };
    outline.firstElementChild.addEventListener("toggle", () => {
      const list = outline.querySelector("ol");
      if (marked && !beside.matches) list.scrollTop = marked.offsetTop - list.clientHeight / 2;
    });
    addEventListener("click", event => { if (event.target.matches(".outline a") || !outline.contains(event.target)) fold(); });
    outline.addEventListener("keydown", event => { if (event.key === "Escape") { fold(); outline.querySelector("summary").focus(); } });
    const links = new Map(all("a", outline).map(a => [decodeURIComponent(a.hash.slice(1)), a]));
    const headings = [...links.keys()].map(id => document.getElementById(id)).filter(Boolean);
    const visible = new Set();
    let marked;
    const mark = () => {
      const current = headings.find(h => visible.has(h)) || headings.findLast(h => h.getBoundingClientRect().top < 120);
      const link = current && links.get(current.id);
      if (link === marked) return;
      marked?.removeAttribute("aria-current");
      marked = link;
      const bar = outline.querySelector("summary");
      if (!link) { delete bar.dataset.here; return; }
      bar.dataset.here = link.textContent;
      link.setAttribute("aria-current", "location");
      const { offsetTop, offsetHeight } = link;
      if (beside.matches && (offsetTop < outline.scrollTop || offsetTop + offsetHeight > outline.scrollTop + outline.clientHeight))
        outline.scrollTop = offsetTop - outline.clientHeight / 2;
    };
    const watch = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) isIntersecting ? visible.add(target) : visible.delete(target);
      mark();
    }, { rootMargin: "-70px 0px -55% 0px" });
    const passed = new IntersectionObserver(mark, { rootMargin: "999999px 0px -55% 0px" });  // a jump over many
    addEventListener("scrollend", mark);
    for (const heading of headings) { watch.observe(heading); passed.observe(heading); }
  }

  // Search: a worker with the index of this language, started at the first use; offline, two scripts in the page.
  const opener = document.querySelector("[data-open-search]");
  if (location.protocol === "file:" && !offline) opener.hidden = true;  // browsers let no page read a file beside it
  else {
    const [input, state, list] = ["input", ".search__state", "ol"].map(s => dialog.querySelector(s));
    let worker;
    const load = src => new Promise((onload, onerror) => { document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror })); });
    const start = () => {
      if (worker) return;
      if (offline) {
        const ready = Promise.all([script.dataset.search, new URL("search/search_index.js", base)].map(load)).then(() => index(searchIndex.docs, html.lang));
        worker = { postMessage: ({ query }) => { ready.then(search => show({ query, results: search(query) }), error => show({ error })); } };
        return;
      }
      worker = new Worker(new URL(script.dataset.search, location.href));
      worker.onmessage = ({ data }) => show(data);
      worker.onerror = () => { state.textContent = dialog.dataset.failed; worker = undefined; };
      worker.postMessage({ index: new URL("search/search_index.json", base).href, lang: html.lang });
    };
    const show = ({ query, results, error }) => {
      if (error) { state.textContent = dialog.dataset.failed; worker = undefined; return; }
      if (query !== input.value) return;  // an answer to what was typed before
      const many = results.length;
      state.textContent = !query.trim() ? "" : !many ? dialog.dataset.none : many === 1 ? dialog.dataset.one : dialog.dataset.many.replace("{n}", many);
      list.replaceChildren(...results.slice(0, 30).map(found => {
        const link = document.createElement("a");
        link.href = new URL(offline ? found.location.replace(/(^|\/)(?=#|$)/, "$1index.html") : found.location, base);
        const parts = [["strong", found.title], ["small", found.page], ["p", found.text]];
        for (const [tag, marks] of parts) {
          if (!marks.length) continue;
          const element = link.appendChild(document.createElement(tag));
          for (const [text, hit] of marks) element.append(hit ? Object.assign(document.createElement("mark"), { textContent: text }) : text);
          if (tag === "strong") link.append(" ");
        }
        const item = document.createElement("li");
        item.append(link);
        return item;
      }));
    };
    const ask = () => worker?.postMessage({ query: input.value });
    const open = () => { start(); dialog.showModal(); input.select(); };
    opener.addEventListener("click", open);
    input.addEventListener("input", () => { start(); ask(); });
    dialog.querySelector("form").addEventListener("submit", event => {
      if (event.submitter && document.activeElement === event.submitter) return;  // the close button
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    list.addEventListener("click", event => { if (event.target.closest("a")) dialog.close(); });
    dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("keydown", event => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      const stops = [input, ...all("a", list)];
      const next = stops[stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
    });
    addEventListener("keydown", event => {
      const writing = event.target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
      const slash = event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!dialog.open && (slash || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k"))) { event.preventDefault(); open(); }
    });
  }
}
