// A duration below a second is an error.
export const options = { vus: 1, duration: '500ms' };

export default function () {}
