// A rate per minute.
// skips: metrics
export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', rate: 300, timeUnit: '1m', duration: '2s', preAllocatedVUs: 1 },
  },
  thresholds: { iterations: ['count>=9', 'count<=11'], dropped_iterations: ['count<=1'] },
};

export default function () {}
