// An exception in the init part.
// differs: errors init-errors
const settings = null;

export const options = { vus: settings.vus };

export default function () {}
