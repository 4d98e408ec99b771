// What is known in setup().
import exec from 'k6/execution';

export function setup() {
  for (const read of [() => exec.vu.idInTest, () => exec.scenario.name, () => exec.instance.vusActive, () => exec.vu.idInInstance]) {
    try {
      console.log(read());
    } catch (e) {
      console.log('exception');
    }
  }
}
export default function () {}
