// An executor that k6 v2 has no more.
// differs: exit removed-in-v2
// differs: checks removed-in-v2
// differs: metrics removed-in-v2
// differs: keys removed-in-v2
export const options = { scenarios: { a: { executor: 'externally-controlled', vus: 1, duration: '1s' } } };

export default function () {}
