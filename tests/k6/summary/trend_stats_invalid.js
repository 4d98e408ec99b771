// An unknown statistic is an error.
// differs: exit codes
export const options = { summaryTrendStats: ['avg', 'mode'] };

export default function () {}
