// A module of k6 that does not exist.
// differs: exit unsupported
import x from 'k6/nothing';

export default function () {}
