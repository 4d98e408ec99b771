// An unknown executor is an error before the test.
export const options = { scenarios: { a: { executor: 'constant-users', vus: 1 } } };

export default function () {}
