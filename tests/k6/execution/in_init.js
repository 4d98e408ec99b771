// What is not known in the init part.
import exec from 'k6/execution';

for (const read of [() => exec.vu.idInTest, () => exec.scenario.name, () => exec.instance.vusActive, () => exec.test.options]) {
  try {
    console.log(typeof read());
  } catch (e) {
    console.log('exception');
  }
}

export default function () {}
