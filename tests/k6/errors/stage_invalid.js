// A stage without a duration ends at once.
// skips: metrics keys
export const options = { stages: [{ target: 5 }] };

export default function () {}
