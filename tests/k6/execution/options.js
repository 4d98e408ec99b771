// The options as they are in effect.
// skips: metrics
// flags: --tag flag=1
import exec from 'k6/execution';

export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', rate: 2, duration: '1s', preAllocatedVUs: 1 } },
  thresholds: { iterations: ['count>0'] },
  tags: { own: 'x' },
  setupTimeout: '5s',
};

export default function () {
  if (exec.scenario.iterationInTest > 0) return;
  const o = exec.test.options;
  const { executor, rate, duration, preAllocatedVUs } = o.scenarios.a;
  console.log(executor, rate, duration, preAllocatedVUs, JSON.stringify(o.thresholds));
  console.log(JSON.stringify(o.tags), o.setupTimeout, o.paused, o.vus);
}
