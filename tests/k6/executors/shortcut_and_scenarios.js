// A shortcut next to scenarios.
export const options = {
  vus: 2,
  iterations: 4,
  scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } },
};

export default function () {}
