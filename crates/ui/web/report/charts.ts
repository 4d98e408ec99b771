// Charts of a page: each figure gets its live form and its buttons; charts of a group move together, and the page's
// address contains what is shown.

import type { Chart } from "../shared/chart";
import { drawChart, type Drawn } from "../shared/draw";
import { Group } from "../shared/group";
import type { Range } from "../shared/scale";
import type { Address, Place } from "./address";
import { tools } from "./tools";

/** The group whose range is `t` in the address. */
const TIME = "time";

export class Charts {
  readonly #groups = new Map<string, Group>();
  readonly #drawn = new Map<string, Drawn>();

  constructor(
    readonly charts: readonly Chart[],
    readonly address: Address,
    readonly part: (what: string, work: () => void) => void,
  ) {}

  async draw(): Promise<void> {
    const { place } = this.address;
    this.#show(place);
    const byId = new Map(this.charts.map((chart) => [chart.id, chart]));
    const figures = [...document.querySelectorAll<HTMLElement>("figure[data-chart]")];
    // Visible charts first; the rest follows without blocking the page.
    const near = (figure: HTMLElement) => figure.getBoundingClientRect().top < innerHeight * 1.5;
    for (const figure of [...figures.filter(near), ...figures.filter((one) => !near(one))]) {
      const chart = byId.get(figure.dataset["chart"] ?? "");
      if (chart) this.part(`the chart ${chart.id}`, () => this.#one(figure, chart));
      await new Promise((resume) => setTimeout(resume, 0));
    }
    // For a time range, the first chart that shows it.
    const first = place.chart ?? (place.time && this.charts.find((chart) => chart.group === TIME)?.id);
    if (first) document.getElementById(`chart-${first}`)?.scrollIntoView();
    this.address.onChange((changed) => this.#show(changed));
  }

  #one(figure: HTMLElement, chart: Chart): void {
    const plot = figure.querySelector<HTMLElement>(".plot");
    if (!plot) return;
    const group = this.#group(chart);
    const live = document.createElement("div");
    live.className = "plot-live";
    plot.append(live);
    try {
      const drawn = drawChart(live, chart, { group });
      this.#drawn.set(chart.id, drawn);
      // The static picture stays for printing and saving.
      plot.dataset["live"] = "";
      tools(figure, drawn, () => this.address.link(this.#placeOf(chart, group.range)));
    } catch (problem) {
      live.remove();
      delete plot.dataset["live"];
      throw problem;
    }
  }

  #group(chart: Chart): Group {
    const name = chart.group || `chart ${chart.id}`;
    const known = this.#groups.get(name);
    if (known) return known;
    const group = new Group();
    this.#groups.set(name, group);
    group.onRange((range) => this.address.set(this.#placeOf(chart, range), performance.now()));
    return group;
  }

  #placeOf(chart: Chart, range: Range | null): Place {
    if (chart.group === TIME) return { time: range, chart: null, range: null };
    return { time: this.#groups.get(TIME)?.range ?? null, chart: range ? chart.id : null, range };
  }

  /** Applies an address; charts that it does not name show everything. */
  #show(place: Place): void {
    if (place.time && !this.#groups.has(TIME)) {
      const first = this.charts.find((chart) => chart.group === TIME);
      if (first) this.#group(first);
    }
    if (place.range) {
      const chart = this.charts.find((one) => one.id === place.chart && one.group !== TIME);
      if (chart) this.#group(chart);
    }
    for (const [name, group] of this.#groups) {
      const own = name === `chart ${place.chart}` ? place.range : null;
      group.setRange(name === TIME ? place.time : own, true);
    }
  }
}
