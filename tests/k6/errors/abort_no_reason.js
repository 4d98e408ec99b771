// test.abort() without a reason, and inside of try.
import exec from 'k6/execution';

export default function () {
  try {
    exec.test.abort();
  } catch (e) {
    console.log('caught');
  }
  console.log('after');
}
