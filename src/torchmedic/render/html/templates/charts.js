"use strict";
// Draws charts and heat maps with plotly from the numbers in the page; colours are those of the style sheet.
const medic = (() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const series = (number) => colour(`--s${number % 6}`);
  const config = { displaylogo: false, responsive: true, displayModeBar: false };
  const margin = { l: 64, r: 16, t: 8, b: 36 };

  const frame = (extra) => ({
    uirevision: "kept", paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin, showlegend: false,
    font: { color: colour("--text"), family: getComputedStyle(document.body).fontFamily, size: 12 },
    hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--text") } },
    ...extra,
  });
  const axis = (extra) => ({
    gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line"),
    automargin: true, ...extra,
  });

  const bands = (line, number) => line.low.length === 0 ? [] : [
    { x: line.x, y: line.high, mode: "lines", line: { width: 0 }, hoverinfo: "skip", type: "scatter" },
    { x: line.x, y: line.low, mode: "lines", line: { width: 0 }, hoverinfo: "skip", type: "scatter", fill: "tonexty",
      fillcolor: `${series(number)}38` },
  ];
  const trace = (line, number, chart, words) => ({
    x: line.x, y: line.y, name: words.lines[number], type: "scatter", mode: line.x.length < 60 ? "lines+markers" : "lines",
    line: { color: series(number), width: 1.8, shape: chart.isStepped ? "hv" : "linear" }, marker: { size: 5 },
    hovertemplate: `${words.x} %{x}<br>%{y:.5~g}<extra></extra>`,
  });
  const markColour = { sick: "--error", best: "--good", stopped: "--warning" };
  const upright = (x, top, line) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: top, line });
  const shapes = (chart) => [
    ...chart.epochs.filter((_, number) => number % 2).map(([x0, x1]) => ({
      type: "rect", x0, x1, yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 0 },
      fillcolor: colour("--soft"), opacity: 0.09,
    })),
    ...chart.evaluations.map((x) => upright(x, 0.04, { color: colour("--s2"), width: 2 })),
    ...chart.marks.map((m) => upright(m.x, 1, { color: colour(markColour[m.kind]), width: 1.5, dash: "dash" })),
  ];
  const notes = (chart, words, width) => {
    const last = Math.max(...chart.lines.map((line) => line.x[line.x.length - 1]));
    const named = chart.epochs.map(([start, end], number) => ({
      x: (start + end) / 2, y: 0.04, yref: "paper", text: words.epochs[number], showarrow: false, yanchor: "bottom",
      font: { color: colour("--soft"), size: 10 },
    })).filter((note) => note.text);
    const epochs = named.filter((_, number) => number % Math.ceil(named.length * 72 / width) === 0);
    const marks = chart.marks.map((mark, number) => ({
      x: mark.x, y: 1, yref: "paper", text: words.marks[number].replaceAll("<", "&lt;"), showarrow: false,
      yanchor: "top", yshift: -16 * number, xanchor: mark.x > 0.6 * last ? "right" : "left",
      xshift: mark.x > 0.6 * last ? -3 : 3,
      font: { color: colour(markColour[mark.kind]) },
    }));
    return [...epochs, ...marks];
  };

  const drawChart = (chart, place, words) => {
    const traces = chart.lines.flatMap((line, n) => [...bands(line, n), trace(line, n, chart, words)]);
    const x = chart.lines.flatMap((line) => line.x);
    const isShort = Math.max(...x) - Math.min(...x) < 8; // steps and epochs are whole
    const layout = frame({
      height: 260, hovermode: "closest", shapes: shapes(chart), annotations: notes(chart, words, place.clientWidth),
      xaxis: axis({ title: { text: words.x, standoff: 4 }, ...(isShort ? { dtick: 1 } : {}) }),
      yaxis: axis({ type: chart.isLog ? "log" : "linear", exponentformat: "power" }),
    });
    return Plotly.react(place, traces, layout, config);
  };

  const scale = [[0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1, "#fde725"]];
  // The longest form of the names that leaves the map more than half of the room.
  const named = (map, width) => {
    const fits = (names) => Math.max(...names.map((name) => name.length)) * 6.6 < 0.45 * width;
    return [map.layers, map.roomy].find(fits) || map.tight;
  };
  const harmless = (names) => names.map((name) => name.replaceAll("<", "&lt;"));
  const drawHeat = (map, place, notFinite) => {
    const isNarrow = place.clientWidth < 480;
    const shown = map.cells.map((row) => row.map((cell) => (typeof cell === "number" ? cell : null)));
    const bad = map.cells.map((row) => row.map((cell) => (cell === "bad" ? 1 : null)));
    const layers = harmless(map.layers);
    const columns = map.steps.map(String);
    const common = {
      x: columns, y: layers, text: layers.map((name) => columns.map(() => name)), type: "heatmap", xgap: 0,
      ygap: map.layers.length > 60 ? 0 : 1,
    };
    const traces = [{
      ...common, z: shown, colorscale: scale, zmin: map.low, zmax: map.high,
      customdata: shown.map((row) => row.map((cell) => (cell === null ? "" : (10 ** cell).toPrecision(3)))),
      hovertemplate: "%{text}<br>%{x}: %{customdata}<extra></extra>", showscale: !isNarrow,
      colorbar: { thickness: 10, outlinewidth: 0, tickprefix: "10<sup>", ticksuffix: "</sup>", nticks: 6 },
    }];
    if (map.hasBad) {
      traces.push({
        ...common, z: bad, colorscale: [[0, "#e00070"], [1, "#e00070"]], showscale: false,
        hovertemplate: `%{text}<br>%{x}: ${notFinite}<extra></extra>`,
      });
    }
    const layout = frame({
      height: Math.max(140, Math.min(18 * map.layers.length, 720)) + 60,
      xaxis: axis({ type: "category", nticks: 8, showgrid: false }),
      yaxis: axis({
        type: "category", autorange: "reversed", showgrid: false, tickvals: layers,
        ticktext: harmless(named(map, place.clientWidth)), tickfont: { size: 11 },
      }),
    });
    return Plotly.react(place, traces, layout, config);
  };

  // The static picture stays until the interactive one is there, and stays for good if that fails.
  const place = (figure) => {
    const canvas = figure.querySelector(".canvas");
    if (!canvas.querySelector(".live")) {
      const live = document.createElement("div");
      live.className = "live";
      canvas.append(live);
      figure.classList.add("drawn");
    }
    return canvas.querySelector(".live");
  };
  const draw = (data) => {
    const said = data.said[document.documentElement.lang];
    for (const chart of data.charts) {
      const figure = document.getElementById(chart.id);
      if (figure) drawChart(chart, place(figure), said[chart.id]);
    }
    for (const map of data.heatMaps) {
      const figure = document.getElementById(map.id);
      if (figure) drawHeat(map, place(figure), said.bad);
    }
  };
  return { draw };
})();

(() => {
  const given = document.getElementById("figures");
  if (!given) return;
  const data = JSON.parse(given.textContent);
  document.addEventListener("redraw", () => medic.draw(data));
})();
