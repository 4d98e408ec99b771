// A script that is not valid.
export default function () {
  const a = ;
}
