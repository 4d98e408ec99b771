// An unknown key of a scenario is an error before the test.
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', users: 5 } } };

export default function () {}
