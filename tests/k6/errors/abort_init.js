// test.abort() in the init part.
import exec from 'k6/execution';

exec.test.abort('in the init part');

export default function () {}
