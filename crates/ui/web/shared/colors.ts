// Colors of the page's style sheet for canvases, which have no style sheets.

export interface Colors {
  series: string[];
  heat: string[];
  ink: string;
  soft: string;
  faint: string;
  ground: string;
  line: string;
  pass: string;
  fail: string;
  doubt: string;
  font: string;
}

/** Fallback: Okabe & Ito (2008), as in crates/output/src/figure. */
const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#755200", "#4295c8", "#333333", "#8a8a8a"];
const HEAT = [
  "#e8eef6", "#c9dcee", "#a3c5e3", "#78a9d3", "#4f8bc0", "#326ea8", "#1f528b", "#123a6b", "#08244a",
];

/** Returns the current colors of this element, which depend on the theme. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  const read = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  return {
    series: SERIES.map((color, at) => read(`--c${at}`, color)),
    heat: HEAT.map((color, at) => read(`--h${at}`, color)),
    ink: read("--ink", "#111111"),
    soft: read("--soft", "#555555"),
    faint: read("--faint", "#8a8a8a"),
    // Charts are on raised ground.
    ground: read("--raised", "#ffffff"),
    line: read("--line", "#dddddd"),
    pass: read("--pass", "#1a7f37"),
    fail: read("--fail", "#c62828"),
    doubt: read("--doubt", "#9a6700"),
    font: style.fontFamily || "sans-serif",
  };
}
