// An invalid expression is an error before the test.
export const options = { thresholds: { http_reqs: ['count is 5'] } };

export default function () {}
