// An option of the wrong type is an error.
export const options = { vus: 'many' };

export default function () {}
