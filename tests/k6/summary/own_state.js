// What handleSummary() can read.
export const options = { summaryTrendStats: ['min', 'p(99)'], summaryTimeUnit: 's' };

export function setup() {
  return { a: 1 };
}
export default function () {}
export function handleSummary(data) {
  const { options, state, setup_data: setup } = data;
  return {
    stdout: [
      JSON.stringify([options.summaryTrendStats, options.summaryTimeUnit, options.noColor]),
      Object.keys(state).sort().join(),
      typeof state.testRunDurationMs,
      JSON.stringify(setup),
      Object.keys(data.metrics.iteration_duration.values).sort().join(),
      Object.keys(data.root_group).sort().join(),
      '',
    ].join('\n'),
  };
}
