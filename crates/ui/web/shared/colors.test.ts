// Adjacent lines are distinguishable for colorblind readers, and contrast with their background. The palettes come
// from the page's style sheet, through the matrices of Machado, Oliveira & Fernandes (2009) for full dichromacy;
// distances are those of Oklab (Ottosson 2020), times 100.
import { expect, test } from "vitest";
import sheet from "../../../document/src/web/style.css?raw";

type Three = [number, number, number];
type Matrix = [Three, Three, Three];

const VISIONS: Record<string, Matrix> = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** Colors of lines in one panel: quantiles and the maximum; offered, achieved, and good; the first of several. */
const TOGETHER: [number, number][] = [[0, 4], [4, 1], [1, 3], [0, 1], [0, 3], [0, 7], [0, 2], [1, 2]];
/** Two barely distinguishable lines have a distance of 2 or 3. */
const APART = 8;
/** WCAG 2.2, 1.4.11: contrast of meaningful graphics. */
const CONTRAST = 3;

function palettes(): Map<string, string>[] {
  const blocks = [...sheet.matchAll(/:root[^{]*\{([^}]*--c0[^}]*)\}/g)];
  return blocks.map(([, body]) => new Map([...(body ?? "").matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6})/g)].map(
    ([, name, value]) => [name ?? "", value ?? ""],
  )));
}

function linear(hex: string): Three {
  const at = (from: number) => {
    const part = parseInt(hex.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return [at(1), at(3), at(5)];
}

const times = (m: Matrix, c: Three): Three => m.map((row) => row[0] * c[0] + row[1] * c[1] + row[2] * c[2]) as Three;

function oklab(color: Three): Three {
  const cut = color.map((part) => Math.min(1, Math.max(0, part))) as Three;
  const cones: Matrix = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ];
  const mixed: Matrix = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ];
  return times(mixed, times(cones, cut).map(Math.cbrt) as Three);
}

function distance(a: string, b: string, vision: Matrix): number {
  const [p, q] = [a, b].map((hex) => oklab(times(vision, linear(hex)))) as [Three, Three];
  return 100 * Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

function contrast(a: string, b: string): number {
  const light = (hex: string) => {
    const [r, g, blue] = linear(hex);
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue + 0.05;
  };
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y) as [number, number];
  return high / low;
}

test("lines of one panel are distinct for color-blind readers, in both themes", () => {
  const all = palettes();
  expect(all.length).toBe(3);
  const close = all.flatMap((palette) =>
    TOGETHER.flatMap(([a, b]) =>
      Object.entries(VISIONS)
        .map(([name, vision]) => ({
          pair: `c${a} and c${b}, ${name}`,
          apart: distance(palette.get(`c${a}`) ?? "", palette.get(`c${b}`) ?? "", vision),
        }))
        .filter(({ apart }) => !(apart >= APART)),
    ),
  );
  expect(close).toEqual([]);
});

test("every line stands out from the ground of charts, in both themes", () => {
  const pale = palettes().flatMap((palette) =>
    [0, 1, 2, 3, 4, 5, 6, 7]
      .map((at) => ({ color: `c${at}`, ratio: contrast(palette.get(`c${at}`) ?? "", palette.get("raised") ?? "") }))
      .filter(({ ratio }) => !(ratio >= CONTRAST)),
  );
  expect(pale).toEqual([]);
});
