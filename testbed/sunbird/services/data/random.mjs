// Random numbers that come out the same everywhere: the ids in the load's files must be those in the database, and a
// size that is promised must be kept on every machine. Generator: mulberry32 (public domain, Tommy Ettinger).

/** A stream of draws that depends on `name` only, so that one table can change without changing the others. */
export function draws(name) {
  let state = 2166136261;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);

  /** Uniform in [0, 1). */
  function uniform() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  /** A whole number, both ends included. */
  const whole = (least, most) => least + Math.floor(uniform() * (most - least + 1));
  const pick = (list) => list[whole(0, list.length - 1)];
  const text = (letters, length) => Array.from({ length }, () => letters[whole(0, letters.length - 1)]).join("");
  const several = (list, count) => {
    const left = [...list];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(whole(0, left.length - 1), 1)[0]);
  };
  const digits = (length) => text("0123456789", length);
  const hex = (length) => text("0123456789abcdef", length);
  return { uniform, whole, pick, several, text, digits, hex };
}
