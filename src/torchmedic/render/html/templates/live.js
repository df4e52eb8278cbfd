"use strict";
// Keeps the page as the run is: the server says that something has changed, the page asks for what there is now.
(() => {
  const texts = JSON.parse(document.getElementById("text").textContent);
  const at = (id) => document.getElementById(id);
  const spoken = () => document.documentElement.lang;
  const text = (name) => texts[spoken()][name];
  const filled = (name, values) => text(name).replace(/\{(\w+)\}/g, (_, key) => values[key]);
  let shown = null;
  let source = null;
  let data = null;
  let asking = false;
  let askAgain = false;

  const say = (name, isOpen) => {
    at("link").textContent = text(name);
    at("link").dataset.say = name;
    at("link").classList.toggle("open", isOpen);
  };
  const ask = async (path) => {
    const answer = await fetch(path, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  };

  const element = (name, kind, words) => {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (words !== undefined) made.textContent = words;
    return made;
  };
  const figure = (id, kind) => {
    const made = element("figure", kind);
    made.id = id;
    const canvas = element("div", "canvas");
    made.append(element("h3"), element("p", "began"), element("ul", "legend"), canvas, element("figcaption"));
    return made;
  };
  const legend = (names) => (names.length < 2 ? [] : names.map((name, number) => element("li", `s${number % 6}`, name)));
  // Figures stay in place while the run grows, so that a zoom or a scroll position is not lost.
  const keep = (parent, wanted, kind, said) => {
    for (const old of [...parent.querySelectorAll("figure")]) {
      if (!wanted.some((one) => one.id === old.id)) old.remove();
    }
    for (const one of wanted) {
      const found = at(one.id) || parent.appendChild(figure(one.id, kind));
      const words = said[one.id];
      found.querySelector("h3").textContent = words.title;
      found.querySelector(".began").textContent = words.began || "";
      found.querySelector(".legend").replaceChildren(...legend(words.lines || []));
      found.querySelector("figcaption").textContent = words.summary + (words.scale ? ` · ${words.scale}` : "");
      found.querySelector(".canvas").setAttribute("aria-label", words.summary);
    }
  };

  // A run that cannot be read has a name and a reason: nothing of the run shown before may stand beside them.
  const showTrouble = (now) => {
    at("trouble").textContent = now.error[spoken()];
    at("state").textContent = text("live_unreadable");
    at("state").className = "outcome unreadable";
    at("script").textContent = now.id;
    at("steps").textContent = "";
    at("verdict").dataset.html = at("verdict").innerHTML = "";
    keep(document.querySelector("#curves .charts"), [], "chart", {});
    keep(at("layers"), [], "chart heat", {});
  };

  const show = (now) => {
    data = now;
    at("trouble").hidden = !now.error;
    if (now.error) { showTrouble(now); return; }
    at("state").textContent = text(`live_${now.state}`);
    at("state").className = `outcome ${now.state}`;
    at("script").textContent = now.script;
    at("steps").textContent = filled("steps", now) + (now.ranks > 1 ? `, ${filled("live_ranks", now)}` : "");
    const verdict = now.verdict[spoken()] || "";
    if (at("verdict").dataset.html !== verdict) {
      at("verdict").dataset.html = verdict;
      at("verdict").innerHTML = verdict;
    }
    const said = now.said[spoken()];
    keep(document.querySelector("#curves .charts"), now.charts, "chart", said);
    keep(at("layers"), now.heatMaps, "chart heat", said);
    medic.draw(now);
  };
  const refresh = async () => {
    if (asking) { askAgain = true; return; }
    asking = true;
    try { show(await ask(`run/${encodeURIComponent(shown)}`)); } catch { /* the next event asks again */ }
    asking = false;
    if (askAgain) { askAgain = false; refresh(); }
  };

  const follow = (id) => {
    if (source) source.close();
    if (shown !== id) at("verdict").dataset.html = at("verdict").innerHTML = "";
    shown = id;
    history.replaceState(null, "", `#${encodeURIComponent(id)}`);
    for (const link of document.querySelectorAll("#runs a")) {
      if (link.dataset.id === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    source = new EventSource(`events/${encodeURIComponent(id)}`);
    source.addEventListener("open", () => say("live_connected", true));
    source.addEventListener("changed", refresh);
    source.addEventListener("error", () => {
      say("live_lost", false);
      // The browser tries again by itself, unless it was told off.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(id), 2000);
    });
  };

  const list = async () => {
    let runs;
    try { runs = await ask("runs"); } catch { return; }
    at("runs").replaceChildren(...runs.map((run) => {
      const link = element("a", "", run.script);
      link.href = `#${encodeURIComponent(run.id)}`;
      link.dataset.id = run.id;
      if (run.id === shown) link.setAttribute("aria-current", "true");
      const when = run.started ? new Date(run.started * 1000).toLocaleString() : "";
      link.append(element("small", "", `${text(`live_${run.state}`)} ${when}`));
      link.addEventListener("click", (event) => { event.preventDefault(); follow(run.id); });
      const item = element("li");
      item.append(link);
      return item;
    }));
    if (!runs.length) at("runs").replaceChildren(element("li", "", text("live_none")));
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (shown === null && runs.length) follow(runs.some((run) => run.id === wanted) ? wanted : runs[0].id);
  };

  // The reader's choice of a language lasts beyond the page; without one the page speaks as the server does.
  const remembered = () => { try { return localStorage.getItem("torchmedic-language"); } catch { return null; } };
  const turn = () => {
    const button = at("language");
    [document.documentElement.lang, button.lang] = [button.lang, spoken()];
    for (const told of document.querySelectorAll("[data-say]")) told.textContent = text(told.dataset.say);
  };
  at("language").addEventListener("click", () => {
    turn();
    try { localStorage.setItem("torchmedic-language", spoken()); } catch { /* not kept */ }
    if (data) show(data);
    list();
  });
  if (remembered() === at("language").lang) turn();
  document.addEventListener("redraw", () => { if (data && !data.error) medic.draw(data); });
  list();
  setInterval(list, 3000);
})();
