// Facts of the instance.
import exec from 'k6/execution';

export const options = { vus: 2, iterations: 2 };

export default function () {
  const i = exec.instance;
  if (exec.scenario.iterationInTest > 0) return;
  console.log(i.vusActive >= 1, i.vusInitialized, i.iterationsInterrupted, i.currentTestRunDuration >= 0);
  console.log(Object.keys(i).sort().join(), i.iterationsCompleted >= 0);
}
