// What a load looks like over time, for the drawing beside the form: one who has never met the three kinds sees what
// each of them does to the server.
import type { Load } from "./contract";
import { chosen, length } from "./figures";

export interface Shape {
  /** What stands upright. */
  label: string;
  /** s and height, from left to right. */
  points: [number, number][];
  /** Columns beside each other, or a line. */
  columns: boolean;
  /** The highest value. */
  top: number;
  /** What happens, with the numbers of the form. */
  sentence: string;
}

/** One line about each kind, as Loader.io's users know them. */
export const KINDS: { load: Load; name: string; what: string }[] = [
  {
    load: "clients_per_test",
    name: "Clients per test",
    what: "So many clients in all, spread evenly over the test. Each asks once, answered or not before it.",
  },
  {
    load: "clients_per_second",
    name: "Clients per second",
    what: "So many new clients every second. A slow server does not slow them down: they queue up, as users would.",
  },
  {
    load: "maintained",
    name: "Maintained load",
    what: "So many clients at a time. Each asks again once it is answered, so a slow server is asked less.",
  },
];

/** More columns than that are a wall. */
const COLUMNS = 60;

/** The course of a load; `null` while the numbers are not there. */
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
      sentence: `${n} clients within ${span}: ${chosen(clients / seconds)} a second.`,
    };
  }
  const columns = Math.min(COLUMNS, Math.max(1, Math.round(seconds)));
  return {
    label: "new clients each second",
    points: Array.from({ length: columns }, (_, i) => [(i * seconds) / columns, clients]),
    columns: true,
    top: clients,
    sentence: `${n} new clients every second for ${span}: ${chosen(clients * seconds)} in all.`,
  };
}
