// sleep() takes seconds.
import { sleep } from 'k6';

export default function () {
  const started = Date.now();
  sleep(0.2);
  const slept = Date.now() - started;
  console.log(slept >= 195 && slept < 900);
  sleep(0);
  sleep(-1);
}
