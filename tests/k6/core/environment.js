// Variables of -e, of the system, and of a scenario.
// flags: -e FIRST=1 -e SECOND=a=b -e EMPTY=
// variables: OUTER=system
export const options = {
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 1, iterations: 1, env: { FIRST: 'scenario', THIRD: '3' } },
  },
};
console.log(__ENV.FIRST, __ENV.THIRD);

export default function () {
  console.log(__ENV.FIRST, __ENV.SECOND, JSON.stringify(__ENV.EMPTY), __ENV.THIRD, __ENV.OUTER);
}
