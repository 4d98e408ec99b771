// k6/timers has the same functions.
import { setTimeout, clearTimeout, setInterval, clearInterval } from 'k6/timers';

export default function () {
  setTimeout(() => console.log('module'), 10);
  console.log(typeof clearTimeout, typeof setInterval, typeof clearInterval);
}
