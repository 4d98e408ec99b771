// The options of a shortcut.
import exec from 'k6/execution';

export const options = { vus: 1, iterations: 1 };

export default function () {
  const { executor, vus, iterations } = exec.test.options.scenarios.default;
  console.log(executor, vus, iterations);
}
