// A function that is not exported is an error before the test.
export const options = { scenarios: { a: { executor: 'per-vu-iterations', exec: 'missing' } } };

export default function () {}
