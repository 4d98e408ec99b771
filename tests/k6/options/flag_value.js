// A flag with an invalid value.
// differs: exit command-line
// flags: --vus many
export default function () {}
