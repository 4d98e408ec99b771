// Iterations and stages at once are an error.
export const options = { iterations: 3, stages: [{ duration: '1s', target: 1 }] };

export default function () {}
