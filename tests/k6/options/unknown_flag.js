// An unknown flag.
// differs: exit command-line
// flags: --not-a-flag
export default function () {}
