// An unknown output.
// differs: exit unsupported
// flags: --out nothing
export default function () {}
