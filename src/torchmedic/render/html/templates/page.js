"use strict";
// The choice of colours is the reader's; where the browser keeps no memory for files, it lasts as long as the page.
(() => {
  const select = document.getElementById("theme");
  const remembered = () => { try { return localStorage.getItem("torchmedic-theme") || ""; } catch { return ""; } };
  const apply = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    document.dispatchEvent(new Event("themechange"));
  };
  select.value = remembered();
  apply(select.value);
  select.addEventListener("change", () => {
    try { localStorage.setItem("torchmedic-theme", select.value); } catch { /* not kept */ }
    apply(select.value);
  });
  // Charts take their colours from the page: they are drawn again for the night, and for paper.
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => apply(select.value));
  }
})();
