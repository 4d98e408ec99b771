// Numbers of the user.
import exec from 'k6/execution';

export const options = { scenarios: { only: { executor: 'per-vu-iterations', vus: 1, iterations: 2 } } };

export default function () {
  const { vu } = exec;
  console.log(vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario);
  console.log(Object.keys(vu).sort().join());
}
