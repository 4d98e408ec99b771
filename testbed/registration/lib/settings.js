// The parameters of an experiment, from the environment. A wrong one ends the server: a run with a typing mistake in
// its cost would be a measurement of something else.
function number(name, otherwise, least, most) {
  const text = process.env[name] ?? String(otherwise);
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    console.error(`${name} is \`${text}\`: a whole number from ${least} to ${most} is expected`);
    process.exit(1);
  }
  return value;
}

export const hashing = (process.env.BCRYPT ?? "on") !== "off";
// Each step of the cost doubles the work of a hash.
export const cost = number("BCRYPT_COST", 10, 4, 16);
export const poolMax = number("PG_POOL_MAX", 10, 1, 200);
