// handleSummary() is called after test.abort().
import exec from 'k6/execution';

export default function () {
  exec.test.abort('stop');
}
export function handleSummary(data) {
  return { stdout: `iterations ${data.metrics.iterations ? data.metrics.iterations.values.count : 'none'}\n` };
}
