// No default function is an error.
export const options = { vus: 1 };

export function other() {}
