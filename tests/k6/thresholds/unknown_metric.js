// An unknown metric is an error before the test.
export const options = { thresholds: { missing_metric: ['count>5'] } };

export default function () {}
