// Fewer iterations than users is an error.
export const options = { vus: 5, iterations: 2 };

export default function () {}
