// No users is an error.
export const options = { vus: 0, iterations: 5 };

export default function () {}
