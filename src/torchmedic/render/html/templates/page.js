"use strict";
// The choice of colours is the reader's; where the browser keeps no memory for files, it lasts as long as the page.
(() => {
  const at = (id) => document.getElementById(id);
  const remembered = () => { try { return localStorage.getItem("torchmedic-theme") || ""; } catch { return ""; } };
  let theme = remembered();
  const apply = () => {
    at("theme").value = theme;
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    document.dispatchEvent(new Event("redraw"));
  };
  document.addEventListener("change", (event) => {
    if (event.target.id !== "theme") return;
    theme = event.target.value;
    try { localStorage.setItem("torchmedic-theme", theme); } catch { /* not kept */ }
    apply();
  });
  // Charts take colours and room from the page: they are drawn again for the night, for paper, and for a turned phone.
  for (const query of ["(prefers-color-scheme: dark)", "print", "(max-width: 760px)", "(max-width: 560px)"]) {
    matchMedia(query).addEventListener("change", apply);
  }

  // The text in the other language lies in a template. Both change places; pictures and charts move over.
  const move = (shown, next) => {
    for (const place of next.querySelectorAll("[data-same]")) {
      const picture = shown.querySelector(`[data-same="${place.dataset.same}"]`);
      picture.replaceWith(place.cloneNode());
      place.replaceWith(picture);
    }
    for (const live of shown.querySelectorAll(".live")) {
      const figure = next.querySelector(`#${live.closest("figure").id}`);
      figure.querySelector(".canvas").append(live);
      figure.classList.add("drawn");
    }
    const open = [...shown.querySelectorAll("details")].map((one) => one.open);
    next.querySelectorAll("details").forEach((one, number) => { one.open = open[number]; });
  };
  const turn = (template) => {
    const shown = at("page");
    const next = template.content.firstElementChild;
    const read = [...shown.querySelectorAll("section")].find((one) => one.getBoundingClientRect().bottom > 80);
    const before = read ? read.getBoundingClientRect().top : 0;
    shown.replaceWith(next);
    move(shown, next);
    template.content.append(shown);
    document.documentElement.lang = next.lang;
    document.title = next.dataset.title;
    apply();
    at("language").focus();
    if (read) scrollBy(0, at(read.id).getBoundingClientRect().top - before);
  };
  document.documentElement.classList.add("scripted");
  document.addEventListener("click", (event) => {
    const template = document.querySelector("template.other");
    if (event.target.id === "language" && template) turn(template);
  });
  apply();
})();
