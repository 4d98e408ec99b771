// Load over time, for the chart next to the form, which explains the three load types.
import type { Load } from "./contract";
import { chosen, length } from "./figures";

export interface Shape {
  /** Label of the vertical axis. */
  label: string;
  /** Time in s and value, from left to right. */
  points: [number, number][];
  /** Columns instead of a line. */
  columns: boolean;
  /** Maximum value. */
  top: number;
  /** Description with the numbers of the form. */
  sentence: string;
}

/** The load types of Loader.io. */
export const KINDS: { load: Load; name: string; what: string }[] = [
  {
    load: "clients_per_test",
    name: "Clients per test",
    what: "This many clients in total, spread evenly over the test. Each sends one request, even if earlier ones are unanswered.",
  },
  {
    load: "clients_per_second",
    name: "Clients per second",
    what: "This many new clients per second, even if the server is slow: they queue up, as users would.",
  },
  {
    load: "maintained",
    name: "Maintained load",
    what: "This many clients at a time. Each sends its next request after a response, so a slow server gets fewer requests.",
  },
];

/** Maximum number of columns that stay distinguishable. */
const COLUMNS = 60;

/** Returns the load over time; `null` while numbers are missing. */
export function shape(load: Load, clients: number, seconds: number): Shape | null {
  if (!(clients > 0) || !(seconds > 0) || !Number.isFinite(clients * seconds)) return null;
  const [n, span] = [chosen(clients), length(seconds)];
  if (load === "maintained") {
    return {
      label: "clients at a time",
      points: [
        [0, clients],
        [seconds, clients],
      ],
      columns: false,
      top: clients,
      sentence: `${n} ${clients === 1 ? "client" : "clients"} at a time for ${span}.`,
    };
  }
  if (load === "clients_per_test") {
    return {
      label: "clients so far",
      points: [
        [0, 0],
        [seconds, clients],
      ],
      columns: false,
      top: clients,
      sentence: `${n} clients within ${span}: ${chosen(clients / seconds)} per second.`,
    };
  }
  const columns = Math.min(COLUMNS, Math.max(1, Math.round(seconds)));
  return {
    label: "new clients per second",
    points: Array.from({ length: columns }, (_, i) => [(i * seconds) / columns, clients]),
    columns: true,
    top: clients,
    sentence: `${n} new clients per second for ${span}: ${chosen(clients * seconds)} in total.`,
  };
}
