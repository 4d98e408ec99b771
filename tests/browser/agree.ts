// Whether a page shows what `--json` says: its data against the document of the same run file, value by value. Charts
// carry six digits.

type Values = (number | null)[];
interface Series {
  id: string;
  x?: number[];
  y: Values;
  low?: Values;
  high?: Values;
}
interface Chart {
  id: string;
  xs: number[];
  panels: { id: string; series: Series[] }[];
}

/** Which field of a second a line of the timeline shows. */
const FIELDS: Record<string, string> = {
  offered: 'offered_rate_per_s',
  achieved: 'achieved_rate_per_s',
  good: 'good_rate_per_s',
  p50: 'p50_ns',
  p90: 'p90_ns',
  p95: 'p95_ns',
  p99: 'p99_ns',
  max: 'max_ns',
  in_flight: 'in_flight',
  open: 'connections_open',
};

/** Sentences about what differs; empty: the two agree. `seconds` is the timeline of the document. */
export function differences(charts: Chart[], document: Record<string, any>): string[] {
  const wrong: string[] = [];
  const timeline = charts.find((chart) => chart.id === 'timeline');
  if (!timeline) return ['there is no timeline'];
  const seconds: Record<string, any>[] = document['timeline'];
  if (timeline.xs.length !== seconds.length) {
    wrong.push(`${timeline.xs.length} rows for ${seconds.length} seconds`);
  }
  let compared = 0;
  for (const series of timeline.panels.flatMap((panel) => panel.series)) {
    const field = FIELDS[series.id];
    if (field === undefined) continue;
    compared += 1;
    seconds.forEach((second, at) => {
      // A percentile of too few samples is no point of a line.
      const few: string[] = second['few_samples'] ?? [];
      const told = few.includes(field) ? null : (second[field] ?? null);
      const shown = series.y[at] ?? null;
      const alike = told === null || shown === null ? told === shown : Math.abs(told - shown) <= 1e-5 * Math.abs(told);
      if (!alike) wrong.push(`${series.id} at ${second['from_s']} s: ${shown}, not ${told}`);
    });
  }
  if (compared < 6) wrong.push(`only ${compared} lines of the timeline were compared`);
  return wrong;
}

/** A copy with one thing broken, to see that the comparison notices. */
export function broken(charts: Chart[], how: 'number' | 'swap' | 'drop'): Chart[] {
  const copy: Chart[] = JSON.parse(JSON.stringify(charts));
  const timeline = copy.find((chart) => chart.id === 'timeline')!;
  const all = timeline.panels.flatMap((panel) => panel.series);
  const one = (id: string): Series => all.find((series) => series.id === id)!;
  // Of seconds with too few samples for it the next lower one is drawn.
  const slow = all.find((series) => series.id === 'p99' || series.id === 'p95')!;
  const middle = Math.floor(timeline.xs.length / 2);
  switch (how) {
    case 'number':
      slow.y[middle] = (slow.y[middle] ?? 0) * 1.001;
      break;
    case 'swap':
      [one('p50').y, slow.y] = [slow.y, one('p50').y];
      break;
    case 'drop':
      timeline.xs.splice(middle, 1);
      all.filter((series) => !series.x).forEach((series) => series.y.splice(middle, 1));
      break;
  }
  return copy;
}
