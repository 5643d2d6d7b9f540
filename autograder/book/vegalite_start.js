// Draws every chart of the page. Runs inside the bundle's function, where vegaEmbed is known.
const CHART = 1.7;  // a chart grows at most this much beyond the width its author gave it
const ENLARGED = 1.2;  // and a finished picture, letters and all, this much

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function themed(config = {}) {
  const text = colour("--pst-color-text-muted");
  const line = colour("--pst-color-border");
  const words = {labelColor: text, titleColor: text, labelFontSize: 12, titleFontSize: 13, titleFontWeight: 600};
  const font = colour("--course-sans") || "sans-serif";
  return {
    ...config, font, background: "transparent",
    view: {...config.view, stroke: null},
    axis: {...config.axis, ...words, gridColor: line, domainColor: line, tickColor: line, gridOpacity: 0.6},
    legend: {...config.legend, ...words},
    header: {...config.header, ...words},
    title: {...config.title, color: text, subtitleColor: text},
    style: {...config.style, "guide-label": {fill: text}, "guide-title": {fill: text}},
  };
}

const fits = (spec) => (spec.mark || spec.layer) && typeof spec.width === "number";

// A single or layered chart is laid out for the width of the page.
function fitted(spec, available) {
  if (!fits(spec)) return spec;
  const width = Math.min(available, spec.width * CHART);
  const height = typeof spec.height === "number" ? spec.height * Math.max(1, Math.min(width / spec.width, 1.35)) : spec.height;
  return {...spec, width, height, autosize: {type: "fit", contains: "padding", resize: true}};
}

// Charts side by side or one above the other cannot be laid out anew: the finished picture is enlarged or reduced.
function resize(picture, available) {
  const natural = picture.viewBox.baseVal.width;
  if (natural) picture.style.width = `${Math.min(available, natural * ENLARGED)}px`;
}

// What the reader has set: the parameters that an input is bound to. A bound selection has a signal for each field.
function settings(view, spec) {
  const values = {};
  for (const {name, bind, select} of spec.params ?? []) {
    for (const signal of bind ? select?.fields?.map((field) => `${name}_${field}`) ?? [name] : []) {
      try { values[signal] = view.signal(signal); } catch { /* a selection that is no value */ }
    }
  }
  return values;
}

async function draw(figure) {
  delete figure.dataset.drawn;
  const target = figure.querySelector(".vegalite-chart");
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const kept = figure.view ? settings(figure.view, spec) : {};
  figure.drawnFor = target.clientWidth;
  figure.view?.finalize();
  const {view} = await vegaEmbed(target, {...fitted(spec, target.clientWidth), config: themed(spec.config)},
    {renderer: "svg", actions: false, mode: "vega-lite"});
  for (const [name, value] of Object.entries(kept)) view.signal(name, value);
  await view.runAsync();
  if (!fits(spec)) resize(target.querySelector("svg"), target.clientWidth);
  figure.view = view;
  figure.dataset.drawn = "true";
}

// One drawing at a time for each figure: two at once would leave two sets of sliders.
function redraw(figure) {
  figure.drawing = (figure.drawing ?? Promise.resolve()).then(() => draw(figure)).catch((error) => {
    console.error("A figure could not be drawn:", error);
    figure.querySelector(".vegalite-chart").textContent = figure.getAttribute("aria-label");
  });
  return figure.drawing;
}

function start() {
  const figures = [...document.querySelectorAll("figure.vegalite")];
  figures.forEach(redraw);
  let theme = document.documentElement.dataset.theme;
  new MutationObserver(() => {
    if (theme === document.documentElement.dataset.theme) return;
    theme = document.documentElement.dataset.theme;
    figures.forEach(redraw);
  }).observe(document.documentElement, {attributeFilter: ["data-theme"]});
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => figures.forEach((figure) => {
      if (figure.drawnFor !== figure.querySelector(".vegalite-chart").clientWidth) redraw(figure);
    }), 200);
  });
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
