// Charts as files: the static picture with its colors embedded, so that it is readable on its own.

import type { Chart } from "../shared/chart";

const SVG = "http://www.w3.org/2000/svg";
/** Properties that the style sheet sets. */
const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order",
  "shape-rendering",
];
/** Space for title and subtitle, which the page shows next to the picture. */
const HEAD = 46;
/** Pixels per unit, for high-density screens. */
const SCALE = 2;

/** Offers a file to the reader. */
export function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser holds the file after this turn of the event loop; a minute covers slow ones.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function boxOf(svg: SVGSVGElement): Box {
  const { x, y, width, height } = svg.viewBox.baseVal;
  return { x, y: y - HEAD, width, height: height + HEAD };
}

/** Returns the picture as a separate file in the visible colors. */
export function svgOf(still: SVGSVGElement, chart: Chart): string {
  const copy = still.cloneNode(true) as SVGSVGElement;
  const [own, made] = [[...still.querySelectorAll("*")], [...copy.querySelectorAll("*")]];
  made.forEach((element, at) => {
    const original = own[at];
    if (!original || element.tagName === "title") return;
    const style = getComputedStyle(original);
    for (const look of LOOKS) {
      const value = style.getPropertyValue(look);
      if (value && value !== "normal") element.setAttribute(look, value.replace(/px\b/g, ""));
    }
    element.removeAttribute("class");
  });
  const box = boxOf(still);
  copy.removeAttribute("class");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  const style = getComputedStyle(still);
  const page = getComputedStyle(document.documentElement);
  const color = (name: string, otherwise: string) => page.getPropertyValue(name).trim() || otherwise;
  const ground = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries(box)) ground.setAttribute(name, String(value));
  ground.setAttribute("fill", color("--raised", "#ffffff"));
  const line = (text: string, y: number, size: number, weight: string, fill: string) => {
    const made = document.createElementNS(SVG, "text");
    made.textContent = text;
    made.setAttribute("x", "14");
    made.setAttribute("y", String(box.y + y));
    made.setAttribute("font-family", style.fontFamily);
    made.setAttribute("font-size", String(size));
    made.setAttribute("font-weight", weight);
    made.setAttribute("fill", fill);
    return made;
  };
  const head = [line(chart.title, 22, 15, "bold", color("--ink", "#111111"))];
  if (chart.subtitle) head.push(line(chart.subtitle.replaceAll("`", ""), 39, 11, "normal", color("--soft", "#555555")));
  const title = copy.querySelector("title");
  if (title) title.after(ground, ...head);
  else copy.prepend(ground, ...head);
  return new XMLSerializer().serializeToString(copy);
}

export async function pngOf(still: SVGSVGElement, chart: Chart): Promise<Blob> {
  const box = boxOf(still);
  const url = URL.createObjectURL(new Blob([svgOf(still, chart)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = box.width * SCALE;
    canvas.height = box.height * SCALE;
    const ctx = canvas.getContext("2d");
    if (!ctx) throw new Error("this browser does not support canvas");
    ctx.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture could not be encoded"))));
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
