// A rate that rises: the integral counts.
// skips: metrics
export const options = {
  scenarios: {
    a: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      timeUnit: '1s',
      stages: [{ duration: '2s', target: 20 }, { duration: '0s', target: 5 }, { duration: '1s', target: 5 }],
      preAllocatedVUs: 5,
    },
  },
  thresholds: { iterations: ['count>=23', 'count<=26'] },
};

export default function () {}
