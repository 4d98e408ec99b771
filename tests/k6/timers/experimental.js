// The older name of k6/timers, which k6 v2 has no more.
// differs: exit removed-in-v2
// differs: checks removed-in-v2
// differs: metrics removed-in-v2
// differs: keys removed-in-v2
// differs: console removed-in-v2
// differs: errors removed-in-v2
import { setTimeout } from 'k6/experimental/timers';

export default function () {
  setTimeout(() => console.log('later'), 10);
}
