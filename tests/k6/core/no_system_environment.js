// Without variables of the system.
// flags: --include-system-env-vars=false -e GIVEN=1
// variables: OUTER=system
export default function () {
  console.log(__ENV.OUTER, __ENV.GIVEN);
}
