// An aggregator that the kind does not have is an error before the test.
export const options = { thresholds: { http_reqs: ['p(95)<5'] } };

export default function () {}
