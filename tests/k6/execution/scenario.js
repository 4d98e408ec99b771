// Facts of the scenario.
import exec from 'k6/execution';

export const options = { scenarios: { named: { executor: 'shared-iterations', vus: 1, iterations: 2 } } };

export default function () {
  const s = exec.scenario;
  console.log(s.name, s.executor, s.iterationInInstance, s.iterationInTest, s.progress >= 0, s.progress <= 1);
  console.log(Math.abs(Date.now() - s.startTime) < 5000, Object.keys(s).sort().join());
}
